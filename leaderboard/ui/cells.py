"""Cells of tables: a value for CSV together with the text, the note and the bar that a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from django.utils import timezone

from leaderboard.models import Run, Score

Raw = str | int | float | bool | None
NO_VALUE = "–"
NOT_MEASURED = "not measured"
PROVENANCES = dict(Run.Provenance.choices)
NOT_REPORTED = "not reported"
SKEW = 0.1  # of half an interval: how far its middle may lie from the value for the ± of both ends
P_VALUE = "p_value"  # what the names of metrics begin with that are p-values, as papers print them
LONGEST = 32  # letters of a text that is shown without being repeated in its tooltip


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: CSV gets `value` in full, a page shows `text`, with `bar` drawn beside it.

    `note` is a tooltip. `kind` is the CSS class of the text. `pieces` is the text in three parts, the middle one
    highlighted. `lang` is the language of the text where it differs from the page's. `several` holds names, each with
    a remark, that the page shows as a list in place of the text. `spoken` is read out behind the text, for readers to
    whom a tooltip is not shown. `uncertainty` is the interval as it is shown behind the text, such as "± 0.027".
    `mark` is the provenance of a score, shown before the text as a filled (measured here) or hollow circle. `dots` are
    drawn beside the text, one for each of several values.
    """

    value: Raw
    text: str
    href: str = ""
    note: str = ""
    bar: "Bar | None" = None
    kind: str = "text"
    pieces: tuple[str, str, str] | None = None
    lang: str = ""
    several: tuple[tuple[str, str], ...] = ()
    spoken: str = ""
    uncertainty: str = ""
    mark: str = ""
    dots: "tuple[Dot, ...]" = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether the cell has neither a value nor anything else to see or to follow."""
        return self.value in (None, "") and not (self.href or self.several or self.dots)

    @property
    def tooltip(self) -> str:
        """The note, or the whole of a text that the page may cut."""
        return self.note or (self.text if len(self.text) > LONGEST else "")

    @property
    def mark_word(self) -> str:
        """The mark in words."""
        return PROVENANCES.get(self.mark, "").lower()


class Dot(NamedTuple):
    """One of several dots on a line from 0 to 1, in percent of its length; published figures are hollow."""

    at: float
    hollow: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A dot at `at` and its interval on a line from 0 to 1, in percent of the line's length.

    `least` and `most` are the ends of a second, thin interval, for example over wordings. A tick stands at `chance`.
    """

    at: float
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    chance: float | None = None


# Texts and cells that are made of a few plain values are remembered: most rows of a page are those of the page before.
remembered = lru_cache(maxsize=2**13, typed=True)


@remembered
def text(value: str, href: str = "", note: str = "", lang: str = "") -> Cell:
    return Cell(value, value, href, note, lang=lang)


def several(names: Sequence[tuple[str, str]], lang: str = "") -> Cell:
    """List names, each with a remark; a page keeps their order whichever direction they are written in."""
    joined = "; ".join(f"{name} ({remark})" for name, remark in names)
    return Cell(joined, joined, lang=lang, kind="several", several=tuple(names))


@remembered
def number(value: float | int | None, digits: int = 3) -> Cell:
    """Show a number with commas between thousands, a float with `digits` decimals."""
    if value is None:
        return _no_value("number")
    value = value or abs(value)  # −0.0 and 0.0 are one and the same for the memory
    rounded = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
    return Cell(value, with_minus(rounded), kind="number")


@remembered
def items(value: float | None) -> Cell:
    """Show a number of items; it can be a fraction, as an item of several groups counts in part for each.

    Figures of papers that state no number have 0 of them in the database, which is shown as unknown.
    """
    if not value:
        return _no_value("number")
    return Cell(value, f"{value:,.0f}" if value == int(value) else f"{value:,.1f}", kind="number")


@remembered
def score(
    value: float | None, low: float | None = None, high: float | None = None, chance: float | None = None
) -> Cell:
    """Show a score with its interval, which is a note as well, and both as a bar if it is a share from 0 to 1.

    The bar has a tick at `chance`.
    """
    if value is None:
        return Cell(None, NOT_MEASURED, kind="missing")
    value = value or abs(value)
    bar = None
    if 0 <= value <= 1:
        bar = Bar(100 * value, _percentage(low), _percentage(high), chance=_percentage(chance))
    return Cell(
        value, figure(value), "", interval_note(low, high), bar, "score", uncertainty=uncertainty(value, low, high)
    )


def not_reported() -> Cell:
    """Show that a publication does not have a figure."""
    return Cell(None, NOT_REPORTED, kind="missing")


def of_score(row: Score | None, chance: float | None = None) -> Cell:
    """Show a stored score; one without a value was measured, but it or a part of its mean has no countable items."""
    if row is None:
        return score(None)
    if row.value is not None and row.metric.startswith(P_VALUE):
        return power(row.value)
    if row.value is not None:
        return _with_clustered(score(row.value, row.low, row.high, chance), row)
    if row.n:
        return Cell(None, "no mean", note="A part of this mean has no countable questions.", kind="missing")
    return Cell(None, "no countable questions", kind="missing")


def _with_clustered(cell: Cell, row: Score) -> Cell:
    """Add the interval that is clustered by relation, where there is one, to the note and to what is read out."""
    note = score_note(row)
    return cell if note == cell.note else replace(cell, note=note, spoken=note)


def score_note(row: Score) -> str:
    """Name the ends of a score's interval, and of the one that is clustered by relation, for a tooltip."""
    note = interval_note(row.low, row.high)
    if not note or row.cluster_low is None or row.cluster_high is None:
        return note
    clustered = f"{row.cluster_low:.3f} to {row.cluster_high:.3f} on other relations like these"
    return f"{note} on these relations, {clustered}"


def share(value: float) -> Cell:
    """Show a share between 0 and 1 with a bar as long as it."""
    return Cell(value, f"{value:.3f}", bar=Bar(100 * value, 0, 100 * value), kind="share")


def approximate_time(time: timedelta) -> str:
    """Round a time to wait to half minutes, to minutes from ten on, or to tenths of an hour or of a day."""
    seconds = time.total_seconds()
    if seconds < 60:
        return "under a minute"
    if seconds < 600:
        return f"{round(seconds / 30) / 2:g} min"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / (24 * 3600):.1f} days"


def signed(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """Show a difference with its sign, and with its interval where it has one."""
    if value is None:
        return _no_value("number")
    text, note = with_minus(f"{value:+.3f}"), interval_note(low, high)
    return Cell(value, text, note=note, kind="number", uncertainty=uncertainty(value, low, high))


def of_run(cell: Cell, run: Run) -> Cell:
    """Mark a score as measured here or published; scores that need no model have no mark."""
    return cell if run.provenance == Run.Provenance.BASELINE else with_mark(cell, run.provenance)


@remembered
def with_mark(cell: Cell, provenance: str) -> Cell:
    """Show before a score whose it is."""
    return replace(cell, mark=provenance)


def power(value: float | None, sign: str = "") -> Cell:
    """Show a p-value with the digits that papers print, such as 5.98 × 10⁻⁴; `sign` as in `power_of_ten`."""
    return _no_value("number") if value is None else Cell(value, power_of_ten(value, 2, sign), kind="number")


def p_value(value: float) -> Cell:
    """Show the p-value of a comparison, with three digits and its power of ten where it is small.

    A resampled one of 0 has no power of ten.
    """
    if value and value < 0.001:
        return power(value)
    return Cell(value, f"{value:.3f}" if value else "< 0.001", kind="number")


def yes_no(value: bool | None) -> Cell:
    """Show yes or no, or a dash where the answer is unknown; CSV gets true or false."""
    if value is None:
        return _no_value()
    answer = "yes" if value else "no"
    return Cell(value, answer, kind=answer)


def written(value: Raw) -> str | int | float | None:
    """Return a value as CSV has it: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else value


def stored(value: Any, lang: str = "") -> Cell:
    """Show a value of any type that an items file has; a list shows its members."""
    if isinstance(value, list):
        members = [stored(member, lang) for member in value]
        return Cell(
            "; ".join(str(written(cell.value)) for cell in members), "; ".join(cell.text for cell in members), lang=lang
        )
    if value is None or isinstance(value, bool):
        return yes_no(value)
    return text(value, lang=lang) if isinstance(value, str) else number(value, 2)


def bound(value: float | None) -> Cell:
    """Show an end of an interval, in fainter type than the score."""
    return _no_value("bound") if value is None else Cell(value, with_minus(f"{value:.3f}"), kind="bound")


@remembered
def parameters(value: int | None) -> Cell:
    """Show a number of parameters with three digits and a unit, such as 135 M or 6.7 B; 999.6 M becomes 1 B."""
    if value is None:
        return _no_value("number")
    rounded = int(float(f"{value:.2e}"))
    for size, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if rounded >= size:
            return Cell(value, f"{rounded / size:.3g} {unit}", kind="number")
    return Cell(value, str(value), kind="number")


@remembered
def day(value: datetime | None) -> Cell:
    """Show the local date of a time."""
    if value is None:
        return _no_value("date")
    date = timezone.localtime(value).date().isoformat()
    return Cell(date, date, kind="date")


def _no_value(kind: str = "text") -> Cell:
    return Cell(None, NO_VALUE, kind=kind)


def _percentage(share: float | None) -> float | None:
    return None if share is None else 100 * share


# Figures and their intervals as text.


SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(value: float) -> str:
    """Write a number with three decimals, or as a digit and a power of ten where these would make it zero."""
    if abs(value) >= 0.0005 or not value:
        return with_minus(f"{value:.3f}")
    return power_of_ten(value, 0)


def power_of_ten(value: float, digits: int = 2, sign: str = "") -> str:
    """Write a number as a power of ten with `digits` decimals before it, such as 5.98 × 10⁻⁴.

    `sign`: "+" for a sign before positive numbers as well.
    """
    decimals, power = f"{value:{sign}.{digits}e}".split("e")
    return with_minus(f"{decimals} × 10{str(int(power)).translate(SUPERSCRIPTS)}")


@remembered
def uncertainty(value: float, low: float | None, high: float | None, digits: int = 3) -> str:
    """Return an interval as it stands behind its value: "± 0.027", or "(0.000 to 0.354)" where that would be untrue.

    Half the width is only true where the ends are equally far from the value, but for a tenth of it. There is no text
    without an interval.
    """
    if low is None or high is None:
        return ""
    half = (high - low) / 2
    if abs((low + high) / 2 - value) > SKEW * half:
        first, last = with_minus(f"{low:.{digits}f}"), with_minus(f"{high:.{digits}f}")
        return f"({first} to {last})"
    return f"± {half:.{digits}f}"


def figure_with_uncertainty(value: float, low: float | None, high: float | None) -> str:
    """Write a number with its interval, if it has one: 0.412 ± 0.027, or 0.000 (0.000 to 0.354)."""
    return " ".join(filter(None, [figure(value), uncertainty(value, low, high)]))


@remembered
def interval_note(low: float | None, high: float | None) -> str:
    """Name the ends of an interval, for a tooltip."""
    if low is None or high is None:
        return ""
    first, last = with_minus(f"{low:.3f}"), with_minus(f"{high:.3f}")
    return f"95 % interval {first} to {last}"


def with_minus(text: str) -> str:
    """Replace a leading hyphen by a minus sign."""
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text
