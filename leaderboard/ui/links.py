"""Links to the same page with other parameters in its query string, and those between the pages of a list."""

from typing import Any, NamedTuple

from django.core.paginator import Page
from django.http import QueryDict
from django.urls import reverse

UNRESOLVED = "published"  # stands in place of the owner of a model that its paper does not identify
NEIGHBOURS = 2  # page links on each side of the current page


class PageLink(NamedTuple):
    """A link of a list of which one may be `current`; an ellipsis in the list has no address."""

    title: str
    href: str
    current: bool = False


def page_links(query: QueryDict, parameter: str, page: Page[Any]) -> list[PageLink]:
    """Return links to the first, the last and the pages around this one, with an ellipsis for pages left out.

    A single page needs no links.
    """
    if not page.has_other_pages():
        return []
    numbers = page.paginator.get_elided_page_range(page.number, on_each_side=NEIGHBOURS, on_ends=1)
    return [
        PageLink(str(number), link(query, **{parameter: str(number)}), number == page.number)
        if isinstance(number, int)
        else PageLink(str(number), "")  # the ellipsis
        for number in numbers
    ]


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
