"""Scaling curves: lines of families, marks, labels and the chance line."""

from datetime import date
from itertools import combinations
from math import hypot, log10
from random import Random
from typing import Any

import pytest

from leaderboard.ui import charts
from leaderboard.ui.charts.basics import KIND_SYMBOLS, SERIES_MARKERS, SOFT
from leaderboard.ui.charts.scaling_chart import (
    DATE,
    MOST_HOVERS,
    MOST_INTERVALS,
    MOST_LABELS,
    SizedScore,
    best_and_largest,
    best_of_size,
    on_date_axis,
)
from tests.leaderboard.ui.charts.plotted import plotted


def score(label: str, value: float, millions: int, family: str = "", is_measured: bool = True) -> SizedScore:
    return SizedScore(label, value, None, None, millions * 10**6, family, is_measured, f"/runs/{millions}/")


FAMILY = [score("gpt2-xl", 0.5, 1500, "GPT-2"), score("gpt2", 0.2, 124, "GPT-2", is_measured=False)]


def test_a_family_is_a_line_by_size_with_its_name_at_the_end() -> None:
    plot = plotted(charts.scaling_curve(FAMILY, None, "accuracy"))
    _, line = plot.data
    assert (line.name, line.mode, list(line.x)) == ("GPT-2", "lines+markers", [124 * 10**6, 1500 * 10**6])
    assert [(note.text, note.y) for note in plot.layout.annotations] == [("GPT-2", 0.5), ("gpt2", 0.2)]


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


def test_the_best_of_their_size_beat_all_that_are_not_larger() -> None:
    scores = [score("a", 0.5, 3), score("b", 0.2, 1), score("c", 0.4, 2), score("d", 0.3, 1), score("e", 0.5, 4)]
    assert [best.label for best in best_of_size(scores)] == ["d", "c", "a"], "e is no better than a"


def test_of_many_unbeaten_models_the_best_are_named() -> None:
    models = [score(f"m{place}", place / 20, 10**place) for place in range(1, MOST_LABELS + 3)]
    plot = plotted(charts.scaling_curve(models, None, "accuracy"))
    assert {note.text for note in plot.layout.annotations} == {model.label for model in models[2:]}


def test_a_mark_among_others_has_no_label() -> None:
    crowd = [score(f"crowd-{place}", 0.5 + place / 10000, 1000 + place) for place in range(20)]
    plot = plotted(charts.scaling_curve([*crowd, score("alone", 0.1, 10)], None, "accuracy"))
    assert [note.text for note in plot.layout.annotations] == ["alone"]


ANCHORS = {"left": 0.0, "center": -0.5, "right": -1.0, "bottom": 0.0, "middle": -0.5, "top": -1.0, None: -0.5}


def drawn(note: Any, area: tuple[int, int], axes: tuple[list[float], list[float]]) -> list[float]:
    """Return the left, right, bottom and top of a label as Plotly draws it, with letters of seven pixels."""
    ends = []
    sizes, anchors, shifts = (7 * len(note.text), 16), (note.xanchor, note.yanchor), (note.xshift, note.yshift)
    for at, (low, high), pixels, size, anchor, shift in zip(
        (note.x, note.y), axes, area, sizes, anchors, shifts, strict=True
    ):
        start = (at - low) / (high - low) * pixels + (shift or 0) + ANCHORS[anchor] * size
        ends += [start, start + size]
    return ends


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [400, 560, 900])
def test_no_label_is_nearer_to_another_mark_or_covers_a_label(seed: int, width: int) -> None:
    random = Random(seed)
    models = [
        score(
            f"model-{number}", random.random(), random.choice([125, 350, 1300, 2700, 6700, 7000, 8000, 13000]), family
        )
        for number, family in enumerate(random.choices(["", "GPT-2", "Llama", "OPT"], k=random.choice([3, 12, 60])))
    ]
    plot = plotted(charts.scaling_curve(models, 0.2, "accuracy"))
    axes = (plot.layout.xaxis.range, plot.layout.yaxis.range)
    marks = [
        [(at - low) / (high - low) * pixels for at, (low, high), pixels in zip(pair, axes, (width, 125), strict=True)]
        for pair in ((log10(model.size), model.value) for model in models)
    ]
    boxes = []
    notes = [note for note in plot.layout.annotations if note.xref != "paper"]
    for note in notes:
        left, right, bottom, top = box = drawn(note, (width, 125), axes)
        distances = [hypot(max(left - x, 0, x - right), max(bottom - y, 0, y - top)) for x, y in marks]
        own = [(log10(model.size), model.value) for model in models].index((note.x, note.y))
        nearest = sorted(range(len(models)), key=lambda number: distances[number])
        assert nearest[0] == own and distances[own] < 9, note.text
        assert len(models) == 1 or distances[nearest[1]] > distances[own] + 1, note.text
        boxes.append(box)
    assert min(1, len(models) < 20) <= len(notes) <= MOST_LABELS
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


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


def test_of_sized_scores_the_best_and_the_largest_are_named() -> None:
    small = SizedScore("small", 0.6, 0.55, 0.65, 10**8, "", True, "/runs/1/")
    large = SizedScore("large", 0.5, None, None, 3 * 10**9, "", True, "/runs/2/")
    assert best_and_largest([large, small]) == "Best: small (100 M), 0.600 ± 0.050. Largest: large (3 B), 0.500."
    assert best_and_largest([large]) == "Best and largest: large (3 B), 0.500."
