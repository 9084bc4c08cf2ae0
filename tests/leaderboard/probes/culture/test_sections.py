"""Sections about culture pairs, built from rows that are not stored."""

from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probes.culture.pair_sections import gaps, languages
from leaderboard.probes.culture.sides import Sides

BENCHMARK = Benchmark(slug="culture", probe="ranking")


def run(pk: int, hub_id: str = "org/a", provenance: Run.Provenance = Run.Provenance.MEASURED) -> Run:
    return Run(pk=pk, model=Model(hub_id=hub_id), benchmark=BENCHMARK, provenance=provenance)


def row(of: Run, gap: float | None, language: str = "en", low: float | None = None, high: float | None = None) -> Sides:
    cultures = {name: Score(metric="p_at_1", value=0.5, n=10) for name in ("Arab", "West")}
    score = None if gap is None else Score(metric="culture_gap", value=gap, low=low, high=high, n=20)
    return Sides(of, "arab-west", language, "", cultures, score, None)


def test_no_rows_have_no_sections() -> None:
    assert (gaps([]), languages([])) == (None, None)


def test_a_single_language_is_not_set_beside_itself() -> None:
    assert languages([row(run(1), 0.1)]) is None


def test_the_summary_counts_the_intervals_that_exclude_zero() -> None:
    rows = [row(run(1), 0.2, "en", 0.1, 0.3), row(run(1), 0.1, "ar", -0.1, 0.3), row(run(1), 0.1, "fr")]
    section = gaps(rows)
    assert section
    assert section.chart
    assert section.chart.summary == ("P@1 of the first culture minus that of the West; 1 of 2 intervals exclude zero.")


def test_a_chart_needs_two_gaps_but_the_table_has_every_row() -> None:
    section = gaps([row(run(1), 0.2), row(run(1), None, "ar")])
    assert section
    assert section.table
    assert (section.chart, len(section.table.rows)) == (None, 2)


def test_columns_are_named_by_the_cultures_where_all_rows_have_the_same() -> None:
    section = gaps([row(run(1), 0.2)])
    assert section
    assert section.table
    titles = {column.name: column.title for column in section.table.columns}
    assert (titles["first"], titles["second"], titles["first_n"]) == ("Arab", "West", "Arab, questions")


def test_published_gaps_have_hollow_markers_which_the_summary_explains() -> None:
    rows = [row(run(1, "org/a"), 0.2), row(run(2, "org/b"), 0.1)]
    measured = gaps(rows)
    mixed = gaps([*rows, row(run(3, "org/c", Run.Provenance.PUBLISHED), 0.3)])
    assert measured
    assert measured.chart
    assert mixed
    assert mixed.chart
    assert "Hollow" not in measured.chart.summary
    assert "Hollow markers are published figures." in mixed.chart.summary


def test_languages_are_listed_by_name() -> None:
    section = languages([row(run(1), 0.1, "en"), row(run(1), 0.1, "ar")])
    assert section
    assert section.chart
    assert section.chart.summary == "P@1 of either culture, asked in Arabic, English."
