"""Pages of lists: by number, and by a cursor, which goes on behind the entry that was read last.

A reader who follows `next` meets every entry once, even where entries are added in the meantime; numbers of pages shift
then.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import TypedDict

from leaderboard.api.parameters import PagedQuery
from leaderboard.display.links import page_number
from probing.errors import BadInput

ENTRIES_PER_PAGE = 200
NUMBER = re.compile(r"[0-9]{1,18}")
EntryT = TypeVar("EntryT")


# Returns the entries from one place to before another, and how many there are in all; the places may be beyond the end.
Read = Callable[[int, int], tuple[Iterable[EntryT], int]]


class PageFacts(TypedDict):
    """A page of a list. `next`: the address of the next one, None after the last."""

    page: int
    next: str | None


@dataclass(frozen=True)
class Page(Generic[EntryT]):
    """The entries of a page, with what every answer says of it."""

    facts: PageFacts
    entries: list[EntryT]


def page_of(
    request: HttpRequest,
    query: PagedQuery,
    read: Read[EntryT],
    name: Callable[[EntryT], Any],
    behind: Callable[[str], int],
) -> Page[EntryT]:
    """Return the page that a request asks for.

    `name` names an entry in a cursor, and `behind` returns how many entries come before the first one behind it; it
    raises `ValueError` if nothing can have this name.
    """
    start = _start(request, query.cursor, behind) if query.cursor else (query.page - 1) * ENTRIES_PER_PAGE
    entries, number = read(start, start + ENTRIES_PER_PAGE)
    if start >= max(number, 1) and not query.cursor:  # the page is beyond the last one
        start = (page_number(str(query.page), number, ENTRIES_PER_PAGE) - 1) * ENTRIES_PER_PAGE
        entries, _ = read(start, start + ENTRIES_PER_PAGE)
    rows = list(entries)
    further = _address(request, str(name(rows[-1]))) if rows and start + ENTRIES_PER_PAGE < number else None
    return Page({"page": start // ENTRIES_PER_PAGE + 1, "next": further}, rows)


def read_from(entries: Sequence[EntryT] | QuerySet[Any, EntryT]) -> Read[EntryT]:
    """Return what reads a page of entries that are here, or of the rows of a query."""
    number = entries.count() if isinstance(entries, QuerySet) else len(entries)
    return lambda start, stop: (entries[min(start, number) : min(stop, number)], number)


def behind_row(rows: QuerySet[Any, Any]) -> Callable[[str], int]:
    """Return what `place_in` returns, for rows of the database, the newest first, that are named by their numbers."""
    return lambda cursor: rows.filter(pk__gte=number_in(cursor)).count()


def number_in(cursor: str) -> int:
    """Return the number that a cursor is; raise `ValueError` if it is none that the database can have."""
    if not NUMBER.fullmatch(cursor):
        raise ValueError(cursor)
    return int(cursor)


def place_in(names: Iterable[Any]) -> Callable[[str], int]:
    """Return a function that tells how many entries there are up to the one of this name, for `page_of`."""

    def behind(cursor: str) -> int:
        return [str(name) for name in names].index(cursor) + 1

    return behind


def _start(request: HttpRequest, cursor: str, behind: Callable[[str], int]) -> int:
    if "page" in request.GET:
        raise BadInput("The request has a page and a cursor.", "Send one of them.")
    try:
        return behind(cursor)
    except ValueError as error:
        raise BadInput(f"There is no entry {cursor!r:.200} to go on from.", "Begin again without cursor.") from error


def _address(request: HttpRequest, cursor: str) -> str:
    query = request.GET.copy()
    query.pop("page", None)
    query["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
