"""The tables of the peers' results, and the documents, which show what the files of results hold and name each file."""

import re
from typing import Any

import pytest

from speed.report import (
    DOCUMENT,
    TABLES,
    ratios_table,
    report,
    with_table,
    with_tables,
)
from speed.stored_results import CHECKOUT, RESULTS

DOCUMENTS = {file.name: file.read_text(encoding="utf-8") for file in (CHECKOUT / "docs").glob("*.md")}
NAMED = re.compile(r"speed/results/(\w+)\.json")


@pytest.fixture
def results() -> dict[str, Any]:
    """Results of one comparison with made-up figures."""
    row: dict[str, Any] = {
        "own": True,
        "system": "full",
        "package": "clozeboard",
        "version": "0.1.0",
        "batch_size": None,
        "positions": 110,
        "peak_bytes": 2**21,
        "largest_difference": 0.0,
        "same_predictions": 1.0,
    }
    peer = {
        **row,
        "own": False,
        "system": "peer",
        "package": "peer",
        "version": "2.0",
        "batch_size": 16,
        "positions": 1100,
    }
    times = {
        "peer": "peer",
        "times": {"processor": [5.0, 4.0, 6.0], "clock": [7.0, 9.0, 8.0]},
        "median": {"processor": 5.0, "clock": 8.0},
    }
    ratios = [{**times, "own": "full", "required": 4.5}, {**times, "own": "decide", "required": None}]
    compared = {"systems": [row, peer], "ratios": ratios, "not_measured": {"absent": "No such release."}}
    return {
        "machine": {
            "cores": 2,
            "torch_threads": 2,
            "processor": "AMD EPYC",
        },
        "work": {"causal": {"statements": 1820, "model": {"name": "SmolLM2-135M"}}},
        "comparisons": {"causal": compared},
        "fewest_positions": {"causal": {"real": 400, "distinct": 100}},
    }


def test_every_round_is_shown_with_the_median_in_bold(results: dict[str, Any]) -> None:
    (*_, line) = ratios_table(results).splitlines()
    rounds = "4.0, **5.0**, 6.0"
    assert line == f"| statements of a causal model | peer | {rounds} (≥ 4.5) | {rounds} |  |"


def test_the_version_of_a_package_of_another_name_is_not_shown_as_that_of_the_system(results: dict[str, Any]) -> None:
    results["comparisons"]["causal"]["systems"][1]["package"] = "peer-for-python"
    assert "| peer (peer-for-python 2.0), 16 at a time |" in report(results)


def test_the_report_gives_positions_in_relation_to_the_fewest_and_names_what_is_absent(
    results: dict[str, Any],
) -> None:
    written = report(results)
    assert "| peer 2.0, 16 at a time | 1,100 | 1100 % | 2 |" in written
    assert "Not measured: absent. No such release." in written


def test_a_table_replaces_the_one_of_its_name_alone() -> None:
    text = "a <!-- table x -->\nold\n<!-- end of table x --> b <!-- table y -->\n<!-- end of table y -->"
    assert with_table(text, "x", "new") == text.replace("old", "new")
    with pytest.raises(ValueError, match="no place for the table 'z'"):
        with_table(text, "z", "new")


def test_a_table_without_results_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "ratios", ("no-such-results", str))
    shown = with_tables(DOCUMENT.read_text(encoding="utf-8"))
    assert "<!-- table ratios -->\nResults are not stored yet.\n<!-- end of table ratios -->" in shown


def test_the_document_shows_the_results_or_says_that_there_are_none() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_tables(text), "python -m speed.report writes the tables"


def test_every_table_of_a_document_is_written_by_the_command() -> None:
    names = [name for text in DOCUMENTS.values() for name in re.findall(r"<!-- table (.+?) -->", text)]
    assert sorted(names) == sorted(TABLES)


def test_the_documents_name_all_results_and_no_others() -> None:
    """The results of the peers are named before they are measured for the first time."""
    named = {name for text in DOCUMENTS.values() for name in NAMED.findall(text)}
    assert named - {"peers"} == {file.stem for file in RESULTS.glob("*.json")} - {"peers"}
