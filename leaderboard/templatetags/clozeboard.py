"""What templates need beyond Django's own filters."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.template import Library

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.probe_pages.pages import ProbePages

register = Library()
register.filter("dimension", labels.dimension)


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
    return cells.about(value) if value else ""


@register.filter
def is_empty(cell: Cell) -> bool:
    return cell.value in (None, "")
