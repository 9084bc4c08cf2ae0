"""Filters and attributes that the templates need beyond Django's own."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from django.template import Library
from django.urls import reverse

from leaderboard.figures import progress
from leaderboard.models import Run
from leaderboard.probes.culture.pairs import variant_in_words
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.ui import cells, labels, markup
from leaderboard.ui.visible import LINES, visible

register = Library()
register.filter("dimension", labels.dimension)
register.filter("visible", visible)
register.filter("lang", markup.language_attributes)
register.filter(variant_in_words)
for function in (
    markup.cell_html,
    markup.bar_html,
    markup.rows_html,
    markup.heads_html,
    markup.help_html,
    markup.sort_links_html,
    markup.overview_rows_html,
):
    register.filter(function)


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
def wait(value: timedelta | None) -> str:
    return "" if value is None else cells.approximate_time(value)


register.filter("state_in_words", progress.state_in_words)


@register.filter
def submit_url(run: Run) -> str:
    """Return the address of the submit form with the model, the benchmark and the options of a run filled in."""
    options = {f"set-{name}": value for name, value in run.settings.get("options", {}).items()}
    fields = {"model": run.model.hub_id, "benchmark": run.benchmark.name, **options}
    return f"{reverse('submit')}?{urlencode(fields, safe='/', quote_via=quote)}"
