"""What the pages know of a probe: its metrics, titles, slices and switches."""

import pytest
from django.http import QueryDict

from leaderboard.models import Benchmark
from leaderboard.probes import PAGES, pages_of
from leaderboard.probes.probe_pages import ProbePages, parts, relation_slice
from probing.benchmark import Relation


def test_every_probe_that_has_no_pages_of_its_own_has_the_default_ones() -> None:
    assert pages_of(Benchmark(probe="not_yet_known")) == ProbePages()


def test_no_metric_stands_beside_itself(subtests: pytest.Subtests) -> None:
    for probe, pages in PAGES.items():
        with subtests.test(probe):
            measured = Benchmark(slug="mine", probe=probe, path="benchmarks/mine")
            assert measured.main_metric not in pages.metrics_beside(measured)


def test_a_metric_has_the_title_of_its_probe_or_else_a_readable_name() -> None:
    pages = ProbePages(metric_labels={"p_at_1": "P@1"})
    assert [pages.metric_label(name) for name in ("p_at_1", "accuracy_sem", "head_size")] == [
        "P@1",
        "Standard error over wordings",
        "Head size",
    ]


def test_the_scores_of_a_relation_are_found_by_its_label_or_by_the_name_in_the_address() -> None:
    relation = Relation("P30.en", ("[X] is in [Y].",), ("Asia",), (), tags={"predicate": "P30"})
    assert relation_slice(relation, "P30.en") == ("relation", "P30")
    assert relation_slice(None, "P36") == ("relation", "P36")


def test_parts_have_their_tables_sorted_and_on_the_page_that_the_query_string_asks_for() -> None:
    rows = [{"name": str(number), "value": number} for number in range(60)]
    tables = {"two-words": (("name", "value"), rows), "empty": (("name",), [])}
    found = parts(QueryDict("two-words-sort=-value&two-words-page=2"), tables, several=True)
    columns, listed = found["files"]["two-words"]
    assert (columns, listed[0]["value"], list(found["files"])) == (("name", "value"), 59, ["two-words"])
    assert [row["value"] for row in found["pages"]["two_words"]] == list(range(9, -1, -1))
    assert (found["open"], found["several"]) == ({"two_words"}, True)


def test_rows_of_a_source_stay_together_when_they_are_sorted() -> None:
    rows = [{"heading": heading, "value": value} for heading, value in (("a", 1), ("a", 3), ("b", 2))]
    found = parts(QueryDict("one-sort=-value"), {"one": (("value",), rows)})
    assert [row["value"] for row in found["pages"]["one"]] == [3, 1, 2]


def test_a_probe_without_rows_and_notes_shows_nothing() -> None:
    assert parts(QueryDict(), {"one": (("value",), [])}, several=True) == {}
    assert parts(QueryDict(), {"one": (("value",), [])}, notes="Left out: 3.")["notes"] == "Left out: 3."
