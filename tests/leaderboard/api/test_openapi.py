"""/api/v1/openapi.json is valid, and what it says of answers is true."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from leaderboard.api import patterns
from leaderboard.api.documentation import document, examples
from tests.leaderboard.api.test_documentation import real as real  # a fixture
from tests.leaderboard.conftest import Site


def closed(schema: Any) -> Any:
    """Return a schema that allows no further fields where it names some, so that a field without a name is an error."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    members = {name: closed(part) for name, part in schema.items()}
    is_composed = members.get("type") == "object" and "properties" in members
    return {"additionalProperties": False, **members} if is_composed else members


def validator(operation: dict[str, Any]) -> Draft202012Validator:
    """Return what checks the good answers of a route, strictly."""
    status = next(status for status in operation["responses"] if status.startswith("2"))
    schema = operation["responses"][status]["content"]["application/json"]["schema"]
    return Draft202012Validator(closed({**schema, "components": document()["components"]}))


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_description_is_valid_and_names_this_site(client: Client, db: None) -> None:
    served = client.get("/api/v1/openapi.json").json()
    validate(served)
    assert served["openapi"].startswith("3.1")
    assert served["servers"] == [{"url": "http://testserver/api/v1"}]
    assert client.post("/api/v1/openapi.json").json()["error"]["code"] == "method-not-allowed"


def test_exactly_the_routes_that_exist_are_described_with_a_summary_and_a_name_of_their_own() -> None:
    described = dict(operations())
    assert len(described) == len(patterns())
    assert len({operation["operationId"] for operation in described.values()}) == len(patterns())
    assert all(operation["summary"] for operation in described.values())
    assert all(one["description"] for operation in described.values() for one in operation.get("parameters", []))


def test_a_route_is_described_with_the_method_that_it_takes(client: Client, db: None) -> None:
    for name, _ in operations():
        method, path = name.split()
        other = client.post if method == "GET" else client.get
        response = other("/api/v1" + path.replace("{run}", "1").replace("{", "").replace("}", ""))
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD" if method == "GET" else method)


def test_answers_have_exactly_the_fields_of_their_schemas(real: list[dict[str, Any]]) -> None:
    fresh = {(answer["address"], bool(answer["sent"])): answer["answer"] for answer in real}
    for (method, path), example in examples().items():
        schema = validator(document()["paths"][path][method])
        schema.validate(example.answer)
        schema.validate(fresh[example.address, bool(example.sent)])


@pytest.mark.parametrize("path", ["leaderboard?benchmark=small", "runs", "overview", "models", "compare?m={0}&m={1}"])
def test_whole_answers_have_the_fields_of_their_schemas(client: Client, site: Site, path: str) -> None:
    name = path.partition("?")[0]
    answer = client.get("/api/v1/" + path.format(site.first.pk, site.second.pk)).json()
    validator(dict(operations())[f"GET /{name}"]).validate(answer)


def test_a_field_that_the_schema_does_not_have_is_noticed(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/models").json()
    answer["models"][0]["further"] = 1
    assert not validator(dict(operations())["GET /models"]).is_valid(answer)
