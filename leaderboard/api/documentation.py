"""/api/ : the routes of the API with an answer to each, and the same for programs as OpenAPI 3.1."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import resolve, reverse
from django.views.decorators.csrf import csrf_exempt

from leaderboard.api import GROUPS
from leaderboard.api.interface import READ, api, not_allowed
from leaderboard.api.run_routes import Json
from leaderboard.serving.errors import API

VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")  # of a path, as Django writes it
EXAMPLES = settings.BASE_DIR / "docs" / "api-answers.json"
PROBLEM: Json = {
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
REFERENCE = {"$ref": "#/components/schemas/Problem"}
RESPONSE = {"description": "An error.", "content": {"application/json": {"schema": REFERENCE}}}


class Example(NamedTuple):
    """An address, what was sent to it if anything was, and its answer with every list cut to one member."""

    address: str
    sent: Json | None
    answer: Json


def documentation_view(request: HttpRequest) -> HttpResponse:
    routes = [
        _described(method, path, operation)
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
    ]
    by_group = groupby(routes, lambda route: route["operation"]["tags"][0])
    context = {
        "groups": [(name, list(of_group)) for name, of_group in by_group],
        "base": request.build_absolute_uri(API),
        "board": request.build_absolute_uri(reverse("board")),
    }
    return render(request, "api.html", context)


@csrf_exempt
def openapi_view(request: HttpRequest) -> JsonResponse:
    """Return the description of the API, with the address of this site."""
    if request.method not in READ:
        return not_allowed(request, READ)
    return JsonResponse({**document(), "servers": [{"url": request.build_absolute_uri(API.rstrip("/"))}]})


@cache
def document() -> Json:
    """Return what ninja knows of the API, with errors and examples; it changes with the program only."""
    described = dict(api.get_openapi_schema(path_prefix=""))
    for path, operations in described["paths"].items():
        operations.pop("head", None)  # HEAD is answered as GET is, by the same operation
        for method, operation in operations.items():
            _complete(operation, examples().get((method, path)))
    components = described["components"]
    # The fields of a query string stand in each operation that takes them.
    components["schemas"] = {name: one for name, one in components["schemas"].items() if not name.endswith("Query")}
    components["schemas"]["Problem"] = PROBLEM
    components["responses"] = {"Problem": RESPONSE}
    return {**described, "servers": [{"url": API}], "tags": [{"name": group} for group in GROUPS]}


def _complete(operation: Json, example: Example | None) -> None:
    """Split the docstring, add errors and an example, and drop what ninja repeats of parameters."""
    title, _, more = operation.pop("description").partition("\n\n")
    operation["summary"] = title.rstrip(".")
    if more:
        operation["description"] = " ".join(more.split())
    for parameter in operation["parameters"]:
        repeated = ("title", "description", "default")
        parameter["schema"] = {key: value for key, value in parameter["schema"].items() if key not in repeated}
    responses = {str(status): response for status, response in operation["responses"].items()}
    for response in responses.values():
        if example and "content" in response:
            response["content"]["application/json"]["example"] = example.answer
    operation["responses"] = {**responses, "default": {"$ref": "#/components/responses/Problem"}}


@cache
def examples() -> Mapping[tuple[str, str], Example]:
    """Return an example of each route, by method and path; a test compares them with real answers."""
    stored = [Example(**example) for example in json.loads(EXAMPLES.read_text(encoding="utf-8"))]
    return {("post" if one.sent else "get", _path(one.address)): one for one in stored}


def _path(address: str) -> str:
    """Return the path of the route to which an address belongs, as OpenAPI writes it."""
    route = resolve(API + address.partition("?")[0]).route.removeprefix(API[1:])
    return "/" + VARIABLE.sub(r"{\1}", route)


def _described(method: str, path: str, operation: Json) -> Json:
    """Return a route as the page shows it."""
    example = examples().get((method, path))
    parameters = [*operation["parameters"], *_fields(operation)]
    return {
        "method": method.upper(),
        "path": path[1:],
        "operation": operation,
        "parameters": [{**parameter, "values": _values(parameter["schema"])} for parameter in parameters],
        "example": example,
        "sent": _written(example.sent) if example and example.sent else "",
        "answer": _written(example.answer) if example else "",
    }


def _fields(operation: Json) -> Iterator[Json]:
    """Yield the fields of what a request sends, if it sends anything, as parameters."""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        if "$ref" in schema:
            schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        for name, field in schema["properties"].items():
            details = {"description": field["description"], "required": name in schema.get("required", [])}
            yield {"name": name, "in": "JSON" if kind.endswith("json") else "form", "schema": field, **details}


def _values(schema: Json) -> str:
    """Return the values that a parameter may have, or of what kind they are."""
    kinds = [schema, *schema.get("anyOf", [])]
    return ", ".join(schema.get("enum") or [kind["type"] for kind in kinds if kind.get("type", "null") != "null"])


def _written(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
