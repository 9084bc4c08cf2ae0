"""How values look."""

from datetime import timedelta

import pytest

from leaderboard.display import cells, labels


@pytest.mark.parametrize(
    ("value", "text"), [(134_515_008, "135 M"), (6_700_000_000, "6.7 B"), (999, "999"), (None, "–")]
)
def test_parameters_have_three_figures_and_a_unit(value: int | None, text: str) -> None:
    assert cells.parameters(value).text == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.6234, "0.623"), (0.0, "0.000"), (6e-21, "6e-21"), (None, "not measured")]
)
def test_a_tiny_score_is_not_displayed_as_zero(value: float | None, text: str) -> None:
    assert cells.score(value).text == text


def test_a_negative_figure_has_a_minus() -> None:
    for cell in (cells.number(-1.5), cells.score(-1.5), cells.signed(-1.5), cells.bound(-1.5)):
        assert (cell.value, cell.text[:2]) == (-1.5, "−1")


def test_a_score_draws_its_interval_in_percent_of_the_line() -> None:
    assert cells.score(0.5, 0.25, 0.75).bar == cells.Bar(50, 25, 75)


def test_a_score_above_one_has_no_bar() -> None:
    assert cells.score(3.2).bar is None


@pytest.mark.parametrize(("seconds", "text"), [(20, "under a minute"), (300, "5 min"), (5400, "1.5 h")])
def test_a_duration_is_rounded_to_a_common_unit(seconds: int, text: str) -> None:
    assert cells.about(timedelta(seconds=seconds)) == text


def test_items_that_weigh_less_than_one_keep_their_fraction() -> None:
    assert (cells.items(1226.0).text, cells.items(2028.5).text) == ("1,226", "2,028.5")


@pytest.mark.parametrize(
    ("metric", "text"), [("p_at_1", "P@1"), ("accuracy", "accuracy"), ("log10_p_welch", "log₁₀ p, Welch")]
)
def test_a_metric_within_a_sentence_keeps_the_capitals_of_names(metric: str, text: str) -> None:
    assert labels.within(labels.metric(metric)) == text
