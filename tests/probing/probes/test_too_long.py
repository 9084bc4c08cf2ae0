"""Items that do not fit into a model's context: they are left out, counted and named, and the others are answered."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from transformers import RobertaConfig, RobertaForMaskedLM

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import TooLong
from probing.language_model import LanguageModel
from probing.part_runner import probe_part
from probing.plan import Part, plan, plan_of
from probing.probes import probe_of
from probing.results.completeness import count_left_out, skipped_in_words
from probing.results.joining import joined
from probing.results.rescoring import rescored
from probing.results.result import Result
from probing.runner import run
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.settings import Settings
from tests.probing.scoring.seq2seq import build as build_seq2seq
from tests.tiny_models import build_bert, build_gpt2, metaspace_unigram, save

LONG = "Peru and " * 100 + "Chad"
BUILD = {
    "causal": build_gpt2,
    "masked": build_bert,
    "t5": lambda folder: build_seq2seq(folder, "t5"),
    "bart": lambda folder: build_seq2seq(folder, "bart"),
}
OPTIONS = ("Africa", "Asia")
WHY = "longer than the 128 tokens that the model takes"
PROBES: list[tuple[str, dict[str, Any]]] = [
    ("multiple_choice", {}),
    ("multiple_choice", {"generic_subjects": "it"}),
    ("multiple_choice", {"decide": True}),
    ("ranking", {}),
    ("specificity", {}),
    ("specificity", {"prompting": "few-shot", "shots": 1}),
    ("specificity", {"prompting": "cascade"}),
    ("cloze", {}),
    ("cloze", {"closed": True}),
    ("perplexity", {}),
    ("similarity", {}),
    ("answering", {"chat": False}),
]


@pytest.fixture(scope="module", params=list(BUILD))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageModel]:
    yield load(str(BUILD[request.param](tmp_path_factory.mktemp("model"))), device="cpu")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return load(str(build_gpt2(tmp_path_factory.mktemp("gpt2"))), device="cpu")


def benchmark(*subjects: str) -> Benchmark:
    """Return facts that every probe can ask: with pairs, cascades, questions, and truths of statements."""

    def item(index: int, subject: str) -> Item:
        tags = {"truth": "true" if index % 2 else "false", "repetitions": ("0",)}
        return Item(index, subject, (1,), tags=tags, options=OPTIONS)

    relation = Relation(
        "P30",
        ("[X] is located in [Y].",),
        OPTIONS,
        tuple(item(index, subject) for index, subject in enumerate(subjects)),
        cascades=("[X] is located in [Y], which is located in [Y].",),
        questions=("Where is [X] located?",),
    )
    return Benchmark("facts", "1", "0" * 64, (relation,))


def statements(content: Benchmark) -> Benchmark:
    """Return the same facts as whole statements, each the only option of its item."""
    (relation,) = content.relations
    items = tuple(replace(item, options=(f"{item.subject} is in Africa.",)) for item in relation.items)
    return replace(content, relations=(replace(relation, templates=("[Y]",), answer_space=(), items=items),))


@pytest.mark.slow
@pytest.mark.parametrize(("probe", "options"), PROBES)
def test_an_item_that_is_too_long_is_left_out_and_the_others_are_answered_as_without_it(
    model: LanguageModel, probe: str, options: dict[str, Any]
) -> None:
    if (probe, model.card.kind) in (("perplexity", "encoder-decoder"), ("answering", "masked")):
        pytest.skip("models of this kind do not have this verb")

    def answers(*subjects: str) -> list[Any]:
        content = statements(benchmark(*subjects)) if probe == "perplexity" else benchmark(*subjects)
        settings = plan(content, {"probe": probe, **options}).settings
        return list(probe_of(settings).rows(model, content.relations[0], 0, settings))

    with_long = answers("Chad", "Kenya", LONG, "Japan")
    too_long = [index for index, answer in enumerate(with_long) if isinstance(answer, TooLong)]
    if options.get("prompting") == "few-shot":  # whose demonstrations may be too long as well
        assert 2 in too_long and too_long != [0, 1, 2, 3]
        return
    assert too_long == [2] and with_long[2].limit == 128
    for row, expected in zip(with_long, answers("Chad", "Kenya", "Norway", "Japan"), strict=True):
        if row is not with_long[2]:
            pd.testing.assert_frame_equal(pd.DataFrame([row]), pd.DataFrame([expected]))


def test_what_was_left_out_is_said_in_one_sentence(gpt2: LanguageModel) -> None:
    result = run(gpt2, benchmark("Chad", LONG, "Japan", LONG), progress=False)
    assert skipped_in_words(result.record) == [f"2 items were not asked ({WHY}): P30."]
    assert count_left_out(result.record) == 2 and result.record["items_done"] == 2


def test_a_run_of_which_no_item_fits_ends_with_one_sentence(gpt2: LanguageModel) -> None:
    with pytest.raises(TooLong, match=f"^Not a single item can be asked: all 2 are {WHY}. Choose a model"):
        run(gpt2, benchmark(LONG, LONG), progress=False)


def two_wordings() -> Benchmark:
    """Return facts of which one is too long in both wordings, and another one in the second wording only."""
    content = benchmark("Chad", "Kenya and " * 22, LONG)
    wordings = ("[X] is in [Y].", "They say so, and so. " * 5 + "[X] is in [Y].")
    return replace(content, relations=(replace(content.relations[0], templates=wordings),))


def test_parts_of_several_workers_leave_out_what_one_process_leaves_out(gpt2: LanguageModel) -> None:
    settings = Settings(templates=(0, 1))
    whole = run(gpt2, two_wordings(), templates=(0, 1), progress=False)
    covered = reversed(plan_of(two_wordings(), settings).parts)
    measured = {part: probe_part(gpt2, plan_of(two_wordings(), settings), part) for part in covered}
    together = joined(measured, plan_of(two_wordings(), settings))
    assert together.record["items_skipped"] == whole.record["items_skipped"]
    assert [entry["indices"] for entry in whole.record["items_skipped"]] == [[2], [1, 2]]
    pd.testing.assert_frame_equal(together.items, whole.items)


def test_a_resumed_run_leaves_out_the_same_items(gpt2: LanguageModel, tmp_path: Path, parts_begun: list[Part]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(gpt2, two_wordings(), templates=(0, 1), out=tmp_path / "out", progress=False)
    resumed = run(gpt2, two_wordings(), out=tmp_path / "out", templates=(0, 1), progress=False)
    assert [part.template for part in parts_begun] == [0, 1, 1]
    assert [entry["indices"] for entry in resumed.record["items_skipped"]] == [[2], [1, 2]]
    assert rescored(Result.load(tmp_path / "out"), two_wordings()).record == resumed.record


def test_a_part_without_a_row_is_stored_and_joined(gpt2: LanguageModel, tmp_path: Path) -> None:
    content = two_wordings()
    (relation,) = content.relations
    content = replace(content, relations=(relation, replace(relation, id="P1", items=(relation.items[2],))))
    result = run(gpt2, content, templates=(0, 1), out=tmp_path / "out", keep_tokens=True, progress=False)
    assert set(result.items["relation"]) == {"P30"}
    assert [(e["relation"], e["items"]) for e in result.record["items_skipped"]] == [
        ("P30", 1), ("P30", 2), ("P1", 1), ("P1", 1),
    ]  # fmt: skip
    assert skipped_in_words(result.record) == [f"3 items were not asked ({WHY}): P30, P1."]


def test_positions_of_roberta_that_are_kept_for_padding_do_not_count(tmp_path: Path) -> None:
    tokenizer = metaspace_unigram()
    tokenizer.model_max_length = 10**9
    config = RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=130, pad_token_id=1,
    )  # fmt: skip
    folder = save(tmp_path, lambda: RobertaForMaskedLM(config), tokenizer, 0)
    model = load(str(folder), device="cpu")
    assert len(run(model, benchmark("Chad", LONG), progress=False).items) == 1
    assert isinstance(model, HFModel) and model.limits.longest == 128
