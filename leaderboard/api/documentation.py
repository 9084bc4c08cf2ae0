"""/api/ : the routes of the API with an answer to each, and the same for programs as OpenAPI 3.1."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from leaderboard.api import openapi
from leaderboard.api.openapi import Example
from leaderboard.api.routes import READ, ROUTES, Route, not_allowed

Json = dict[str, Any]


class Parameter(NamedTuple):
    """Something that a request may say: in its path, its query, its JSON or its form. `values`: a kind, or a choice."""

    name: str
    place: str
    values: str
    about: str
    required: bool


class DescribedRoute(NamedTuple):
    """A route as the page shows it."""

    method: str
    path: str
    operation: Json
    parameters: list[Parameter]
    access: str
    example: Example | None

    @property
    def sent(self) -> str:
        return _written(self.example.sent) if self.example and self.example.sent else ""

    @property
    def answer(self) -> str:
        return _written(self.example.answer) if self.example else ""


def documentation_view(request: HttpRequest) -> HttpResponse:
    routes = [_described(route) for route in ROUTES]
    context = {
        "groups": [(name, list(of_group)) for name, of_group in groupby(routes, lambda one: one.operation["tags"][0])],
        "base": request.build_absolute_uri("/api/v1/"),
        "board": request.build_absolute_uri(reverse("board")),
    }
    return render(request, "api.html", context)


@csrf_exempt
def openapi_view(request: HttpRequest) -> JsonResponse:
    """Return the description of the API, with the address of this site."""
    if request.method not in READ:
        return not_allowed(request, READ)
    server = {"url": request.build_absolute_uri("/api/v1")}
    return JsonResponse({**openapi.document(), "servers": [server]})


def _described(route: Route) -> DescribedRoute:
    document, path = openapi.document(), openapi.written(route.path)
    operation = document["paths"][f"/{path}"][route.method.lower()]
    access = "" if not route.access else "a token" if route.access.required else "a token, if you have one"
    parameters = [_parameter(one["name"], one["in"], one["schema"], one) for one in operation.get("parameters", [])]
    example = openapi.examples().get(f"{route.method} {route.path}")
    return DescribedRoute(route.method, path, operation, [*parameters, *_fields(operation, document)], access, example)


def _fields(operation: Json, document: Json) -> Iterator[Parameter]:
    """Yield the fields of what a request sends, if it sends anything."""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        required = schema.get("required", [])
        for name, facts in schema["properties"].items():
            about = {"description": facts["description"], "required": name in required}
            yield _parameter(name, "JSON" if kind.endswith("json") else "form", facts, about)


def _parameter(name: str, place: str, schema: Json, about: Json) -> Parameter:
    kinds = [schema, *schema.get("anyOf", [])]
    values = schema.get("enum") or [kind["type"] for kind in kinds if kind.get("type", "null") != "null"]
    return Parameter(name, place, ", ".join(values), about["description"], about.get("required", False))


def _written(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
