"""Figures and their intervals as text."""

from functools import lru_cache

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Texts and cells that are made of a few plain values are remembered: most rows of a page are those of the page before.
remembered = lru_cache(maxsize=2**13, typed=True)


def figure(value: float) -> str:
    """Write a number with three decimals, or as a digit and a power of ten where these would make it zero."""
    if abs(value) >= 0.0005 or not value:
        return with_minus(f"{value:.3f}")
    digit, power = f"{value:.0e}".split("e")
    return with_minus(f"{digit} × 10{str(int(power)).translate(SUPERSCRIPTS)}")


@remembered
def half_width(low: float | None, high: float | None) -> str:
    """Return half the width of an interval as it stands behind a value, nothing without an interval."""
    return "" if low is None or high is None else f"± {(high - low) / 2:.3f}"


def figure_with_half_width(value: float, low: float | None, high: float | None) -> str:
    """Write a number and half the width of its interval, if it has one: 0.412 ± 0.027."""
    return " ".join(filter(None, [figure(value), half_width(low, high)]))


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
