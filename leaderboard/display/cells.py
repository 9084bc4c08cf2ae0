"""A value, and how a page shows it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from leaderboard.models import Score

Raw = str | int | float | None
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Cell:
    """`value` is what CSV gets, in full; `text` is what a page shows; `bar` is drawn beside it.

    `pieces`: the text in three, the middle one marked. `lang`: the text's language, where it is not the page's.
    `several`: names, each with a remark, that the text lists.
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


@dataclass(frozen=True)
class Bar:
    """A dot with its interval on a line from 0 to 1, in percent of the line's length."""

    at: float
    low: float | None = None
    high: float | None = None


def text(value: str, href: str = "", note: str = "", lang: str = "") -> Cell:
    return Cell(value, value, href, note, lang=lang)


def several(names: Sequence[tuple[str, str]], lang: str = "") -> Cell:
    """Names with a remark on each; they keep their order whatever direction they are written in."""
    whole = "; ".join(f"{name} ({remark})" for name, remark in names)
    return Cell(whole, whole, lang=lang, kind="several", several=tuple(names))


def marked(value: str, word: str) -> Cell:
    """A text in which a word, as a whole and in any case, is marked where it stands first."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", value, re.IGNORECASE)
    pieces = (value[: found.start()], found[0], value[found.end() :]) if found else None
    return Cell(value, value, pieces=pieces)


def number(value: float | int | None, digits: int = 3) -> Cell:
    """A plain figure; integers are grouped by thousands."""
    if value is None:
        return Cell(None, "–", kind="number")
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
    return Cell(value, _minus(shown), kind="number")


def items(value: float | None) -> Cell:
    """A number of items, which may be a fraction where items weigh less than one (methods)."""
    if value is None:
        return Cell(None, "–", kind="number")
    return Cell(value, f"{value:,.0f}" if value == int(value) else f"{value:,.1f}", kind="number")


def score(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """A share between 0 and 1 with its interval drawn; other figures without."""
    if value is None:
        return Cell(None, NOT_MEASURED, kind="missing")
    note = f"95 % interval {low:.3f} to {high:.3f}" if low is not None and high is not None else ""
    bar = Bar(100 * value, _percent(low), _percent(high)) if 0 <= value <= 1 else None
    shown = f"{value:.3f}" if abs(value) >= 0.0005 or not value else f"{value:.0e}"
    return Cell(value, _minus(shown), "", note, bar, "score")


def of_score(found: Score | None) -> Cell:
    """A score without a value was asked for: nothing counts in it, or in a part of a mean."""
    if found and found.value is None and found.n:
        return Cell(None, "no mean", note="Nothing counts in a part of it.", kind="missing")
    if found and found.value is None:
        return Cell(None, "nothing counts", kind="missing")
    return score(found.value, found.low, found.high) if found else score(None)


def share(value: float) -> Cell:
    """A share between 0 and 1, drawn as a length."""
    return Cell(value, f"{value:.3f}", bar=Bar(100 * value, 0, 100 * value), kind="share")


def percent(whole: int) -> Cell:
    """How far something is."""
    return Cell(whole, f"{whole} %", bar=Bar(whole, 0, whole), kind="share")


def duration(left: timedelta | None) -> Cell:
    if left is None:
        return Cell(None, "–", kind="number")
    return Cell(round(left.total_seconds()), about(left), kind="number")


def about(left: timedelta) -> str:
    """A time to wait, as people say it."""
    seconds = left.total_seconds()
    if seconds < 60:
        return "under a minute"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def signed(value: float, kind: str = "number") -> Cell:
    """A difference: with its sign, the minus as a minus."""
    return Cell(value, _minus(f"{value:+.3f}"), kind=kind)


def p_value(value: float) -> Cell:
    return Cell(value, "< 0.001" if value < 0.001 else f"{value:.3f}", kind="number")


def yes_no(value: bool | None) -> Cell:
    """None where the question was not put."""
    if value is None:
        return Cell(None, "–")
    return Cell("yes" if value else "no", "yes" if value else "no", kind="yes" if value else "no")


def stored(value: Any, lang: str = "") -> Cell:
    """Whatever a file may hold; a list as its members."""
    if isinstance(value, list):
        members = [stored(each, lang) for each in value]
        whole, shown = ("; ".join(texts) for texts in ([str(m.value) for m in members], [m.text for m in members]))
        return Cell(whole, shown, lang=lang)
    if value is None or isinstance(value, bool):
        return yes_no(value)
    return text(value, lang=lang) if isinstance(value, str) else number(value, 2)


def bound(value: float | None) -> Cell:
    """An end of an interval: quieter than the score itself."""
    return Cell(value, "–" if value is None else _minus(f"{value:.3f}"), kind="bound")


def _minus(figure: str) -> str:
    """A minus where a hyphen was."""
    return f"−{figure[1:]}" if figure.startswith("-") else figure


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def parameters(value: int | None) -> Cell:
    """135 M, 6.7 B: three figures are enough to tell models apart."""
    if value is None:
        return Cell(None, "–", kind="number")
    for size, unit in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if value >= size:
            return Cell(value, f"{value / size:.3g} {unit}", kind="number")
    return Cell(value, str(value), kind="number")


def day(value: datetime | None) -> Cell:
    if value is None:
        return Cell(None, "–", kind="date")
    iso = timezone.localtime(value).date().isoformat()
    return Cell(iso, iso, kind="date")


def moment(value: datetime | None) -> Cell:
    if value is None:
        return Cell(None, "–", kind="date")
    local = timezone.localtime(value)
    return Cell(local.isoformat(timespec="seconds"), f"{local:%Y-%m-%d %H:%M}", kind="date")
