"""Filters and attributes that the templates need beyond Django's own."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from django.template import Library
from django.urls import reverse
from django.utils.html import format_html

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.display.visible import LINES, visible
from leaderboard.models import Run
from leaderboard.probe_pages.pages import ProbePages

register = Library()
register.filter("dimension", labels.dimension)
register.filter("visible", visible)


@register.filter
def visible_lines(text: str) -> str:
    return visible(text, LINES)


@register.filter
def metric(name: str, pages: ProbePages) -> str:
    return pages.metric_label(name)


@register.filter
def get(mapping: Mapping[str, Any], name: str) -> Any:
    return mapping[name]


@register.filter
def score(value: float | None) -> str:
    return cells.score(value).text


@register.filter
def size(value: int | None) -> str:
    return cells.parameters(value).text


@register.filter
def wait(value: tuple[timedelta, timedelta] | None) -> str:
    return cells.about_range(*value) if value else ""


@register.filter
def svg_length(percent: float) -> str:
    return f"{percent:.2f}%"


@register.filter
def lang(code: str) -> str:
    """Return the HTML attributes of text in another language than the page's, nothing without a code."""
    return format_html('lang="{}" dir="auto"', code) if code else ""


@register.filter
def cell_attributes(cell: Cell) -> str:
    """Return the HTML attributes for the language and the tooltip of a cell, where it has them."""
    note = format_html('title="{}"', cell.tooltip) if cell.tooltip else ""
    return format_html("{} {}", lang(cell.lang), note) if cell.lang and note else lang(cell.lang) or note


@register.filter
def submit_url(run: Run) -> str:
    """Return the address of the submit form with the model, the benchmark and the options of a run filled in."""
    options = {f"set-{name}": value for name, value in run.settings.get("options", {}).items()}
    fields = {"model": run.model.hub_id, "benchmark": run.benchmark.slug, **options}
    return f"{reverse('submit')}?{urlencode(fields, safe='/', quote_via=quote)}"
