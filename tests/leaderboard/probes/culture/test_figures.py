"""Columns and charts that the sections about culture pairs share."""

from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.probes.culture.sides import (
    ChartLine,
    Sides,
    both_sides,
    comma_separated,
    gaps_forest,
    legend,
    side_columns,
)
from tests.leaderboard.ui.charts.plotted import plotted


def side_by_side(pk: int, gap: float | None, **values: float | None) -> Sides:
    run = Run(pk=pk, model=Model(hub_id="org/a"), benchmark=Benchmark(slug="culture", probe="ranking"))
    cultures = {name: Score(metric="p_at_1", value=value, n=10) for name, value in values.items()}
    score = None if gap is None else Score(metric="culture_gap", value=gap, n=20)
    return Sides(run, "arab-west", "en", "", cultures, score, None)


def test_columns_of_rows_with_different_cultures_have_general_names() -> None:
    rows = [side_by_side(1, 0.1, Arab=0.5, West=0.4), side_by_side(1, 0.1, Asia=0.5, West=0.4)]
    titles = {column.name: column.title for column in side_columns(rows)}
    assert (titles["first"], titles["second"]) == ("First culture", "West")


def test_a_column_of_the_first_culture_never_holds_the_west() -> None:
    row = side_by_side(1, 0.1, West=0.4, Arab=0.5)
    values = {column.name: column.cell(row).value for column in side_columns([row])}
    assert (values["first"], values["second"], values["gap"], values["p"]) == (0.5, 0.4, 0.1, None)


def test_both_sides_are_drawn_and_a_missing_score_leaves_a_gap() -> None:
    line = ChartLine(side_by_side(1, None, Arab=None, West=0.4), "Arab and West", "en")
    first, second = plotted(both_sides([line], ["first culture", "West"])).data
    assert first.x[0] is None
    assert (second.name, second.x[0]) == ("West", 0.4)


def test_a_line_without_a_gap_is_not_drawn() -> None:
    lines = [ChartLine(side_by_side(1, gap, Arab=0.5, West=0.4), "Arab and West", str(gap)) for gap in (0.1, None)]
    assert sum(len(trace.x) for trace in plotted(gaps_forest(lines)).data if trace.x is not None) == 1


def test_published_figures_are_hollow_and_all_others_are_filled() -> None:
    lines = [ChartLine(side_by_side(1, 0.1, Arab=0.5, West=0.4), "Arab and West", name) for name in ("here", "paper")]
    lines[1].row.run.provenance = Run.Provenance.PUBLISHED
    first, second = plotted(both_sides(lines, ["first culture", "West"])).data
    assert list(first.marker.symbol) == ["triangle-up", "triangle-up-open"], "cultures differ by shape as well"
    assert list(second.marker.symbol) == ["triangle-down", "triangle-down-open"]
    symbols = {trace.y[0]: trace.marker.symbol for trace in plotted(gaps_forest(lines)).data}
    assert symbols == {"Arab and West, here": "circle", "Arab and West, paper": "circle-open"}
    assert legend(line.row.run for line in lines) == " Hollow markers are published figures."
    assert legend([lines[0].row.run]) == ""


def test_a_label_joins_the_parts_that_there_are() -> None:
    assert comma_separated("Arab and West", "", None, "en") == "Arab and West, en"
