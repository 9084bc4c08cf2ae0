"""Lines over the steps of a training, and scaling curves."""

from datetime import date

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import KIND_SYMBOLS, SERIES_MARKERS, SOFT, Point
from leaderboard.ui.charts.curves import Scale, Trajectory, trajectories
from leaderboard.ui.charts.scaling_chart import DATE, MOST_HOVERS, MOST_INTERVALS, MOST_NAMED, SizedScore, on_date_axis
from tests.leaderboard.ui.charts.plotted import plotted


def test_each_group_is_a_line_over_its_steps_with_hollow_markers() -> None:
    points = [Point(f"{name} {x}", y, x=x, group=name) for name in ("one", "two") for x, y in ((0, 1.0), (1, 0.5))]
    plot = plotted(charts.lines(points, "step", "share kept"))
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in plot.data] == [
        ("one", [0, 1], [1.0, 0.5]),
        ("two", [0, 1], [1.0, 0.5]),
    ]
    assert all(trace.marker.symbol.endswith("-open") for trace in plot.data)
    assert plot.layout.xaxis.title.text == "step"


STEPS = Scale("step", "step %{x:,}")
LOGARITHMIC = STEPS._replace(is_logarithmic=True)
POINTS = [Point("", 0.2, 0.1, 0.3, x=0, href="/runs/1/"), Point("", 0.5, 0.4, 0.6, x=1000, href="/runs/2/")]


def test_filled_markers_were_measured_here_and_hollow_ones_by_others() -> None:
    lines = [Trajectory("ours", POINTS, is_measured=True), Trajectory("theirs", POINTS, is_measured=False)]
    first, second = plotted(trajectories(lines, STEPS, "accuracy")).data
    assert (first.marker.symbol, second.marker.symbol) == ("triangle-up", "triangle-down-open")
    assert list(first.customdata) == ["/runs/1/", "/runs/2/"]
    assert list(first.error_y.array) == [0.1, 0.1]


def test_a_logarithmic_axis_leaves_out_the_step_0() -> None:
    plot = plotted(trajectories([Trajectory("", POINTS, is_measured=True)], LOGARITHMIC, "accuracy"))
    assert list(plot.data[0].x) == [1000]
    assert plot.layout.xaxis.type == "log"


def test_all_values_intervals_and_chance_are_in_view() -> None:
    plot = plotted(trajectories([Trajectory("", POINTS, is_measured=True)], STEPS, "accuracy", chance=0.05))
    low, high = plot.layout.yaxis.range
    assert low < 0.05
    assert high > 0.6


def test_a_hover_names_the_line_and_the_step_without_what_plotly_would_fill_in() -> None:
    (line,) = plotted(trajectories([Trajectory("50 %{x}", POINTS, is_measured=True)], STEPS, "accuracy")).data
    assert line.hovertemplate.startswith("50 {x}, step %{x:,}<br>")


def score(label: str, value: float, millions: int, family: str = "", is_measured: bool = True) -> SizedScore:
    return SizedScore(label, value, None, None, millions * 10**6, family, is_measured, f"/runs/{millions}/")


FAMILY = [score("gpt2-xl", 0.5, 1500, "GPT-2"), score("gpt2", 0.2, 124, "GPT-2", is_measured=False)]


def test_a_family_is_a_line_by_size_with_its_name_at_the_end() -> None:
    plot = plotted(charts.scaling_curve(FAMILY, None, "accuracy"))
    _, line = plot.data
    assert (line.name, line.mode, list(line.x)) == ("GPT-2", "lines+markers", [124 * 10**6, 1500 * 10**6])
    assert [(note.text, note.y) for note in plot.layout.annotations] == [("gpt2", 0.2), ("GPT-2", 0.5)]


def test_models_are_set_against_dates_on_an_axis_of_days() -> None:
    days = [date(2019, 2, 14), date(2019, 11, 5)]
    scores = [of._replace(size=on_date_axis(day)) for of, day in zip(FAMILY, days, strict=True)]
    plot = plotted(charts.scaling_curve(scores, None, "accuracy", DATE))
    low, high = plot.layout.xaxis.range
    assert (plot.layout.xaxis.type, plot.layout.xaxis.title.text) == ("date", "date of the model")
    assert list(plot.data[1].x) == [on_date_axis(day) for day in days]
    assert low < on_date_axis(days[0]) and on_date_axis(days[1]) < high
    assert [text.endswith(str(day)) for text, day in zip(plot.data[1].hovertext, days, strict=True)] == [True] * 2
    assert on_date_axis(days[1]) in {note.x for note in plot.layout.annotations}


def test_filled_points_were_measured_here_and_hollow_ones_published() -> None:
    _, line = plotted(charts.scaling_curve(FAMILY, None, "accuracy")).data
    assert list(line.marker.symbol) == ["circle-open", "circle"]
    assert list(line.text) == ["gpt2, published", "gpt2-xl"]
    assert list(line.customdata) == ["/runs/124/", "/runs/1500/"]


def test_the_shape_of_a_point_is_the_type_of_its_model_which_the_legend_says() -> None:
    plot = plotted(charts.scaling_curve([score("a", 0.5, 100)._replace(kind="masked")], None, "accuracy"))
    assert (plot.data[1].marker.symbol, plot.layout.showlegend) == ("diamond", False)
    kinds = [score(kind, 0.5, 100 + place)._replace(kind=kind) for place, kind in enumerate(KIND_SYMBOLS)]
    plot = plotted(charts.scaling_curve(kinds, None, "accuracy"))
    _, points, *legend = plot.data
    assert list(points.marker.symbol) == list(KIND_SYMBOLS.values())
    assert {trace.name: trace.marker.symbol for trace in legend} == KIND_SYMBOLS
    assert plot.layout.showlegend


def test_no_two_families_share_a_colour_of_a_family() -> None:
    names = [f"family-{number}" for number in range(len(SERIES_MARKERS) + 3)]
    models = [score(f"{name}-{size}", 0.5, size, name) for name in names for size in (100, 200)]
    plot = plotted(charts.scaling_curve(models, None, "accuracy"))
    colours = [trace.line.color for trace in plot.data[1:]]
    assert len(set(colours[: len(SERIES_MARKERS)])) == len(SERIES_MARKERS)
    assert set(colours[len(SERIES_MARKERS) :]) == {SOFT}
    assert {note.text for note in plot.layout.annotations} >= set(names)


def test_models_without_a_family_or_with_one_of_a_single_size_are_points() -> None:
    plot = plotted(
        charts.scaling_curve([*FAMILY, score("alone", 0.1, 100), score("phi-4", 0.3, 14000, "Phi")], None, "accuracy")
    )
    assert [(trace.name, trace.mode) for trace in plot.data[1:]] == [
        ("other models", "markers"),
        ("GPT-2", "lines+markers"),
    ]


def test_a_stepped_line_joins_the_models_that_nothing_of_their_size_beats_and_they_have_names() -> None:
    models = [score("small", 0.2, 1), score("beaten", 0.1, 5), score("level", 0.2, 7), score("large", 0.9, 8000)]
    plot = plotted(charts.scaling_curve(models, 0.15, "accuracy"))
    steps = plot.data[0]
    assert (steps.line.dash, plot.layout.shapes[0].line.dash) == (None, "dot"), "chance is dotted, this line is not"
    assert (list(steps.x), list(steps.y), steps.line.shape) == ([10**6, 8 * 10**9], [0.2, 0.9], "hv")
    assert {note.text for note in plot.layout.annotations} == {"small", "large", "chance"}


def test_of_many_unbeaten_models_the_best_are_named() -> None:
    models = [score(f"m{place}", place / 20, place) for place in range(1, MOST_NAMED + 3)]
    plot = plotted(charts.scaling_curve(models, None, "accuracy"))
    assert {note.text for note in plot.layout.annotations} == {model.label for model in models[2:]}


def test_intervals_are_drawn_where_they_do_not_cover_each_other() -> None:
    def models(number: int) -> list[SizedScore]:
        return [score(f"m{place}", 0.5, place)._replace(low=0.4, high=0.6) for place in range(1, number + 1)]

    _, few = plotted(charts.scaling_curve(models(MOST_INTERVALS), None, "accuracy")).data
    _, many = plotted(charts.scaling_curve(models(MOST_INTERVALS + 1), None, "accuracy")).data
    assert set(few.error_y.array) == {0.1}
    assert many.error_y.array is None


def test_hovers_have_interval_and_size_where_the_chart_has_few_points() -> None:
    first = score("m1", 0.5, 2)._replace(low=0.4, high=0.6)
    _, few = plotted(charts.scaling_curve([first], None, "accuracy")).data
    assert list(few.hovertext) == [" (0.400 to 0.600), 2 M parameters"]
    many = [first, *(score(f"m{place}", 0.5, place) for place in range(1, MOST_HOVERS + 1))]
    _, many_points, *_ = plotted(charts.scaling_curve(many, None, "accuracy")).data
    assert many_points.hovertext is None and "parameters" in many_points.hovertemplate


def test_chance_is_a_named_line_in_view() -> None:
    plot = plotted(charts.scaling_curve(FAMILY, 0.7, "accuracy"))
    assert "chance" in {note.text for note in plot.layout.annotations}
    assert plot.layout.yaxis.range[1] > 0.7
    assert plot.layout.shapes[0].y0 == 0.7
