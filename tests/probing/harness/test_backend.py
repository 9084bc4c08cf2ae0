"""The model `clozeboard` of lm-evaluation-harness gives the numbers of its model `hf`, request by request."""

import json
import logging
import sys
import tomllib
from collections.abc import Sequence
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import lm_eval.tasks
import numpy as np
import pytest
import yaml
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model
from lm_eval.models.huggingface import HFLM

from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput, OutOfMemory
from probing.formats import bear
from probing.harness import backend
from probing.harness.backend import ClozeboardLM, windows
from probing.runner import run
from probing.scoring.causal import CausalModel
from tests.conftest import BearFolder
from tests.probing.harness.tasks import bear_task, question_task, responses
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.probing.scoring.networks import REFERENCE_CAUSAL, SHARING
from tests.tiny_models import build_gpt2, byte_level_bpe, save, text_to_text

CLOSE = 1e-4
PAIRS = [
    *((context, option) for context in ("", "Peru is in", "Chad is in ") for option in (" Africa", " South America.")),
    ("The river Danube", " flows through Austria, Hungary and Serbia."),
]


def pairs(texts: Sequence[tuple[str, str]]) -> list[Instance]:
    return [Instance("loglikelihood", {}, text, number) for number, text in enumerate(texts)]


def rolling(*texts: str) -> list[Instance]:
    return [Instance("loglikelihood_rolling", {}, (text,), number) for number, text in enumerate(texts)]


def models(folder: Path, **arguments: Any) -> tuple[ClozeboardLM, HFLM]:
    """Return both models with the same weights."""
    arguments = {"device": "cpu", "batch_size": 4} | arguments
    return ClozeboardLM(pretrained=str(folder), **arguments), HFLM(pretrained=str(folder), **arguments)


def assert_equal(ours: ClozeboardLM, theirs: HFLM, texts: Sequence[tuple[str, str]] = PAIRS) -> None:
    answers, expected = (model.loglikelihood(pairs(texts), disable_tqdm=True) for model in (ours, theirs))
    assert [answer[0] for answer in answers] == pytest.approx([answer[0] for answer in expected], abs=CLOSE, rel=0)
    assert [answer[1] for answer in answers] == [answer[1] for answer in expected]


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_tasks_of_the_harness_get_the_same_answers(
    name: str, model_folders: dict[str, Path], benchmark: Benchmark, tmp_path: Path
) -> None:
    """Multiple choice with and without examples, and BEAR's form without a context."""
    tasks = [
        question_task(tmp_path),
        question_task(tmp_path, "examples", num_fewshot=2, fewshot_split="test"),
        bear_task(tmp_path, benchmark),
    ]
    ours, theirs = (responses(model, [*tasks]) for model in models(model_folders[name]))
    assert len(ours) == 2 * 14 + 16
    assert [answer[0] for answer in ours] == pytest.approx([answer[0] for answer in theirs], abs=CLOSE, rel=0)
    assert [answer[1] for answer in ours] == [answer[1] for answer in theirs]


@pytest.mark.parametrize(
    "name", ["qwen3", "gemma2, soft-capped", "opt", "falcon, multi-query", "mamba, recurrent", "falcon, alibi"]
)
def test_other_architectures_get_the_same_answers(name: str, tmp_path: Path) -> None:
    tokenizer = byte_level_bpe()
    folder = save(tmp_path, lambda: (SHARING | REFERENCE_CAUSAL)[name](len(tokenizer)), tokenizer, seed=1)
    ours, theirs = models(folder)
    assert ours.scorer
    assert_equal(ours, theirs)


def test_networks_that_share_no_prefixes_are_scored_by_hf(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = byte_level_bpe()
    ours, theirs = models(save(tmp_path, lambda: HYBRID["nemotron-h"](len(tokenizer)), tokenizer, seed=1))
    with caplog.at_level(logging.WARNING, logger=backend.__name__):
        assert_equal(ours, theirs)
    assert f"scored as by --model hf. {type(ours.model).__name__} takes no prefix tree (" in caplog.text


def test_encoder_decoders_are_scored_by_hf_itself(tmp_path: Path) -> None:
    tokenizer = byte_level_bpe()
    tokenizer.pad_token = tokenizer.eos_token
    ours, theirs = models(save(tmp_path, lambda: text_to_text(len(tokenizer)), tokenizer, seed=1))
    assert ours.scorer is None
    assert_equal(ours, theirs)


@pytest.mark.parametrize("argument", [{"mixed_precision_dtype": "bfloat16"}, {"softmax_dtype": "float64"}])
def test_precisions_that_only_hf_has_are_left_to_it(argument: dict[str, str], gpt2: Path) -> None:
    ours, theirs = models(gpt2, **argument)
    assert ours.scorer is None
    assert_equal(ours, theirs)


def test_texts_longer_than_a_sliding_window_are_scored_by_hf_itself(tmp_path: Path) -> None:
    tokenizer = byte_level_bpe()
    build = SHARING["mistral, window wider than the statements"]  # 64 tokens
    ours, theirs = models(save(tmp_path, lambda: build(len(tokenizer)), tokenizer, seed=1))
    assert ours.scorer and ours.scorer.longest_shared == 64
    long = "The capital of Norway is Oslo. The capital of Kenya is Nairobi. Gold is a metal, oxygen is a gas." * 2
    assert len(tokenizer(long).input_ids) > 64
    assert_equal(ours, theirs, [*PAIRS, (long, " Oslo"), (long, " Africa is located.")])


def test_contexts_that_are_too_long_lose_their_beginning_as_by_hf(gpt2: Path, caplog: pytest.LogCaptureFixture) -> None:
    long = "Chad is located in Africa. Peru is located in South America. " * 12
    with caplog.at_level(logging.WARNING, logger=backend.__name__):
        assert_equal(*models(gpt2, max_length=40), [*PAIRS, (long, " Africa"), (long, " in South America.")])
    assert "2 requests exceed 40 tokens and lose the beginning of their context." in caplog.text


@pytest.mark.parametrize("texts", [("Peru", ""), ("Peru", " located in South America." * 40)])
def test_a_continuation_without_tokens_or_with_too_many_is_refused(texts: tuple[str, str], llama: Path) -> None:
    """The harness fails with an assertion there."""
    ours, theirs = models(llama)
    with pytest.raises(AssertionError):
        theirs.loglikelihood(pairs([texts]), disable_tqdm=True)
    with pytest.raises(BadInput, match=r"tokens cannot be scored: .*a continuation from 1 to 128"):
        ours.loglikelihood(pairs([texts]), disable_tqdm=True)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_rolling_log_likelihoods_of_texts_longer_than_the_model(name: str, model_folders: dict[str, Path]) -> None:
    ours, theirs = models(model_folders[name])
    long = " ".join(f"The river {number} flows through Austria {number * number}." for number in range(40))
    answers, expected = (
        model.loglikelihood_rolling(rolling("Peru is", long, "Peru is"), disable_tqdm=True) for model in (ours, theirs)
    )
    # hf adds thousands of log-probabilities in single precision.
    assert answers == pytest.approx(expected, abs=CLOSE, rel=1e-7)


def test_half_precision_is_as_exact_as_hf_with_a_softmax_in_single_precision(gpt2: Path) -> None:
    """Both compute the same network in bfloat16, whose steps at these logits are 0.06 or more."""
    ours, theirs = models(gpt2, dtype="bfloat16", softmax_dtype="float32")
    assert ours.scorer and ours.scorer.dtype == "bfloat16"
    answers, expected = (model.loglikelihood(pairs(PAIRS), disable_tqdm=True) for model in (ours, theirs))
    differences = [abs(answer[0] - other[0]) for answer, other in zip(answers, expected, strict=True)]
    assert max(differences) < 0.5


def test_the_requests_of_a_chat_template_get_the_same_answers(llama: Path, tmp_path: Path) -> None:
    template = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    tasks = [question_task(tmp_path)]
    answers = []
    for model in models(llama):
        model.tokenizer.chat_template = template
        answers.append(responses(model, [*tasks], apply_chat_template=True, system_instruction="Answer."))
    ours, theirs = answers
    assert [answer[0] for answer in ours] == pytest.approx([answer[0] for answer in theirs], abs=CLOSE, rel=0)


def test_answers_are_kept_in_the_harnesss_cache(gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, cache = [question_task(tmp_path)], str(tmp_path / "answers")
    ours, _ = models(gpt2)
    first = responses(ours, [*tasks], use_cache=cache)
    monkeypatch.setattr(ClozeboardLM, "_loglikelihood_tokens", None)
    assert responses(ours, [*tasks], use_cache=cache) == first


def test_requests_that_do_not_fit_into_memory_as_a_tree_are_scored_by_hf_itself(
    gpt2: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def out_of_memory(*arguments: Any) -> None:
        raise OutOfMemory("The model does not fit.")

    ours, theirs = models(gpt2)
    monkeypatch.setattr(CausalModel, "continuations", out_of_memory)
    with caplog.at_level(logging.WARNING, logger=backend.__name__):
        assert_equal(ours, theirs)
    assert f"{len(PAIRS)} requests do not fit into memory as a tree." in caplog.text


def test_the_automatic_batch_size_of_hf_changes_nothing(gpt2: Path) -> None:
    assert_equal(*models(gpt2, batch_size="auto", max_batch_size=2))


def test_the_size_of_windows_changes_no_score(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = models(gpt2)
    monkeypatch.setattr(backend, "WINDOW_POSITIONS", 20)
    assert_equal(ours, theirs)


def test_windows_hold_neighbours_and_are_bounded_by_their_padded_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "WINDOW_POSITIONS", 6)
    sequences = [[2, 1], [1], [2], [1, 1, 1], [9] * 10, [1, 1]]
    assert list(windows(sequences, [0, 1, 2, 3, 4, 5])) == [[1, 5], [3, 2], [0], [4]]
    assert list(windows(sequences, [4, 2])) == [[2], [4]]
    assert not list(windows(sequences, []))


def test_shared_prefixes_are_computed_once(gpt2: Path) -> None:
    ours, _ = models(gpt2)
    context = "The capital of Norway is Oslo. The capital of Kenya is"
    options = pairs([(context, f" {name}") for name in ("Oslo", "Lima", "Japan", "Peru", "Chad")])
    assert ours.scorer
    before = ours.scorer.usage.positions  # those of the self-check
    ours.loglikelihood(options, disable_tqdm=True)
    tokens = len(ours.tokenizer(context).input_ids)
    assert tokens <= ours.scorer.usage.positions - before < 2 * tokens


def test_a_network_in_training_is_left_as_it_was(gpt2: Path) -> None:
    ours, theirs = models(gpt2)
    ours.model.train()
    assert_equal(ours, theirs)
    assert ours.model.training


def test_several_devices_which_hf_would_replace_by_one_are_refused(gpt2: Path) -> None:
    with pytest.raises(BadInput, match=r"The harness takes one device, not 'cpu,cpu'\. Name one"):
        ClozeboardLM(pretrained=str(gpt2), device="cpu,cpu")


def test_the_entry_point_for_coming_releases_of_the_harness_names_the_model() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    ((name, value),) = tomllib.loads(text)["project"]["entry-points"]["lm_eval.models"].items()
    assert EntryPoint(name, value, "lm_eval.models").load() is get_model(name) is ClozeboardLM


def test_every_logged_score_and_the_accuracy_are_those_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_gpt2(tmp_path / "model")
    benchmark = bear.read(BearFolder(tmp_path / "benchmark").write())
    config = bear_task(tmp_path / "tasks", benchmark, templates=(0, 1, 2))
    (tmp_path / "tasks" / "bear.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    arguments = ["--model", "clozeboard", "--model_args", f"pretrained={tmp_path / 'model'},dtype=float32", "--device"]
    arguments += ["cpu", "--tasks", "bear", "--include_path", str(tmp_path / "tasks"), "--log_samples"]
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")  # which the harness sets for good
    # Reading the harness's own tasks takes 6 s.
    monkeypatch.setattr(lm_eval.tasks, "TaskManager", partial(lm_eval.tasks.TaskManager, include_defaults=False))
    assert main(["lm-eval", *arguments, "--output_path", str(tmp_path / "out")]) == 0

    ours = run(tmp_path / "model", benchmark, protocol="lm-eval", progress=False)
    (samples,) = (tmp_path / "out").rglob("samples_bear_*.jsonl")
    logged = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    theirs = [float(answer[0]) for sample in logged for answer in sample["filtered_resps"]]
    np.testing.assert_allclose(theirs, np.hstack(ours.items["scores"].to_list()), atol=1e-4, rtol=0)
    (results,) = (tmp_path / "out").rglob("results_*.json")
    accuracy = json.loads(results.read_text(encoding="utf-8"))["results"]["bear"]["acc,none"]
    assert accuracy == pytest.approx(ours.by()["value"].item())
