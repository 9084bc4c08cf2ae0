"""What requests to the API say: declared query strings and bodies, and whatever else they say refused by name.

Lists come in pages: by number, and by a cursor, which goes on behind the entry that was read last. A reader who follows
`next` meets every entry once, even where entries are added in the meantime; numbers of pages shift then.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar, get_origin

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from typing_extensions import TypedDict

from leaderboard.ui.links import page_number
from probing.errors import BadInput

UNKNOWN_NAMED = 10  # unknown keys that an error names
ENTRIES_PER_PAGE = 200
NUMBER = re.compile(r"[0-9]{1,18}")
EntryT = TypeVar("EntryT")
RowT = TypeVar("RowT", bound=Model)
# Returns the entries from one number to before another, and how many there are; the numbers may be beyond the end.
Read = Callable[[int, int], tuple[Iterable[EntryT], int]]


class Parameters(BaseModel):
    """The parameters of a route. An empty value is that of a form whose field was left empty, so it counts as none."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, values: Any, read: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Read the whole query string, of which ninja would pass over what it does not know."""
        query = info.context["request"].GET if info.context else values
        lists = {
            facts.alias or name for name, facts in cls.model_fields.items() if get_origin(facts.annotation) is list
        }
        try:
            return read({name: query.getlist(name) if name in lists else query[name] for name in query if query[name]})
        except ValidationError as error:
            refuse_unknown(_unknown_keys(error), parameter_names(cls))
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            raise BadInput(f"{name}: {first['msg']}.", "Change this parameter, or leave it out.") from error


class PagedQuery(Parameters):
    """Which entries of a list are meant."""

    page: int = Field(1, ge=1, description="Number of the page; a number beyond the last one means the last.")
    cursor: str = Field("", description="Where to go on, as the address in next has it; in place of page.")


class Body(BaseModel):
    """A JSON object that a request sends. `noun`: what it is, for errors; `example`: how it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)
    noun: ClassVar[str]
    example: ClassVar[str]

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, values: dict[str, Any], read: ModelWrapValidatorHandler[Self]) -> Self:
        """Refuse an object with an error that names every unknown key, or else what is wrong."""
        try:
            return read(values)
        except ValidationError as error:
            raise cls._refused(values, error) from error

    @classmethod
    def _refused(cls, values: dict[str, Any], error: ValidationError) -> BadInput:
        if unknown := _unknown_keys(error):
            return BadInput(f"A {cls.noun} has no {_listed(unknown)}.", f"It has: {', '.join(parameter_names(cls))}.")
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        if first["type"] == "missing":
            return BadInput(f"The body has no {name}.", f"Send {cls.example} as application/json.")
        message = f"The {name} of a {cls.noun} must not be {ascii(values[name])[:100]}."
        return BadInput(message, f"Write it as {cls.example}.")


class PageFacts(TypedDict):
    """A page of a list. `next`: the address of the next one, None after the last."""

    page: int
    next: str | None


def choice(description: str, values: Iterable[str]) -> Any:
    """Return the declaration of a parameter that has one of these values, or none."""
    return Field("", description=description, json_schema_extra={"enum": [str(value) for value in values]})


def one_of(name: str, value: str | None, choices: Collection[str]) -> None:
    """Raise `BadInput` if a value is not among the choices.

    A page says which filters it left out; a program would take the rows without the filter for those it asked for.
    """
    if value and value not in choices:
        next_step = f"Choose from: {', '.join(choices)}." if choices else "There are none yet."
        raise BadInput(f"There is no {name} {value!r} here.", next_step)


def parameter_names(model: type[BaseModel]) -> list[str]:
    """Return the names of the fields as a request writes them."""
    return [facts.alias or name for name, facts in model.model_fields.items()]


def refuse_unknown(unknown: Collection[str], names: Collection[str]) -> None:
    """Raise `BadInput` with the names of unknown parameters, if there are any, and those that there are."""
    if unknown:
        next_step = f"It has: {', '.join(names)}." if names else "It has none."
        raise BadInput(f"This route has no parameter {_listed(unknown)}.", next_step)


def _unknown_keys(error: ValidationError) -> list[str]:
    return [str(part["loc"][0]) for part in error.errors(include_url=False) if part["type"] == "extra_forbidden"]


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{name[:100]!a}" for name in list(names)[:UNKNOWN_NAMED])


def page_of(
    request: HttpRequest,
    query: PagedQuery,
    read: Read[EntryT],
    name: Callable[[EntryT], Any],
    behind: Callable[[str], int],
) -> tuple[PageFacts, list[EntryT]]:
    """Return the page that a request asks for: what every answer says of it, and its entries.

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
    return {"page": start // ENTRIES_PER_PAGE + 1, "next": further}, rows


def page_of_rows(request: HttpRequest, query: PagedQuery, rows: QuerySet[RowT, RowT]) -> tuple[PageFacts, list[RowT]]:
    """Return a page of rows of the database, which are named by their numbers, the newest first."""

    def behind(cursor: str) -> int:
        return rows.filter(pk__gte=number_in(cursor)).count()

    return page_of(request, query, read_from(rows.order_by("-pk")), lambda row: row.pk, behind)


def page_of_list(
    request: HttpRequest, query: PagedQuery, entries: Sequence[EntryT], name: Callable[[EntryT], str]
) -> tuple[PageFacts, list[EntryT]]:
    """Return a page of entries that are here, each of which has a name of its own."""
    return page_of(request, query, read_from(entries), name, lambda cursor: [*map(name, entries)].index(cursor) + 1)


def read_from(entries: Sequence[EntryT] | QuerySet[Any, EntryT]) -> Read[EntryT]:
    """Return what reads a page of entries that are here, or of the rows of a query."""
    number = entries.count() if isinstance(entries, QuerySet) else len(entries)
    return lambda start, stop: (entries[min(start, number) : min(stop, number)], number)


def number_in(cursor: str) -> int:
    """Return the number that a cursor is; raise `ValueError` if it is none that the database can have."""
    if not NUMBER.fullmatch(cursor):
        raise ValueError(cursor)
    return int(cursor)


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
