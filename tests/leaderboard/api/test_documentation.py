"""/api/ and /api/v1/openapi.json : every route is described with an answer, and what they say of answers is true."""

import json
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from leaderboard.api import patterns
from leaderboard.api.documentation import EXAMPLES, document, examples
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.test_training_page import training


def cut(answer: Any) -> Any:
    """Cut every list to its first member."""
    if isinstance(answer, dict):
        return {name: cut(member) for name, member in answer.items()}
    return [cut(member) for member in answer[:1]] if isinstance(answer, list) else answer


def shape(answer: Any) -> Any:
    """Return an answer with the kind of each value in its place."""
    if isinstance(answer, dict):
        return {name: shape(member) for name, member in answer.items()}
    if isinstance(answer, list):
        return [shape(member) for member in answer]
    return "number" if isinstance(answer, int | float) and not isinstance(answer, bool) else type(answer).__name__


def operations() -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is described, by method and path."""
    paths = document()["paths"].items()
    return {(method, path): operation for path, methods in paths for method, operation in methods.items()}


@pytest.fixture
def real(client: Client, site: Site, small: Benchmark) -> list[dict[str, Any]]:
    """Real answers to the requests of the examples, in the form of their file."""
    training(small)
    first, second = site.first.pk, site.second.pk
    make.run(make.model("org/waiting"), small, Run.State.QUEUED)
    sent = {"model": "org/causal", "benchmark": "small"}
    submitted = client.post("/api/v1/submit", sent, content_type="application/json").json()
    addresses = {
        "leaderboard?benchmark=small": "leaderboard?benchmark=small&provenance=measured",
        "models": "models",
        "benchmarks": "benchmarks",
        "overview": "overview",
        "queue": "queue",
        "benchmarks/small/items": "benchmarks/small/items",
        "benchmarks/small/items/P30-0": "benchmarks/small/items/P30-0",
        "benchmarks/small/relations/P30": "benchmarks/small/relations/P30",
        "runs?state=finished": "runs?state=finished&model=org/first",
        "runs/1": f"runs/{first}",
        "runs/1/scores": f"runs/{first}/scores",
        "runs/1/items": f"runs/{first}/items",
        "compare?m=1&m=2": f"compare?m={first}&m={second}",
        "models/org/name/training": "models/org/name/training",
        "submissions/SECRET": f"submissions/{submitted['submission']}",
    }
    answers: list[dict[str, Any]] = [
        {"address": name, "sent": None, "answer": cut(client.get(f"/api/v1/{address}").json())}
        for name, address in addresses.items()
    ]
    return [*answers, {"address": "submit", "sent": sent, "answer": submitted}]


def test_the_answers_on_the_page_have_the_fields_of_real_ones(real: list[dict[str, Any]]) -> None:
    stored = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    assert shape(stored) == shape(real), f"Store this in {EXAMPLES.name}:\n{json.dumps(real, indent=2)}"


def test_every_route_for_readers_has_an_answer_on_the_page(client: Client, db: None) -> None:
    reading = {key for key, operation in operations().items() if operation["tags"][0] in ("Results", "Submissions")}
    actions = {("post", f"/submissions/{{secret}}/{action}") for action in ("cancel", "retry")}
    assert examples().keys() == reading - actions
    page = client.get("/api/").content.decode().replace("&amp;", "&")
    assert all(f"<code>{method.upper()} {one.address}</code>" in page for (method, _), one in examples().items())


def test_no_summary_has_marks_of_markdown_which_the_page_would_show() -> None:
    assert not [path for path, operation in operations().items() if "`" in operation["summary"]]
    assert not [path for path, operation in operations().items() if "`" in operation.get("description", "")]


def test_every_route_and_every_parameter_is_described(client: Client, db: None) -> None:
    page = client.get("/api/").content.decode().replace("&#x27;", "'")
    for (method, path), operation in operations().items():
        assert f"<code>{method.upper()} {path[1:]}</code>" in page
        assert f"{operation['summary']}." in page
    assert "Part of the subject or of an answer." in page
    assert "Names of several benchmarks, in place of benchmark." in page


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


def test_the_description_is_valid_and_names_this_site(client: Client, db: None) -> None:
    served = client.get("/api/v1/openapi.json").json()
    validate(served)
    assert served["openapi"].startswith("3.1")
    assert served["servers"] == [{"url": "http://testserver/api/v1"}]
    assert client.post("/api/v1/openapi.json").json()["error"]["code"] == "method-not-allowed"


def test_exactly_the_routes_that_exist_are_described_with_a_summary_and_a_name_of_their_own() -> None:
    described = operations()
    assert len(described) == len(patterns())
    assert len({operation["operationId"] for operation in described.values()}) == len(patterns())
    assert all(operation["summary"] for operation in described.values())
    assert all(one["description"] for operation in described.values() for one in operation.get("parameters", []))


def test_a_route_is_described_with_the_method_that_it_takes(client: Client, db: None) -> None:
    for method, path in operations():
        other = client.post if method == "get" else client.get
        response = other("/api/v1" + path.replace("{run}", "1").replace("{", "").replace("}", ""))
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD" if method == "get" else method.upper())


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
    validator(operations()["get", f"/{name}"]).validate(answer)


def test_a_field_that_the_schema_does_not_have_is_noticed(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/models").json()
    answer["models"][0]["further"] = 1
    assert not validator(operations()["get", "/models"]).is_valid(answer)
