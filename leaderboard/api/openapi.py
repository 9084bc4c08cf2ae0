"""The description of the API in the format OpenAPI 3.1, made from the declarations of its routes."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.urls import resolve
from django.urls.converters import get_converters
from pydantic import TypeAdapter

from leaderboard.api.routes import ROUTES, Route
from leaderboard.serving.errors import API
from probing.remote.protocol import package_version

Json = dict[str, Any]
PLACE = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
REFERENCE = "#/components/schemas/{model}"
EXAMPLES = settings.BASE_DIR / "docs" / "api-answers.json"
DESCRIPTION = (
    "Everything that pages show, as JSON. No field of version 1 will ever be removed; fields may be added. "
    "Every error has the shape Problem. Parameters and keys that a route does not have are refused by name."
)
PLACES = {
    "run": "Number of the run.",
    "relation": "Id of the relation.",
    "question": "Id of the question: its relation and its number, with a hyphen between them.",
    "name": "Name of the benchmark or of the model.",
    "org": "Organisation of the model.",
    "secret": "The secret of the submission, which the answer to it has.",
    "lease": "The lease of the part.",
    "digest": "Digest of the benchmark.",
}
ERROR: Json = {
    "type": "object",
    "description": "What is wrong: a stable code, a sentence, and what to do next.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "next_step"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "next_step")},
        }
    },
}


class Example(NamedTuple):
    """An address, what was sent to it if anything was, and its answer with every list cut to one member."""

    address: str
    sent: Json | None
    answer: Json


@cache
def document() -> Json:
    """Return the whole description; it changes with the program only."""
    schemas, components = _schemas()
    paths: dict[str, Json] = {}
    for route in ROUTES:
        paths.setdefault(f"/{written(route.path)}", {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Clozeboard", "version": package_version(), "description": DESCRIPTION},
        "servers": [{"url": API}],
        "tags": [{"name": group} for group in dict.fromkeys(route.group for route in ROUTES)],
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": ERROR},
            "responses": {
                "Problem": {
                    "description": "An error.",
                    "content": {"application/json": {"schema": {"$ref": REFERENCE.format(model="Problem")}}},
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def written(path: str) -> str:
    """Return a path with its variable parts as OpenAPI writes them."""
    return PLACE.sub(r"{\g<name>}", path)


@cache
def examples() -> Mapping[str, Example]:
    """Return an example of each route, by method and path; a test compares them with real answers."""
    stored = [Example(**example) for example in json.loads(EXAMPLES.read_text(encoding="utf-8"))]
    return {f"{'POST' if one.sent else 'GET'} {_route_path(one.address)}": one for one in stored}


def _route_path(address: str) -> str:
    """Return the path of the route to which an address belongs, as the route has it."""
    return resolve(API + address.partition("?")[0]).route.removeprefix(API[1:])


def _schemas() -> tuple[Mapping[Any, Json], Json]:
    """Return the schema of every type that is sent or answered, and the schemas to which these refer."""
    types = {id(type_): type_ for route in ROUTES for type_ in (route.answered, route.sent) if type_ is not None}
    kind: Literal["validation"] = "validation"  # in which fields with a default need not be sent
    adapters = [(key, kind, TypeAdapter[Any](type_)) for key, type_ in types.items()]
    schemas, definitions = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE)
    return {key: schema for (key, _), schema in schemas.items()}, definitions.get("$defs", {})


def _operation(route: Route, schemas: Mapping[Any, Json]) -> Json:
    title, _, more = (route.view.__doc__ or "").partition("\n\n")
    operation: Json = {
        "operationId": route.view.__name__.removesuffix("_json"),
        "summary": title.strip().rstrip("."),
        "description": " ".join(more.split()),
        "tags": [route.group],
        "parameters": [*_places(route), *_query(route)],
        "responses": {**dict(_responses(route, schemas)), "default": {"$ref": "#/components/responses/Problem"}},
    }
    if route.sent:
        operation["requestBody"] = {
            "required": True,
            "content": {route.sent_as: {"schema": schemas[id(route.sent)]}},
        }
    if route.access:
        operation["security"] = [{"token": []}, *([] if route.access.required else [{}])]
    return {name: part for name, part in operation.items() if part}


def _places(route: Route) -> Iterator[Json]:
    for match in PLACE.finditer(route.path):
        converter, name = match["converter"] or "str", match["name"]
        pattern = get_converters()[converter].regex
        schema: Json = {"type": "string", "pattern": f"^(?:{pattern})$"}
        if converter == "number":
            schema = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
        yield {"name": name, "in": "path", "required": True, "description": PLACES[name], "schema": schema}


def _query(route: Route) -> Iterator[Json]:
    model = route.hints.get("query")
    if not model:
        return
    schema = model.model_json_schema(by_alias=True)
    for name, facts in schema.get("properties", {}).items():
        about = {key: part for key, part in facts.items() if key not in ("title", "description", "default")}
        yield {"name": name, "in": "query", "description": facts["description"], "schema": about}
    if schema.get("additionalProperties") is True:
        yield {
            "name": "tags",
            "in": "query",
            "description": "A tag of the items, by its name, as in domain=Geographic.",
            "style": "form",
            "explode": True,
            "schema": {"type": "object", "additionalProperties": {"type": "string"}},
        }


def _responses(route: Route, schemas: Mapping[Any, Json]) -> Iterator[tuple[str, Json]]:
    example = examples().get(f"{route.method} {route.path}")
    for status in (route.status, *route.others):
        answer: Json = {"description": f"{HTTPStatus(status).phrase}."}
        if status != HTTPStatus.NO_CONTENT:
            schema = schemas[id(route.answered)] if route.answered else {"type": "string", "format": "binary"}
            answer["content"] = {route.content: {"schema": schema, **({"example": example.answer} if example else {})}}
        yield str(status), answer
