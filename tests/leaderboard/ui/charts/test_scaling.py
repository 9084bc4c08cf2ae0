"""Scaling curves: lines of families, marks, labels and the chance line."""

from leaderboard.ui import charts
from leaderboard.ui.charts.curves import MOST_HOVERS, MOST_INTERVALS, MOST_NAMED, SizedScore
from tests.leaderboard.ui.charts.plotted import plotted


def score(label: str, value: float, millions: int, family: str = "", is_measured: bool = True) -> SizedScore:
    return SizedScore(label, value, None, None, millions * 10**6, family, is_measured, f"/runs/{millions}/")


FAMILY = [score("gpt2-xl", 0.5, 1500, "GPT-2"), score("gpt2", 0.2, 124, "GPT-2", is_measured=False)]


def test_a_family_is_a_line_by_size_with_its_name_at_the_end() -> None:
    plot = plotted(charts.scaling_curve(FAMILY, None, "accuracy"))
    (line,) = plot.data
    assert (line.name, line.mode, list(line.x)) == ("GPT-2", "lines+markers", [124 * 10**6, 1500 * 10**6])
    assert [(note.text, note.y) for note in plot.layout.annotations] == [("GPT-2", 0.5)]


def test_filled_points_were_measured_here_and_hollow_ones_published() -> None:
    (line,) = plotted(charts.scaling_curve(FAMILY, None, "accuracy")).data
    assert list(line.marker.symbol) == ["circle-open", "circle"]
    assert list(line.text) == ["gpt2, published", "gpt2-xl"]
    assert list(line.customdata) == ["/runs/124/", "/runs/1500/"]


def test_models_without_a_family_or_with_one_of_a_single_size_are_points() -> None:
    plot = plotted(
        charts.scaling_curve([*FAMILY, score("alone", 0.1, 100), score("phi-4", 0.3, 14000, "Phi")], None, "accuracy")
    )
    assert [(trace.name, trace.mode) for trace in plot.data] == [
        ("other models", "markers"),
        ("GPT-2", "lines+markers"),
    ]


def test_the_best_model_has_its_name_beside_its_point() -> None:
    plot = plotted(charts.scaling_curve([*FAMILY, score("best", 0.9, 8000)], None, "accuracy"))
    assert {note.text for note in plot.layout.annotations} == {"GPT-2", "best"}


def test_a_few_models_without_a_family_are_all_named() -> None:
    few = [score(f"m{place}", place / 10, place) for place in range(1, MOST_NAMED + 1)]
    more = [*few, score("best", 0.9, 8000)]
    for models, names in ((few, {model.label for model in few}), (more, {"best"})):
        plot = plotted(charts.scaling_curve(models, None, "accuracy"))
        assert {note.text for note in plot.layout.annotations} == names


def test_intervals_are_drawn_where_they_do_not_cover_each_other() -> None:
    def models(number: int) -> list[SizedScore]:
        return [score(f"m{place}", 0.5, place)._replace(low=0.4, high=0.6) for place in range(1, number + 1)]

    (few,) = plotted(charts.scaling_curve(models(MOST_INTERVALS), None, "accuracy")).data
    (many,) = plotted(charts.scaling_curve(models(MOST_INTERVALS + 1), None, "accuracy")).data
    assert set(few.error_y.array) == {0.1}
    assert many.error_y.array is None


def test_hovers_have_interval_and_size_where_the_chart_has_few_points() -> None:
    first = score("m1", 0.5, 2)._replace(low=0.4, high=0.6)
    (few,) = plotted(charts.scaling_curve([first], None, "accuracy")).data
    assert list(few.hovertext) == [" (0.400 to 0.600), 2 M parameters"]
    many = [first, *(score(f"m{place}", 0.5, place) for place in range(MOST_HOVERS))]
    (many_points,) = plotted(charts.scaling_curve(many, None, "accuracy")).data
    assert many_points.hovertext is None and "parameters" in many_points.hovertemplate


def test_chance_is_a_named_line_in_view() -> None:
    plot = plotted(charts.scaling_curve(FAMILY, 0.7, "accuracy"))
    assert "chance" in {note.text for note in plot.layout.annotations}
    assert plot.layout.yaxis.range[1] > 0.7
    assert plot.layout.shapes[0].y0 == 0.7
