"""A real model of 135M parameters, which all tests here load once: what it knows, and equality with other programs."""

import json
from collections.abc import Iterator
from copy import deepcopy
from math import exp
from pathlib import Path

import gguf
import numpy as np
import pandas as pd
import pytest
import torch
from lm_eval.models.huggingface import HFLM
from tokenizers import decoders, pre_tokenizers

from probing import wrap
from probing.files.gguf_cache import GIGABYTES
from probing.formats.knowledge_graph import read_graph
from probing.harness.backend import ClozeboardLM
from probing.probes.perplexity import Perplexity
from probing.results.result import Result
from probing.results.run_json import tokenizer_facts
from probing.runner import run
from probing.scoring import networks
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.start_token import StartToken
from probing.statements.graph_statements import Sampling, draw
from probing.template import prompt
from speed.networks import smollm2_file
from tests.hub.local_hub import Hub
from tests.probing.harness.conftest import offline
from tests.probing.harness.tasks import question_task, responses
from tests.probing.scoring.compare import CLOSE, answers
from tests.real_data import real_data

__all__ = ["offline"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ITEMS = {"relations": ["P30", "P36", "P19"], "limit": 8, "progress": False}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the network in a folder of this module, so that its file is read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("kept")))
        patch.setenv(GIGABYTES, "1")
        yield


@pytest.fixture(scope="module")
def model(cache: None) -> AnsweringModel:
    return load(str(smollm2_file()), device="cpu")


@pytest.fixture(scope="module")
def full(model: AnsweringModel, real_bear: Path) -> Result:
    """The first 8 items of three relations with template 0, every option scored."""
    return run(model, real_bear, **ITEMS)


def test_a_gguf_file_becomes_a_causal_model_and_the_same_one_when_it_was_kept(
    model: AnsweringModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = prompt("The capital of [X] is [Y].", "France"), ["Rome", "Paris", "Oslo"]
    (scores,) = answers(model, [request])
    assert (model.card.source, model.card.architecture) == ("gguf", "LlamaForCausalLM")
    assert list(model.card.files) == [smollm2_file().name]
    assert scores.reduce().argmax() == 1
    monkeypatch.setattr(gguf, "GGUFReader", None)  # nothing reads the file again
    kept = load(str(smollm2_file()), device="cpu")
    assert kept.card == model.card
    assert (answers(kept, [request])[0].reduce() == scores.reduce()).all()


def test_unpacked_it_answers_as_its_file_does(
    model: AnsweringModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "load_network", lambda *source: (model.network, []))  # to read it again takes long
    networks.unpack_gguf(str(smollm2_file()), tmp_path / "unpacked")
    request = prompt("The capital of [X] is [Y].", "France"), ["Rome", "Paris", "Oslo"]
    (scores,), (expected,) = (answers(one, [request]) for one in (load(str(tmp_path / "unpacked")), model))
    assert (scores.reduce() == expected.reduce()).all()


def test_a_file_of_the_hub_is_the_model_of_the_same_local_file(model: AnsweringModel, hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / smollm2_file().name).symlink_to(smollm2_file())
    commit = hub.add("org/levels", tmp_path / "levels").commit
    of_hub = load("gguf:org/levels:q4_1", commit="main", device="cpu")
    assert (of_hub.card.source, of_hub.card.commit, of_hub.card.revision) == ("gguf", commit, "main")
    assert [*of_hub.card.files.values()] == [*model.card.files.values()]
    requests = [(prompt("[X] is in [Y].", "Chad"), ["Africa", "Asia"])]
    assert answers(of_hub, requests)[0].reduce().tolist() == answers(model, requests)[0].reduce().tolist()


def test_its_file_splits_as_the_tokenizer_that_it_was_made_from(model: AnsweringModel) -> None:
    """It has single digits and then bytes, each as GPT-2's."""
    backend = model.tokenizer.backend_tokenizer
    assert [type(part) for part in backend.pre_tokenizer] == [pre_tokenizers.Digits, pre_tokenizers.ByteLevel]
    assert isinstance(backend.decoder, decoders.ByteLevel)
    texts = ["Born in 1969, 12 km away.", "The capital of Norway is Oslo.", "½ of 3²  is ٣"]
    ids = model.tokenizer([*texts, "1969"], add_special_tokens=False).input_ids
    assert [backend.decode(row) for row in ids[:-1]] == texts
    assert len(ids[-1]) == 4


def test_in_half_precision_it_is_scored_with_the_fast_implementation(model: AnsweringModel) -> None:
    half = deepcopy(model.network).to(torch.bfloat16)
    assert wrap(half, model.tokenizer).usage.notes == []


def test_it_has_its_known_accuracies_with_and_without_an_early_decision(
    model: AnsweringModel, full: Result, real_bear: Path
) -> None:
    accuracies = full.items.groupby("relation")["correct"].mean().to_dict()
    assert accuracies == {"P19": 0.125, "P30": 0.875, "P36": 0.375}
    decided = run(model, real_bear, decide=True, **ITEMS).items
    assert full.items["prediction"].to_list() == decided["prediction"].to_list()
    assert 0 < decided["exact"].explode().mean() < 0.5


def test_every_score_and_prediction_is_that_which_lm_evaluation_harness_gave(full: Result) -> None:
    """24 items with 728 statements, stored in the test data; the harness used its usual start token."""
    facts = tokenizer_facts(full.record)
    assert facts is not None
    assert facts.start == StartToken("auto", 1, "<|im_start|>", "bos", marks_roles=True)
    text = real_data("lm_eval_bear/harness_float32.jsonl").read_text(encoding="utf-8")
    harness_rows = pd.DataFrame([json.loads(line) for line in text.splitlines()])
    both = harness_rows.merge(full.items, on=["relation", "template", "index"], suffixes=("_harness", ""))
    assert len(both) == len(full.items) == 24
    assert (both["answer"] == both["answer_harness"]).all()
    assert both["scores"].map(len).tolist() == both["scores_harness"].map(len).tolist()
    theirs, ours = (np.concatenate(both[column].to_list()) for column in ("scores_harness", "scores"))
    assert len(ours) == 728
    np.testing.assert_allclose(ours, theirs, atol=CLOSE, rtol=0)
    assert both["prediction"].tolist() == both["scores_harness"].map(np.argmax).tolist()


def test_the_harness_gets_the_answers_of_its_own_model(model: AnsweringModel, tmp_path: Path) -> None:
    tasks = [question_task(tmp_path), question_task(tmp_path, "examples", num_fewshot=3, fewshot_split="test")]
    theirs = HFLM(pretrained=model.network, tokenizer=model.tokenizer, batch_size=8)
    ours = ClozeboardLM(pretrained=model.network, tokenizer=model.tokenizer)
    found, expected = responses(ours, [*tasks]), responses(theirs, [*tasks])
    assert [answer[0] for answer in found] == pytest.approx([answer[0] for answer in expected], abs=1e-4, rel=0)
    assert [answer[1] for answer in found] == [answer[1] for answer in expected]


def test_it_tells_50_true_from_50_false_statements_of_wn18rr(model: AnsweringModel) -> None:
    sentences = draw(read_graph(real_data("kg/wn18rr")), Sampling(samples=50, repetitions=1))
    measured = list(Perplexity().measure(model, [sentence.texts[0] for sentence in sentences]))
    rows = pd.DataFrame(
        {
            "relation": [sentence.triple.relation for sentence in sentences],
            "template": 0,
            "true": [sentence.true for sentence in sentences],
            "repetitions": [list(sentence.repetitions) for sentence in sentences],
            **{name: [one[name] for one in measured] for name in measured[0]},
        }
    )
    scores = Perplexity().scores(rows).set_index(["metric", "dimension", "group"])["value"]
    assert scores["p_value", "repetition", "1"] < 0.001
    assert scores["perplexity_median", "truth", "true"] < scores["perplexity_median", "truth", "false"]
    assert scores["superiority", "overall", "all"] > 0.7
    for one in measured[:3]:
        ids = torch.tensor([[model.tokenizer.bos_token_id, *model.tokenizer(one["statement"]).input_ids]])
        with torch.inference_mode():
            loss = model.network(input_ids=ids, labels=ids).loss.item()
        assert one["perplexity"] == pytest.approx(exp(loss), rel=1e-3)


def test_examples_make_it_more_specific_but_a_clause_after_the_blank_does_not(model: AnsweringModel) -> None:
    vanilla, few_shot, cascade = (
        run(model, "pairs", probe="specificity", prompting=prompting, relations="part_of", limit=11, progress=False)
        for prompting in ("vanilla", "few-shot", "cascade")
    )
    assert few_shot.items["specific"].mean() > vanilla.items["specific"].mean()
    assert cascade.items["specific"].equals(vanilla.items["specific"])


def test_it_knows_more_in_english_than_in_korean(model: AnsweringModel, real_dlama: Path) -> None:
    english, korean = (
        run(model, real_dlama / "sample", pair="asia-west", language=language, limit=5, progress=False)
        .items["correct"]
        .mean()
        for language in ("en", "ko")
    )
    assert english > 0.5
    assert korean < english - 0.3


def test_as_a_generator_it_knows_some_geography(model: AnsweringModel) -> None:
    result = run(model, "geography", probe="cloze", relations="country_capital", limit=16, progress=False)
    values = result.scores.set_index(["metric", "dimension"])["value"]
    assert values["in_near_15", "overall"] >= values["in_near_5", "overall"] > 0.3
    scored = result.items[result.items["correct"].notna()]
    assert len(scored) == 7 and scored["continuation"].str.len().gt(0).all()
