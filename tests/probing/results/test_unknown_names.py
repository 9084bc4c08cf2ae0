"""Options and subjects that the tokenizer does not know: counted by relation, and told to whoever reads the scores."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.language_model import Request
from probing.results.result import Result
from probing.results.unknown_names import all_unknown_names, unknown_names, unknown_names_in_words
from probing.runner import run
from tests.fakes import FakeModel


class Uneducated(FakeModel):
    """A model that knows no name with an e, and looks at whole sentences when it is asked for options."""

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        for prompt, options in requests:
            assert all(option in prompt.fill(option).text for option in options)
            yield ["e" in option for option in options]


def entry(relation: str, kind: str, names: int, unknown: int, *examples: str) -> dict[str, Any]:
    return {"relation": relation, "kind": kind, "names": names, "unknown": unknown, "examples": list(examples)}


def test_each_distinct_name_of_a_relation_counts_once() -> None:
    items = [Item(0, "Egypt", (0,)), Item(1, "Chad", (0,)), Item(2, "Egypt", (0,))]
    relation = Relation("P30", ("[X] is in [Y].",), ("Africa", "Europe"), tuple(items))
    assert unknown_names(Uneducated(), relation, 0) == [
        entry("P30", "options", 2, 1, "Europe"),
        entry("P30", "subjects", 2, 0),
    ]


def test_items_may_have_options_of_their_own_and_be_statements_themselves() -> None:
    items = [Item(0, "a", (0,), options=("x", "ye")), Item(1, "ze", (0,), options=("x", "ze"))]
    relation = Relation("P1", ("[X] is [Y].",), (), tuple(items))
    options, subjects = unknown_names(Uneducated(), relation, 0)
    assert options == entry("P1", "options", 3, 2, "ye", "ze")
    assert subjects == entry("P1", "subjects", 1, 0), "a subject that is an option counts as an option"


def test_parts_are_joined_by_the_template_with_most_unknown_names_and_full_knowledge_leaves_nothing() -> None:
    records = [
        {"unknown_names": [entry("P2", "options", 9, 2, "e"), entry("P2", "subjects", 5, 0)]},
        {"unknown_names": [entry("P2", "options", 9, 1, "e"), entry("P2", "subjects", 5, 0)]},
        {"unknown_names": [entry("P1", "options", 4, 0), entry("P1", "subjects", 4, 0)]},
        {},  # of an older version
    ]
    joined = all_unknown_names(records)
    assert [(each["relation"], each["kind"], each["unknown"]) for each in joined] == [
        *[("P1", "options", 0), ("P1", "subjects", 0), ("P2", "options", 2), ("P2", "subjects", 0)]
    ]
    assert all_unknown_names([{"unknown_names": joined}]) == joined
    assert all_unknown_names(records[2:]) == []


def test_the_sentence_has_the_share_two_examples_and_the_relations_with_most_of_them() -> None:
    entries = [entry(f"P{number}", "options", 10, number % 12, f"e{number}", "ye") for number in range(24)]
    (sentence,) = unknown_names_in_words({"unknown_names": entries})
    assert sentence.startswith("The tokenizer does not know 132 of 240 options (55.00%), such as 'e11' and 'ye': ")
    assert sentence.endswith(
        "By relation: P11 11, P23 11, P10 10, P22 10, P9 9, P21 9, P8 8, P20 8, P7 7, P19 7 and 12 more relations."
    )
    assert unknown_names_in_words({}) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"probe": "multiple_choice"},
        {"probe": "multiple_choice", "decide": True},
        {"probe": "ranking"},
        {"probe": "similarity"},
        {"probe": "cloze", "closed": True},
    ],
    ids=str,
)
def test_every_probe_tells_in_its_result_and_in_the_stored_one(
    settings: dict[str, Any], benchmark: Benchmark, tmp_path: Path
) -> None:
    result = run(Uneducated(), benchmark, out=tmp_path / "out", progress=False, **settings)
    counted = {(each["relation"], each["kind"]): each["unknown"] for each in result.record["unknown_names"]}
    assert counted["P30", "options"] == 1 and len(counted) == 2 * len(benchmark.relations)
    assert any("does not know 1 of 5 options (20.00%), such as 'Europe'" in note for note in result.notes)
    assert Result.load(tmp_path / "out").notes == result.notes


def test_a_run_that_goes_on_counts_as_a_whole_one(
    benchmark: Benchmark, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    whole = run(Uneducated(), benchmark, progress=False)
    parts_begun = request.getfixturevalue("parts_begun")  # only now, as the whole run shall not be interrupted
    with pytest.raises(KeyboardInterrupt):
        run(Uneducated(), benchmark, out=tmp_path / "out", progress=False)
    resumed = run(Uneducated(), benchmark, out=tmp_path / "out", progress=False)
    assert len(parts_begun) == 3 and resumed.record["unknown_names"] == whole.record["unknown_names"] != []


def test_a_model_that_knows_all_names_says_nothing(benchmark: Benchmark) -> None:
    result = run(FakeModel(), benchmark, progress=False)
    assert result.record["unknown_names"] == []
    assert not any("does not know" in note for note in result.notes)
