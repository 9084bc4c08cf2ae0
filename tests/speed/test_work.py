"""The workload: which items and statements are measured."""

from pathlib import Path

import pytest

from probing.benchmark import Benchmark
from speed.work import (
    STARTER_RELATIONS,
    ChoiceItem,
    Workload,
    completions,
    select,
    statements,
    workload,
)


@pytest.fixture(autouse=True)
def no_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOZEBOARD_TEST_DATA", raising=False)


def test_an_item_is_asked_with_all_options_and_is_true_with_the_right_one() -> None:
    item = ChoiceItem("[X] is located in [Y].", "Chad", ("Asia", "Africa"), right=1)
    prompt, options = item.request
    assert (prompt.fill("Asia").text, options) == ("Chad is located in Asia.", ("Asia", "Africa"))
    assert item.true_statement[1] == ("Africa",)


def test_statements_are_counted_over_the_options_of_every_item(benchmark: Benchmark) -> None:
    assert select(benchmark, ["P30", "P36"]).statements == 4 * 3 + 2 * 2
    assert select(benchmark, ["P30", "P36"], items=1).statements == 3 + 2


def test_without_bear_the_first_items_of_the_starter_benchmark_are_taken() -> None:
    work = workload(2)
    assert (work.benchmark, work.relations, len(work.items)) == ("starter", STARTER_RELATIONS, 6)
    assert [item.subject for item in work] == [item.subject for item in workload(2)]


def test_bear_is_taken_from_the_folder_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOZEBOARD_TEST_DATA", str(tmp_path))
    with pytest.raises(Exception, match="bear"):
        workload(1)


WORK = Workload(
    "starter",
    ("P30",),
    (
        ChoiceItem("[X] is located in [Y].", "chad", ("Africa", "Asia"), 0),
        ChoiceItem("[X] is located in [Y].", "Peru", ("Africa", "South America"), 1),
        ChoiceItem("[X] is located in [Y].", "Japan", ("Africa", "Asia"), 1),
    ),
)


def test_statements_have_no_context_and_completions_begin_at_the_blank_after_true_examples() -> None:
    first = statements(WORK)[0]
    assert (first.context, first.texts) == ("", ["Chad is located in Africa.", "Chad is located in Asia."])
    assert (first.subject, first.options) == ("chad", ["Africa", "Asia"])
    examples = "Chad is located in Africa.\nPeru is located in South America.\nJapan is located in Asia.\n"
    items = completions(WORK)
    assert (items[1].context, items[1].texts[1]) == (examples + "Peru is located in", " South America.")
    assert all(item.context.startswith(examples) for item in items)
    beginning = Workload("starter", (), (ChoiceItem("[Y] is the capital of [X].", "Chad", ("Rome", "Lima"), 0),))
    assert completions(beginning) == []
