"""The curve of scores against sizes: places of marks, lines, ticks and labels."""

from itertools import combinations
from math import hypot
from random import Random
from typing import Any

import pytest

from leaderboard.ui.charts.basics import SERIES_MARKERS
from leaderboard.ui.charts.curve import (
    HEIGHT,
    MOST_INTERVALS,
    MOST_LABELS,
    MOST_TICKS,
    SizedScore,
    best_of_size,
    curve,
)

WIDTHS = (360, 575, 900, 1160)


def score(label: str, value: float, millions: int, family: str = "") -> SizedScore:
    return SizedScore(label, value, None, None, millions * 10**6, family, True, f"/?search={label}")


def at(place: dict[str, Any], width: int) -> tuple[float, float]:
    return float(place["x"].removesuffix("%")) / 100 * width, float(place["y"])


def box(label: dict[str, Any], width: int) -> tuple[float, float, float, float]:
    """Return the left, right, top and bottom of a label in a curve of a width, with letters of seven pixels."""
    x, y = at(label, width)
    length = 7 * len(label["text"])
    left = x + label["dx"] - {"start": 0, "middle": length / 2, "end": length}[label["anchor"]]
    return left, left + length, y + label["dy"] - 11, y + label["dy"] + 3


@pytest.mark.parametrize("seed", range(8))
def test_no_label_is_nearer_to_another_mark_or_covers_a_label(seed: int) -> None:
    random = Random(seed)
    sizes = [125, 350, 1300, 2700, 6700, 7000, 8000, 13000]
    families = random.choices(["", "GPT-2", "Llama", "OPT"], k=random.choice([3, 12, 60]))
    shown = curve([score(f"m-{n}", random.random(), random.choice(sizes), of) for n, of in enumerate(families)], 0.2)
    assert min(1, len(families) < 20) <= len(shown["labels"]) <= MOST_LABELS
    for width in WIDTHS:
        marks = [at(mark, width) for mark in shown["marks"]]
        for label in shown["labels"]:
            left, right, top, bottom = box(label, width)
            distances = [hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom)) for x, y in marks]
            own = marks.index(at(label, width))
            assert distances[own] < 9 and distances[own] == min(distances), label["text"]
            assert sorted(distances)[1] > distances[own] + 1, label["text"]
        for one, other in combinations([box(label, width) for label in shown["labels"]], 2):
            assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


def test_a_family_is_a_line_in_its_colour_and_the_best_so_far_are_steps() -> None:
    shown = curve([score("xl", 0.5, 1500, "GPT-2"), score("s", 0.2, 124, "GPT-2"), score("alone", 0.1, 500)], None)
    xl, small, alone = shown["marks"]
    (line,) = shown["lines"]
    assert (line["x1"], line["y1"], line["x2"], line["y2"]) == (small["x"], small["y"], xl["x"], xl["y"])
    assert (line["colour"], xl["colour"], alone["colour"]) == (1, 1, 0)
    assert [(step["x1"], step["y1"], step["x2"], step["y2"]) for step in shown["steps"]] == [
        (small["x"], small["y"], xl["x"], small["y"]),
        (xl["x"], small["y"], xl["x"], xl["y"]),
    ]


def test_a_mark_says_its_model_its_figure_its_size_and_whose_it_is() -> None:
    of = score("a", 0.5, 7000)._replace(low=0.4, high=0.6)
    (mark,) = curve([of], None)["marks"]
    assert (mark["words"], mark["href"]) == ("a: 0.500 ± 0.100, 7 B parameters, measured here", "/?search=a")
    assert float(mark["interval"]["high"]) < float(mark["y"]) < float(mark["interval"]["low"])
    (mark,) = curve([of._replace(is_measured=False)], None)["marks"]
    assert mark["words"].endswith("published") and not mark["is_measured"]
    many = curve([of._replace(size=of.size + place) for place in range(MOST_INTERVALS + 1)], None)
    assert not any(mark["interval"] for mark in many["marks"]), "they would cover each other"


@pytest.mark.parametrize("highest", [0.004, 0.37, 1.0, 1234.0])
def test_the_numbers_at_the_side_are_few_and_round_and_stand_where_they_belong(highest: float) -> None:
    shown = curve([score("a", highest, 100), score("b", highest / 3, 10)], highest / 5)
    values = [float(value["text"]) for value in shown["values"]]
    places = [float(value["y"]) for value in shown["values"]]
    assert 2 <= len(values) <= MOST_TICKS and values[0] == 0
    assert all(len(f"{value:g}".strip("0.").replace("0.", "")) <= 3 for value in values)
    assert all(0 <= place <= HEIGHT for place in places) and places == sorted(places, reverse=True)
    assert float(shown["marks"][0]["y"]) < float(shown["chance"]) < places[0]
    assert shown["summary"].endswith(f"Guessing reaches {highest / 5:.3f}.")


def test_the_best_of_their_size_beat_all_that_are_not_larger() -> None:
    scores = [score("a", 0.5, 3), score("b", 0.2, 1), score("c", 0.4, 2), score("d", 0.3, 1), score("e", 0.5, 4)]
    assert [best.label for best in best_of_size(scores)] == ["d", "c", "a"], "e is no better than a"


def test_a_line_has_the_name_of_its_family_at_its_end_and_the_best_of_their_size_have_their_own() -> None:
    family = [score("gpt2-xl", 0.5, 1500, "GPT-2"), score("gpt2", 0.2, 124, "GPT-2")]
    shown = curve([*family, score("alone", 0.1, 300), score("phi-4", 0.3, 14000, "Phi")], None)
    assert {label["text"] for label in shown["labels"]} == {"GPT-2", "gpt2"}
    assert len(shown["lines"]) == 1, "a family of a single size has no line"


def test_of_many_unbeaten_models_the_best_are_named() -> None:
    models = [score(f"m{place}", place / 20, 10**place) for place in range(1, MOST_LABELS + 3)]
    assert {label["text"] for label in curve(models, None)["labels"]} == {model.label for model in models[2:]}


def test_no_label_covers_the_line_of_an_interval() -> None:
    scores = [score(name, value, size) for name, value, size in (("bert-tiny", 0.64, 18), ("gpt2-tiny", 0.6, 22))]
    wide = [score._replace(low=score.value - 0.1, high=score.value + 0.1) for score in scores]
    for width in WIDTHS:
        shown = curve(wide, None)
        for left, right, top, bottom in (box(label, width) for label in shown["labels"]):
            for mark in shown["marks"]:
                ends = mark["interval"]
                is_beside = float(ends["low"]) <= top or bottom <= float(ends["high"])
                assert is_beside or not left < at(mark, width)[0] < right
    assert [label["text"] for label in curve(wide, None)["labels"]] == ["bert-tiny"]


def test_a_mark_among_others_has_no_label() -> None:
    crowd = [score(f"crowd-{place}", 0.5 + place / 10000, 1000 + place) for place in range(20)]
    shown = curve([*crowd, score("alone", 0.1, 10)], None)
    assert [label["text"] for label in shown["labels"]] == ["alone"]


def test_no_two_families_share_a_colour_of_a_family() -> None:
    names = [f"family-{number}" for number in range(len(SERIES_MARKERS) + 3)]
    lines = curve([score(f"{of}-{size}", 0.5, size, of) for of in names for size in (100, 200)], None)["lines"]
    assert [line["colour"] for line in lines] == [*range(1, len(SERIES_MARKERS) + 1), 0, 0, 0]
