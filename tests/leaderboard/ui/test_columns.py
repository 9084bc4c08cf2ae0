"""Columns that several tables share, and the points and summaries of charts."""

from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.charts.scaling_chart import SizedScore
from leaderboard.ui.columns import (
    best_and_largest,
    interval_columns,
    score_points,
    source,
    summary,
)

BENCHMARK = Benchmark(slug="tiny", probe="multiple_choice")
SCORE = Score(metric="accuracy", value=0.5, low=0.4, high=0.6, n=10)


def run(hub_id: str = "org/a", **fields: object) -> Run:
    return Run(pk=7, model=Model(hub_id=hub_id), benchmark=BENCHMARK, **fields)


def published(authors: str, year: int | None = 2024) -> Run:
    record = {"source": {"authors": authors, "year": year}} if authors else {}
    return run(
        provenance=Run.Provenance.PUBLISHED,
        reference="Table 1 of a paper",
        reference_url="https://example.org/paper",
        provenance_record=record,
    )


def test_only_csv_has_a_column_for_each_end_of_an_interval() -> None:
    low, high, *_ = interval_columns(lambda score: score)
    assert [(column.name, column.shown) for column in (low, high)] == [("low", False), ("high", False)]
    assert [column.cell(SCORE).value for column in (low, high)] == [0.4, 0.6]
    assert low.cell(None).value is None


def test_the_clustered_interval_is_in_the_csv_only() -> None:
    _, _, low, high = interval_columns(lambda score: score)
    assert [(column.name, column.shown) for column in (low, high)] == [("cluster_low", False), ("cluster_high", False)]
    score = Score(metric="accuracy", value=0.5, n=10, cluster_low=0.3, cluster_high=0.7)
    assert [column.cell(score).value for column in (low, high)] == [0.3, 0.7]


def test_a_point_leads_where_its_label_does() -> None:
    (point,) = score_points([("a", SCORE)], href=lambda label: f"/{label}/")
    assert point.href == "/a/"


def test_a_published_figure_is_cited_in_short_with_the_whole_reference_in_csv() -> None:
    cell = source(published("Ada Lovelace, Charles Babbage"))
    assert (cell.text, cell.value) == ("published: Lovelace et al. 2024", "published: Table 1 of a paper")
    assert (cell.href, cell.note) == ("https://example.org/paper", "Table 1 of a paper")


def test_a_citation_leaves_out_what_is_not_stored() -> None:
    assert source(published("Ada Lovelace", None)).text == "published: Lovelace"
    assert source(published("")).text == "published: Table 1 of a paper"


def test_scores_without_a_value_are_no_points() -> None:
    points = score_points([("a", SCORE), ("b", None), ("c", Score(value=None, n=0))])
    assert points == [Point("a", 0.5, 0.4, 0.6)]


def test_a_summary_has_the_lowest_and_the_highest_value() -> None:
    points = [Point("b", 0.5), Point("a", 0.25), Point("c", 0.75)]
    assert summary("Accuracy", points) == "Accuracy: from 0.250 (a) to 0.750 (c) over 3 groups."
    assert summary("Accuracy", points[:1]) == "Accuracy: 0.500 (b)."
    assert summary("Accuracy", []) == "Accuracy: nothing was measured."


def test_of_sized_scores_the_best_and_the_largest_are_named() -> None:
    small = SizedScore("small", 0.6, 0.55, 0.65, 10**8, "", True, "/runs/1/")
    large = SizedScore("large", 0.5, None, None, 3 * 10**9, "", True, "/runs/2/")
    assert best_and_largest([large, small]) == "Best: small (100 M), 0.600 ± 0.050. Largest: large (3 B), 0.500."
    assert best_and_largest([large]) == "Best and largest: large (3 B), 0.500."
