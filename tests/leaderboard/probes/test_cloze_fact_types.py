"""The fact types that a reader chose, and the macro-averages over them."""

import pytest

from leaderboard.models import Run, Score
from leaderboard.probes.cloze import choice_suffix, choose, macro_averages
from probing.analysis.breakdowns import CELL
from tests.leaderboard import factories as make

CITIES, RIVERS, DESERTS = "city_country", "river_countries", "desert_continent"


@pytest.fixture
def run(db: None) -> Run:
    """A run with a major and a minor fact type; some sentences of the major one are leaky."""
    done = make.run(make.model(), make.benchmark(probe="cloze"), Run.State.FINISHED)
    make.score(done, 0.5, "fact_type", CITIES)
    make.score(done, 0.3, "fact_type", RIVERS)
    make.score(done, 0.9, CELL, f"{CITIES} major leaky")
    make.score(done, 0.4, CELL, f"{CITIES} major not leaky")
    make.score(done, 0.3, CELL, f"{RIVERS} minor not leaky")
    return done


@pytest.mark.parametrize(
    ("major_only", "no_leaks", "expected"),
    [
        (False, False, {CITIES: 0.5, RIVERS: 0.3}),
        (True, False, {CITIES: 0.5}),
        (False, True, {CITIES: 0.4, RIVERS: 0.3}),
        (True, True, {CITIES: 0.4}),
    ],
)
def test_fact_types_can_be_narrowed(run: Run, major_only: bool, no_leaks: bool, expected: dict[str, float]) -> None:
    chosen = choose([run.pk], major_only, no_leaks)
    assert chosen.divided
    assert {key: scores["accuracy"].value for key, scores in chosen.runs[run.pk].items()} == expected


def test_published_figures_cannot_be_narrowed(db: None) -> None:
    printed = make.published(make.benchmark(probe="cloze"))
    make.score(printed, 0.5, "fact_type", CITIES)
    make.score(printed, 0.5, "fact_type", "unknown_type")
    chosen = choose([printed.pk])
    assert not chosen.divided
    assert list(chosen.runs[printed.pk]) == [CITIES]
    assert choose([printed.pk], no_leaks=True).runs == {}


def test_macro_averages_are_over_all_fact_types_then_by_head() -> None:
    types = {
        key: {"accuracy": Score(metric="accuracy", value=value, n=10)}
        for key, value in ((CITIES, 0.2), (RIVERS, 0.6), (DESERTS, 1.0))
    }
    whole, *heads = macro_averages(types)
    assert (whole.name, whole.fact_types, whole.main and whole.main.value) == ("All fact types", 3, pytest.approx(0.6))
    assert sum(row.fact_types for row in heads) == 3


def test_macro_averages_have_both_intervals_and_one_fact_type_only_the_first() -> None:
    types = {key: {"accuracy": Score(metric="accuracy", value=0.5, n=10)} for key in (CITIES, RIVERS)}
    whole, head, *_ = macro_averages(types)
    assert whole.main and head.main
    assert whole.main.cluster_low < whole.main.low < 0.5 < whole.main.high < whole.main.cluster_high
    alone = macro_averages({CITIES: types[CITIES]})[0].main
    assert alone and (alone.cluster_low, alone.cluster_high) == (None, None)


def test_a_title_says_what_was_chosen() -> None:
    assert choice_suffix(True, True) == ", major only, without leaky sentences"
    assert choice_suffix(False, False) == ""
