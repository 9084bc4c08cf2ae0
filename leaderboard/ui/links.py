"""Links to the same page with other parameters in its query string, and those between the pages of a list."""

from typing import NamedTuple

from django.core.paginator import Paginator
from django.http import QueryDict
from django.urls import reverse

UNRESOLVED = "published"  # stands in place of the owner of a model that its paper does not identify
NEIGHBOURS = 2  # page links on each side of the current page


class PageLink(NamedTuple):
    """A link of a list of which one may be `current`; an ellipsis in the list has no address."""

    title: str
    href: str
    current: bool = False


def page_number(text: str, rows: int, size: int) -> int:
    """Return the number of the page that a query string asks for.

    Text that is not a number and numbers below 1 ask for the first page, numbers above the last page for the last.
    """
    paginator = Paginator(range(rows), size)
    try:
        return min(max(int(text), 1), paginator.num_pages)
    except ValueError:
        return 1


def page_links(query: QueryDict, parameter: str, rows: int, size: int) -> list[PageLink]:
    """Return links to the first, the last and the pages around the current one, with an ellipsis for pages left out.

    A single page needs no links.
    """
    paginator = Paginator(range(rows), size)
    if paginator.num_pages == 1:
        return []
    current = page_number(query.get(parameter, ""), rows, size)
    pages = paginator.get_elided_page_range(current, on_each_side=NEIGHBOURS, on_ends=1)
    return [_page_link(query, parameter, page, current) for page in pages]


def _page_link(query: QueryDict, parameter: str, page: str | int, current: int) -> PageLink:
    if not isinstance(page, int):  # the ellipsis
        return PageLink(str(page), "")
    return PageLink(str(page), link(query, **{parameter: str(page)}), page == current)


def link(query: QueryDict, **changes: str | None) -> str:
    """Return the address of the same page with some parameters of its query string set, or removed where None."""
    changed = query.copy()
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = value
    return f"?{changed.urlencode()}"


def model_address(hub_id: str) -> str:
    """Return the address of a model's page; a model that only a paper names has none."""
    owner, _, name = hub_id.partition("/")
    return "" if owner == UNRESOLVED else reverse("model", args=[owner, name])
