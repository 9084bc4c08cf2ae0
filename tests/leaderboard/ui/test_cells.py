"""How values look on a page, and what CSV gets for them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.models import Run, Score
from leaderboard.ui import cells


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6_700_000_000_000, "6.7 T"),
        (6_700_000_000, "6.7 B"),
        (999_600_000, "1 B"),
        (134_515_008, "135 M"),
        (4_385, "4.38 K"),
        (999, "999"),
        (None, "–"),
    ],
)
def test_parameters_have_three_digits_and_a_unit(value: int | None, text: str) -> None:
    assert (cells.parameters(value).value, cells.parameters(value).text) == (value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.6234, "0.623"), (0.0, "0.000"), (6e-21, "6 × 10⁻²¹"), (-3e-5, "−3 × 10⁻⁵"), (None, "not measured")],
)
def test_a_score_never_looks_like_a_zero_that_it_is_not(value: float | None, text: str) -> None:
    assert cells.score(value).text == text


def test_a_negative_number_has_a_minus_sign() -> None:
    for cell in (cells.number(-1.5), cells.score(-1.5), cells.signed(-1.5), cells.bound(-1.5)):
        assert (cell.value, cell.text[:2]) == (-1.5, "−1")


def test_a_score_draws_its_interval_in_percent_of_the_line() -> None:
    cell = cells.score(0.5, 0.25, 0.75)
    assert (cell.bar, cell.note) == (cells.Bar(50, 25, 75), "95 % interval 0.250 to 0.750")


def test_a_score_without_an_interval_draws_only_its_dot() -> None:
    cell = cells.score(0.5)
    assert (cell.bar, cell.note) == (cells.Bar(50), "")


@pytest.mark.parametrize("value", [3.2, -0.1])
def test_a_score_beyond_0_to_1_has_no_bar(value: float) -> None:
    assert cells.score(value).bar is None


@pytest.mark.parametrize(
    ("score", "text", "note"),
    [
        (None, "not measured", ""),
        (Score(value=None, n=0), "no countable questions", ""),
        (Score(value=None, n=12), "no mean", "A part of this mean has no countable questions."),
        (Score(value=0.25, n=12, low=0.2, high=0.3), "0.250", "95 % interval 0.200 to 0.300"),
    ],
)
def test_a_stored_score_without_a_value_names_what_is_missing(score: Score | None, text: str, note: str) -> None:
    cell = cells.of_score(score)
    assert (cell.text, cell.note) == (text, note)
    assert cell.value == (score and score.value)
    assert cell.kind == ("missing" if cell.value is None else "score")


def test_the_clustered_interval_is_in_the_tooltip_and_read_out() -> None:
    row = Score(value=0.25, n=12, low=0.2, high=0.3, cluster_low=0.1, cluster_high=0.5)
    cell = cells.of_score(row)
    expected = "95 % interval 0.200 to 0.300 on these relations, 0.100 to 0.500 on other relations like these"
    assert (cell.note, cell.spoken) == (expected, expected)
    assert cells.of_score(Score(value=0.25, n=12, low=0.2, high=0.3)).spoken == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(20, "under a minute"), (97, "1.5 min"), (300, "5 min"), (610, "10 min"), (5400, "1.5 h"), (216000, "2.5 days")],
)
def test_a_time_to_wait_is_rounded_for_a_page_and_has_its_seconds_in_csv(seconds: int, text: str) -> None:
    cell = cells.duration(timedelta(seconds=seconds))
    assert (cell.value, cell.text) == (seconds, text) == (seconds, cells.approximate_time(timedelta(seconds=seconds)))


def test_a_number_of_items_shows_a_fraction_only_where_it_has_one() -> None:
    assert (cells.items(1226.0).text, cells.items(2028.5).text) == ("1,226", "2,028.5")


def test_a_number_of_items_that_nobody_states_is_unknown() -> None:
    assert [(cell.value, cell.text) for cell in map(cells.items, (0, None))] == [(None, "–"), (None, "–")]


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(12_345, 3, "12,345"), (12_345.6789, 3, "12,345.679"), (0.5, 1, "0.5")]
)
def test_a_float_is_rounded_and_an_integer_is_not(value: float, digits: int, text: str) -> None:
    cell = cells.number(value, digits)
    assert (cell.value, cell.text) == (value, text)


def test_a_difference_has_its_sign() -> None:
    assert [cells.signed(value).text for value in (0.25, 0.0, -0.25)] == ["+0.250", "+0.000", "−0.250"]


def test_an_end_of_an_interval_of_differences_keeps_its_kind() -> None:
    assert [cells.signed(value, "bound").kind for value in (0.25, None)] == ["bound", "bound"]


@pytest.mark.parametrize(("value", "text"), [(0.0004, "< 0.001"), (0.001, "0.001"), (0.25, "0.250")])
def test_a_small_p_value_is_shown_as_a_bound(value: float, text: str) -> None:
    assert (cells.p_value(value).value, cells.p_value(value).text) == (value, text)


def test_shares_and_progress_have_a_bar_as_long_as_they_are() -> None:
    assert (cells.share(0.25).text, cells.share(0.25).bar) == ("0.250", cells.Bar(25, 0, 25))
    assert (cells.percent(25).text, cells.percent(25).bar) == ("25 %", cells.Bar(25, 0, 25))


@pytest.mark.parametrize(("value", "answer"), [(True, "yes"), (False, "no")])
def test_an_answer_is_yes_or_no_on_a_page_and_true_or_false_in_csv(value: bool, answer: str) -> None:
    cell = cells.yes_no(value)
    assert (cell.value, cell.text, cell.kind) == (value, answer, answer)


@pytest.mark.parametrize(
    ("cell", "text", "uncertainty", "note"),
    [
        (cells.score(0.439, 0.412, 0.466), "0.439", "± 0.027", "95 % interval 0.412 to 0.466"),
        (cells.score(0.439), "0.439", "", ""),
        (cells.signed(-0.1, low=-0.2, high=0.1), "−0.100", "(−0.200 to 0.100)", "95 % interval −0.200 to 0.100"),
        (cells.score(0.0, 0.0, 0.354), "0.000", "(0.000 to 0.354)", "95 % interval 0.000 to 0.354"),
        (cells.score(0.997, 0.94, 1.0), "0.997", "(0.940 to 1.000)", "95 % interval 0.940 to 1.000"),
        (cells.signed(0.1), "+0.100", "", ""),
    ],
)
def test_an_interval_stands_behind_the_value_with_two_ends_where_it_is_skewed(
    cell: cells.Cell, text: str, uncertainty: str, note: str
) -> None:
    assert (cell.text, cell.uncertainty, cell.note) == (text, uncertainty, note)


@pytest.mark.parametrize(
    ("provenance", "mark", "word"),
    [
        ("measured", "measured", "measured here"),
        ("published", "published", "published"),
        ("third-party", "third-party", "uploaded by a third party"),
        ("baseline", "", ""),
    ],
)
def test_a_score_is_marked_with_where_it_comes_from(provenance: str, mark: str, word: str) -> None:
    cell = cells.of_run(cells.score(0.5), Run(provenance=provenance))
    assert (cell.mark, cell.mark_word) == (mark, word)


def test_the_tooltip_of_a_text_that_may_be_cut_has_all_of_it() -> None:
    long = "a" * (cells.LONGEST + 1)
    assert [cells.text(value).tooltip for value in ("short", long)] == ["", long]
    assert cells.text(long, note="why").tooltip == "why"


def test_a_bar_has_a_tick_at_chance() -> None:
    assert cells.score(0.5, 0.25, 0.75, 0.2).bar == cells.Bar(50, 25, 75, chance=20)


@pytest.mark.parametrize(
    "cell",
    [
        cells.number(None),
        cells.items(None),
        cells.signed(None),
        cells.bound(None),
        cells.parameters(None),
        cells.duration(None),
        cells.day(None),
        cells.moment(None),
        cells.yes_no(None),
        cells.stored(None),
    ],
)
def test_a_missing_value_is_a_dash_and_empty_in_csv(cell: cells.Cell) -> None:
    assert (cell.value, cell.text) == (None, "–")


@pytest.mark.parametrize(
    ("value", "csv", "text"),
    [
        ("Paris", "Paris", "Paris"),
        (3, 3, "3"),
        (1234.5678, 1234.5678, "1,234.57"),
        (True, True, "yes"),
        ([True, False], "true; false", "yes; no"),
        (["Paris", "Rome"], "Paris; Rome", "Paris; Rome"),
        ([0.123456, 2], "0.123456; 2", "0.12; 2"),
        ([], "", ""),
    ],
)
def test_a_stored_value_of_any_type_has_a_cell(value: Any, csv: cells.Raw, text: str) -> None:
    cell = cells.stored(value)
    assert (cell.value, cell.text) == (csv, text)


def test_stored_text_keeps_its_language() -> None:
    assert [cells.stored(value, "ar").lang for value in ("باريس", ["باريس"])] == ["ar", "ar"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The capital is paris, as Paris says.", ("The capital is ", "paris", ", as Paris says.")),
        ("Parisians live there.", None),
        ("It costs $5 (five).", None),
    ],
)
def test_a_word_is_highlighted_as_a_whole_in_any_case_where_it_comes_first(
    text: str, pieces: tuple[str, str, str] | None
) -> None:
    assert cells.marked(text, "Paris").pieces == pieces


def test_a_word_with_special_characters_is_highlighted_as_it_is() -> None:
    assert cells.marked("It costs (5.0) euros.", "(5.0)").pieces == ("It costs ", "(5.0)", " euros.")


def test_several_names_are_a_list_on_a_page_and_one_text_in_csv() -> None:
    cell = cells.several([("Paris", "0.6"), ("Rome", "0.3")], lang="fr")
    assert (cell.value, cell.several) == ("Paris (0.6); Rome (0.3)", (("Paris", "0.6"), ("Rome", "0.3")))


def test_times_are_local_and_csv_has_their_zone() -> None:
    with timezone.override("Asia/Tokyo"):
        time = datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)
        assert (cells.day(time).value, cells.day(time).text) == ("2026-02-01", "2026-02-01")
        cell = cells.moment(time)
    assert (cell.value, cell.text) == ("2026-02-01T08:30:15+09:00", "2026-02-01 08:30")
