"""Filters and attributes that the templates need beyond Django's own."""

import re
from collections.abc import Mapping, Sized
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from django.core.paginator import Page
from django.template import Context, Library
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.figures import progress
from leaderboard.figures.training import Percent
from leaderboard.models import Run, Score
from leaderboard.models.printed import PROVENANCES
from leaderboard.probes.culture.pairs import variant_in_words
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.tables import parameter, sorting
from leaderboard.ui import labels, spelled
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.links import link, page_links
from leaderboard.ui.visible import LINES, visible

register = Library()
COLUMN_HEAD, ALL_COLUMNS = 'role="columnheader"', 'colspan="all"'  # in cells/head.html and cells/heading.html
FOLDED_CELL = re.compile(r'<td[^>]*class="[^"]*\bfolded\b')
SORT_LINKS = "sort_links"  # under which the heads of a table leave their links for it
register.filter("dimension", labels.dimension)
register.filter("visible", visible)
register.filter(variant_in_words)


@register.filter
def lang(code: str) -> SafeString:
    """Return the HTML attributes of text in another language than the page's, nothing without a code."""
    return format_html('lang="{}" dir="auto"', code) if code else SafeString("")


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
    return spelled.NOT_MEASURED if value is None else spelled.figure(value or abs(value))


@register.filter
def wait(value: timedelta | None) -> str:
    return "" if value is None else spelled.approximate_time(value)


register.filter("state_in_words", progress.state_in_words)


@register.filter
def submit_url(run: Run) -> str:
    """Return the address of the submit form with the model, the benchmark and the options of a run filled in."""
    options = {f"set-{name}": value for name, value in run.settings.get("options", {}).items()}
    fields = {"model": run.model.hub_id, "benchmark": run.benchmark.name, **options}
    return f"{reverse('submit')}?{urlencode(fields, safe='/', quote_via=quote)}"


# What tables in templates need: what stands around their rows, the heads of columns, and numbers with intervals.


@register.simple_block_tag(takes_context=True)
def table(
    context: Context,
    content: SafeString,
    name: str,
    caption: str,
    rows: Sized,
    *,
    empty: str = "",
    page: Page[Any] | None = None,
    main: bool = False,
    file_of_page: bool = False,
) -> SafeString:
    """Put head and body of a table (`content`) into a box that scrolls, above their number and their CSV.

    A table on several pages has its `page`, and without `rows` there is a sentence, `empty`. The parameters of the
    `main` table of a page have no prefix. Narrow screens show cells of the class `folded` only to readers who ask for
    all values. The CSV has all pages, unless it is a `file_of_page`, as the page is. Headings
    above rows get the number of heads as their width.
    """
    query, word = context["request"].GET, parameter("page", "" if main else name)
    sort_links = context.render_context.get(SORT_LINKS, [])
    context.render_context[SORT_LINKS] = []  # for the next table
    around = {
        "content": SafeString(content.replace(ALL_COLUMNS, f'colspan="{content.count(COLUMN_HEAD)}"')),
        "name": name,
        "caption": caption,
        "empty": empty,
        "main": main,
        "folded": FOLDED_CELL.search(content),
        "total": page.paginator.count if page else len(rows),
        "pages": page_links(query, word, page) if page else [],
        "csv": link(query, **{"format": "csv", "table": name, **({} if file_of_page else {word: None})}),
        "sort_links": sort_links,
    }
    return render_to_string("cells/table.html", around)


@register.simple_block_tag
def charted(content: SafeString, chart: Chart | None) -> SafeString:
    """Put the table of the figures of a chart (`content`) into a fold below it."""
    return render_to_string("parts/charted.html", {"content": content, "chart": chart})


@register.inclusion_tag("cells/head.html")
def head(column: str, title: str, align: str = "", scale: str = "", note: str = "") -> dict[str, str]:
    """Show the head of a column, which is named `column` in the CSV.

    `align` has the CSS classes of the column: "head" for what names the row, "number" and "score" for figures. `scale`
    says from where to where its bars run, if it has some, and `note` stands below the title.
    """
    return {"column": column, "title": title, "align": align, "scale": scale, "note": note}


@register.inclusion_tag("cells/head.html", takes_context=True)
def sort_head(
    context: Context, column: str, title: str, align: str = "", prefix: str = "", scale: str = "", note: str = ""
) -> dict[str, str]:
    """Show a head that sorts the table: numbers first from the highest, words from A to Z.

    Narrow screens hide the heads, so that the table shows the links of columns of figures and of names once more, but
    for columns that these screens fold. A page whose rows are sorted from the highest without being asked to names the
    column as its `default_sort`.
    """
    query = context["request"].GET
    sorted_by, descending = sorting(query, prefix)
    if not sorted_by:
        sorted_by, descending = str(context.get("default_sort", "")), True
    if column == sorted_by:
        direction, sign = ("descending", "") if descending else ("ascending", "-")
    else:
        direction, sign = "", "-" if {"number", "score"} & {*align.split()} else ""
    sort = {parameter("sort", prefix): f"{sign}{column}", parameter("page", prefix): None}
    href = f"{link(query, **sort)}{f'#table-{prefix}' if prefix else ''}"
    shown = {**head(column, title, align, scale, note), "direction": direction, "href": href}
    if align and "folded" not in align:
        links: Any = context.render_context.setdefault(SORT_LINKS, [])
        links.append(shown)
    return shown


@register.filter
def empty(value: Any) -> str:
    """Return the CSS class of a cell without a value, which narrow screens leave out."""
    return " empty" if value in (None, "", []) else ""


@register.filter
def along(share: float) -> str:
    """Return a place on the line of a bar, which is as long as 1."""
    return f"{100 * share:.2f}%"


register.filter("size", spelled.parameters)
register.filter("count", spelled.items)
register.filter("decimal", spelled.number)
register.filter("figure", spelled.figure)
register.filter("power", spelled.power_of_ten)
register.filter(spelled.signed)
register.filter(spelled.p_value)


@register.filter
def is_p_value(score: Score) -> bool:
    return score.metric.startswith(spelled.P_VALUE)


@register.filter
def uncertainty(score: Score | Percent, digits: int = 3) -> str:
    return spelled.uncertainty(score.value, score.low, score.high, digits) if score.value is not None else ""


register.filter(spelled.score_note)


@register.filter
def provenance(name: str) -> str:
    """Return in words whose a score is."""
    return PROVENANCES[name].lower()
