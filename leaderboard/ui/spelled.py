"""Figures in words: numbers, scores with their intervals, p-values, sizes and times, as pages and files write them."""

from datetime import timedelta
from functools import lru_cache
from typing import Any

from leaderboard.models import Score

NO_VALUE = "–"
NOT_MEASURED = "not measured"
SKEW = 0.1  # of half an interval: how far its middle may lie from the value for the ± of both ends
P_VALUE = "p_value"  # what the names of metrics begin with that are p-values, as papers print them
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
remembered = lru_cache(maxsize=2**13, typed=True)


@remembered
def number(value: float | int | None, digits: int = 3) -> str:
    """Write a number with commas between thousands, a float with `digits` decimals."""
    if value is None:
        return NO_VALUE
    value = value or abs(value)  # −0.0 is 0
    return with_minus(f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}")


@remembered
def items(value: float | None) -> str:
    """Write a number of items; it can be a fraction, as an item of several groups counts in part for each.

    Figures of papers that state no number have 0 of them in the database, which is shown as unknown.
    """
    if not value:
        return NO_VALUE
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


@remembered
def parameters(value: int | None) -> str:
    """Write a number of parameters with three digits and a unit, such as 135 M or 6.7 B; 999.6 M becomes 1 B."""
    if value is None:
        return NO_VALUE
    rounded = int(float(f"{value:.2e}"))
    for size, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if rounded >= size:
            return f"{rounded / size:.3g} {unit}"
    return str(value)


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


def signed(value: float | None) -> str:
    return NO_VALUE if value is None else with_minus(f"{value:+.3f}")


def p_value(value: float | None) -> str:
    """Write the p-value of a comparison, with three digits and its power of ten where it is small.

    A resampled one of 0 has no power of ten.
    """
    if value is None:
        return NO_VALUE
    if value and value < 0.001:
        return power_of_ten(value)
    return f"{value:.3f}" if value else "< 0.001"


def score_note(row: Score) -> str:
    """Name the ends of a score's interval, and of the one that is clustered by relation, for a tooltip."""
    note = interval_note(row.low, row.high)
    if not note or row.cluster_low is None or row.cluster_high is None:
        return note
    clustered = f"{row.cluster_low:.3f} to {row.cluster_high:.3f} on other relations like these"
    return f"{note} on these relations, {clustered}"


def stored(value: Any) -> str:
    """Write a value of any type that an items file has: yes and no, and the members of a list."""
    if isinstance(value, list):
        return "; ".join(stored(member) for member in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else number(value, 2)


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
