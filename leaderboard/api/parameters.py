"""What requests to the API say: declared query strings and bodies, and whatever else they say refused by name."""

from collections.abc import Collection, Iterable
from typing import Any, ClassVar, TypeVar, get_origin

from django.http import HttpRequest, QueryDict
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leaderboard.serving.json_bodies import read_object
from probing.errors import BadInput

UNKNOWN_NAMED = 10  # unknown keys that an error names


class Query(BaseModel):
    """The parameters of a route. An empty value is that of a form whose field was left empty, so it counts as none."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def choice(description: str, values: Iterable[str]) -> Any:
    """Return the declaration of a parameter that has one of these values, or none."""
    return Field("", description=description, json_schema_extra={"enum": [str(value) for value in values]})


class PagedQuery(Query):
    """Which entries of a list are meant."""

    page: int = Field(1, ge=1, description="Number of the page; a number beyond the last one means the last.")
    cursor: str = Field("", description="Where to go on, as the address in next has it; in place of page.")


class Body(BaseModel):
    """A JSON object that a request sends. `noun`: what it is, for errors; `example`: how it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)
    noun: ClassVar[str]
    example: ClassVar[str]


QueryT = TypeVar("QueryT", bound=Query)
BodyT = TypeVar("BodyT", bound=Body)


def read_query(model: type[QueryT], query: QueryDict) -> QueryT:
    """Return the parameters of a query string; raise `BadInput` if one is unknown or has no valid value."""
    lists = {facts.alias or name for name, facts in model.model_fields.items() if get_origin(facts.annotation) is list}
    values = {name: query.getlist(name) if name in lists else query[name] for name in query if query[name]}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        refuse_unknown(unknown_keys(error), parameter_names(model))
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise BadInput(f"{name}: {first['msg']}.", "Change this parameter, or leave it out.") from error


def parameter_names(model: type[BaseModel]) -> list[str]:
    """Return the names of the fields as a request writes them."""
    return [facts.alias or name for name, facts in model.model_fields.items()]


def unknown_keys(error: ValidationError) -> list[str]:
    return [str(part["loc"][0]) for part in error.errors(include_url=False) if part["type"] == "extra_forbidden"]


def refuse_unknown(unknown: Collection[str], names: Collection[str]) -> None:
    """Raise `BadInput` with the names of unknown parameters, if there are any, and those that there are."""
    if unknown:
        next_step = f"It has: {', '.join(names)}." if names else "It has none."
        raise BadInput(f"This route has no parameter {_listed(unknown)}.", next_step)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{name[:100]!a}" for name in list(names)[:UNKNOWN_NAMED])


def read_body(model: type[BodyT], request: HttpRequest) -> BodyT:
    """Return the JSON object of a request; raise `BadInput` that names every unknown key, or else what is wrong."""
    body = read_object(request)
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _refused_body(model, body, error) from error


def _refused_body(model: type[Body], body: dict[str, Any], error: ValidationError) -> BadInput:
    if unknown := unknown_keys(error):
        return BadInput(f"A {model.noun} has no {_listed(unknown)}.", f"It has: {', '.join(parameter_names(model))}.")
    first = error.errors(include_url=False)[0]
    if first["type"] == "value_error":  # of the whole object
        return BadInput(str(first["ctx"]["error"]), f"Write it as {model.example}.")
    name = str(first["loc"][0])
    if first["type"] == "missing":
        return BadInput(f"The body has no {name}.", f"Send {model.example} as application/json.")
    return BadInput(
        f"The {name} of a {model.noun} must not be {ascii(body[name])[:100]}.", f"Write it as {model.example}."
    )


def one_of(name: str, value: str | None, choices: Collection[str]) -> None:
    """Raise `BadInput` if a value is not among the choices.

    A page says which filters it left out; a program would take the rows without the filter for those it asked for.
    """
    if value and value not in choices:
        next_step = f"Choose from: {', '.join(choices)}." if choices else "There are none yet."
        raise BadInput(f"There is no {name} {value!r} here.", next_step)
