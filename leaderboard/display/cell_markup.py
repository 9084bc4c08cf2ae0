"""The HTML of cells and of what is drawn in them; pages have too many cells for a template each.

Everything that a cell holds may be a stranger's text: each value is escaped where it enters the HTML.
"""

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString

from leaderboard.display.cells import Bar, Cell

GROUND = '<line class="ground" x1="0" x2="100%" y1="50%" y2="50%" />'


def cell_html(cell: Cell) -> SafeString:
    """Return the mark, the text or the list of a cell, and what is drawn right behind the text."""
    if cell.several:
        return _list_html(cell)
    parts = [_text_html(cell)]
    if cell.mark:
        parts.insert(0, _mark_html(cell))
    if cell.half:
        parts.append(f'<span class="half"> {escape(cell.half)}</span>')
    if cell.spoken:
        parts.append(f'<span class="visually-hidden">{escape(cell.spoken)}</span>')
    if cell.dots:
        parts.append(_strip_html(cell))
    if cell.bar:
        parts.append(bar_html(cell.bar, cell.kind, cell.mark))
    return SafeString("".join(parts))


def bar_html(bar: Bar, kind: str = "", mark: str = "") -> SafeString:
    """Draw a value and its intervals on a line with a tick at chance, or a line as long as a cell's "share"."""
    if kind == "share":
        shapes = _line("length", 0, bar.high)
    else:
        lines = (
            _line("chance", bar.chance, bar.chance, 'y1="10%" y2="90%"'),
            _line("thin", bar.least, bar.most),
            _line("interval", bar.low, bar.high),
        )
        shapes = f'{"".join(lines)}<circle class="dot" cx="{svg_length(bar.at)}" cy="50%" r="3" />'
    return SafeString(f'<svg class="bar {escape(mark)}" aria-hidden="true">{GROUND}{shapes}</svg>')


def svg_length(percent: float) -> str:
    return f"{percent:.2f}%"


def language_attributes(code: str) -> SafeString:
    """Return the HTML attributes of text in another language than the page's, nothing without a code."""
    return SafeString(f'lang="{escape(code)}" dir="auto"' if code else "")


def options_html(values: Iterable[str]) -> SafeString:
    """Return the options of a list of suggestions, which has hundreds."""
    return SafeString("".join(f'<option value="{escape(value)}"></option>' for value in values))


def _list_html(cell: Cell) -> SafeString:
    language = language_attributes(cell.lang)
    names = (
        f'<li><span {language}>{escape(name)}</span> <span class="quiet">{escape(remark)}</span></li>'
        for name, remark in cell.several
    )
    return SafeString(f'<ul class="several">{"".join(names)}</ul>')


def _text_html(cell: Cell) -> str:
    """Return the text as a link, with a highlighted word, or plain, with its language and tooltip."""
    note = f' title="{escape(tooltip)}"' if (tooltip := cell.tooltip) else ""
    language = f" {language_attributes(cell.lang)}" if cell.lang else ""
    kind, attributes = f'class="{escape(cell.kind)}"', f"{language}{note}"
    if cell.href:
        return f'<a {kind} href="{escape(cell.href)}"{attributes}>{escape(cell.text)}</a>'
    if cell.pieces:
        before, word, after = map(escape, cell.pieces)
        return f"<span {kind}{attributes}>{before}<mark>{word}</mark>{after}</span>"
    return f"<span {kind}{attributes}>{escape(cell.text)}</span>"


def _mark_html(cell: Cell) -> str:
    """Return a filled circle for what was measured here and a hollow one for everything else."""
    word = escape(cell.mark_word)
    return f'<span class="mark {escape(cell.mark)}" title="{word}"></span><span class="visually-hidden">{word}</span>'


def _strip_html(cell: Cell) -> str:
    """Draw one dot for each of several values on a line from 0 to 1; the style sheet has their size and height."""
    dots = (f'<circle class="dot{" hollow" if dot.hollow else ""}" cx="{svg_length(dot.at)}" />' for dot in cell.dots)
    return f'<svg class="bar strip" aria-hidden="true">{GROUND}{"".join(dots)}</svg>'


def _line(kind: str, start: float | None, end: float | None, height: str = 'y1="50%" y2="50%"') -> str:
    """Draw a line between two places in percent, nothing if one of them is missing."""
    if start is None or end is None:
        return ""
    return f'<line class="{kind}" x1="{svg_length(start)}" x2="{svg_length(end)}" {height} />'
