"""/api/v1/submit and submissions : models that are to be measured, and what came of them."""

import json
from typing import Any
from unittest.mock import ANY

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from leaderboard.intake import check_job
from leaderboard.models import Benchmark, Run, Submission
from tests.hub.local_hub import Hub
from tests.leaderboard.conftest import Site


@pytest.mark.parametrize("body", ["", "[]", "{}", "{nonsense"])
def test_a_submission_that_cannot_be_read_says_how_to_write_it(client: Client, site: Site, body: str) -> None:
    response = client.post("/api/v1/submit", body, content_type="application/json")
    assert response.status_code == 400
    assert "application/json" in response.json()["error"]["next_step"]


def test_a_form_of_another_site_cannot_submit(client: Client, site: Site) -> None:
    body = json.dumps({"model": "org/first"})
    assert client.post("/api/v1/submit", body, content_type="text/plain").status_code == 400


def post(client: Client, headers: dict[str, str] | None = None, **body: object) -> Any:
    return client.post("/api/v1/submit", json.dumps(body), content_type="application/json", headers=headers or {})


def send(client: Client, **body: object) -> tuple[int, dict[str, Any]]:
    answer = post(client, **body)
    return answer.status_code, answer.json()


def test_a_submission_takes_options_of_the_probe(client: Client, pairs: Benchmark, local_hub: Hub) -> None:
    body = {"model": "org/causal", "benchmark": "pairs", "options": {"prompting": "few-shot", "shots": 3}}
    status, answer = send(client, **body)
    token = answer["submission"]
    url = f"http://testserver/submissions/{token}/"
    sent = {"submission": token, "url": url, "model": "org/causal", "revision": "", "benchmark": "pairs"}
    waiting = {**sent, "state": "checking", "run": None, "duplicate": False, "checks": []}
    assert (status, answer) == (202, waiting)
    check_job.check(Submission.objects.get(token=token).pk)
    done = client.get(f"/api/v1/submissions/{token}").json()
    assert done == {**waiting, "state": "accepted", "run": ANY, "checks": ANY}
    assert Run.objects.get(pk=done["run"]).settings["options"] == body["options"]
    assert [check["state"] for check in done["checks"][:2]] == ["ok", "ok"]
    token = send(client, **body)[1]["submission"]
    check_job.check(Submission.objects.get(token=token).pk)
    again = client.get(f"/api/v1/submissions/{token}").json()
    assert (again["submission"], again["run"], again["duplicate"]) == (token, done["run"], True)


def test_a_submission_is_cancelled_and_tried_again(client: Client, small: Benchmark, local_hub: Hub) -> None:
    token = send(client, model="org/causal", benchmark="small")[1]["submission"]
    check_job.check(Submission.objects.get().pk)
    address = f"/api/v1/submissions/{token}"
    assert client.post(f"{address}/cancel").json()["state"] == "withdrawn"
    run = Submission.objects.get().run
    assert run.state == Run.State.CANCELLED
    assert client.post(f"{address}/retry").json()["state"] == "accepted"
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED
    refused = client.post(f"{address}/retry")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad-input")


@pytest.mark.parametrize("action", ["", "/cancel", "/retry"])
def test_a_token_that_nobody_has_is_not_found(client: Client, small: Benchmark, action: str) -> None:
    send(client, model="org/causal", benchmark="small")
    method = client.post if action else client.get
    for token in ("x" * 43, "1", Submission.objects.get().token[:-1]):
        response = method(f"/api/v1/submissions/{token}{action}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not-found")


def test_submissions_are_listed_nowhere(client: Client, site: Site, local_hub: Hub) -> None:
    tokens = [send(client, model=name, benchmark="small")[1]["submission"] for name in ("org/causal", "org/nothing")]
    for submission in Submission.objects.all():
        check_job.check(submission.pk)
    run = Submission.objects.get(model_id="org/causal").run
    lists = ["models", "benchmarks", f"runs/{run.pk}"]
    pages = [address for address in site.addresses if "?" not in address]
    for address in [*(f"/api/v1/{name}" for name in lists), *pages, f"/runs/{run.pk}/"]:
        text = client.get(address).content.decode()
        assert not any(token in text for token in tokens), address
        assert "org/nothing" not in text, address
        assert "127.0.0.1" not in text.replace("http://127.0.0.1", ""), address


def test_a_limit_is_status_429(client: Client, small: Benchmark, settings: Settings) -> None:
    settings.OPEN_RUNS_PER_SUBMITTER = 1
    send(client, model="org/causal", benchmark="small")
    response = post(client, model="org/other", benchmark="small")
    assert (response.status_code, response["Retry-After"]) == (429, "600")
    assert response.json()["error"]["code"] == "too-many-open"


def test_one_request_submits_a_model_to_several_benchmarks(client: Client, small: Benchmark, pairs: Benchmark) -> None:
    address = "https://huggingface.co/org/causal/tree/v1"
    status, answer = send(client, model=address, benchmarks=["small", "pairs", "small"], options={"sample": 2})
    facts = [(one["model"], one["revision"], one["benchmark"]) for one in answer["submissions"]]
    assert (status, facts) == (202, [("org/causal", "v1", "small"), ("org/causal", "v1", "pairs")])
    assert list(Submission.objects.values_list("options", flat=True)) == [{"sample": 2}, {"sample": 2}]


def test_one_request_submits_several_revisions_of_a_model(client: Client, small: Benchmark) -> None:
    status, answer = send(client, model="org/causal", benchmark="small", revisions=["step1", "step2", "step1"])
    assert (status, [one["revision"] for one in answer["submissions"]]) == (202, ["step1", "step2"])
    status, answer = send(client, model="org/causal", benchmark="small", revisions=["step3", 4])
    assert (status, answer["error"]["message"]) == (400, "The revisions of a submission must not be ['step3', 4].")
    assert Submission.objects.count() == 2


@pytest.mark.parametrize("benchmarks", [[], ["small", 3], ["nonsense"]])
def test_benchmarks_that_cannot_be_read_store_nothing(
    client: Client, small: Benchmark, benchmarks: list[object]
) -> None:
    assert send(client, model="org/causal", benchmarks=benchmarks)[0] == 400
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"\u202eevil": 1}, r"A submission has no '\u202eevil'"),
        ({"model": ["org/name"]}, "model of a submission must not be ['org/name']"),
        ({"benchmark": 3}, "benchmark of a submission must not be 3"),
        ({"benchmarks": ["small"]}, "The benchmarks of a submission are a list of names."),
    ],
)
def test_what_a_submission_does_not_have_is_refused_by_name(
    client: Client, small: Benchmark, body: dict[str, object], words: str
) -> None:
    status, answer = send(client, **{"model": "org/causal", "benchmark": "small", **body})
    assert status == 400
    assert words in answer["error"]["message"]


def test_all_unknown_keys_are_named_at_once_and_before_what_is_missing(client: Client, small: Benchmark) -> None:
    status, answer = send(client, modle="org/causal", templates=[0])
    assert status == 400
    assert answer["error"]["message"] == "A submission has no 'modle', 'templates'."
    assert answer["error"]["next_step"] == "It has: model, benchmark, benchmarks, revisions, options."
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({"limit": 1}, "Choose from: templates, sample, language, pll, reduction, dtype, start, prompting, shots"),
        (["few-shot"], '"options": {'),
    ],
)
def test_a_bad_option_says_what_would_do(client: Client, pairs: Benchmark, options: object, step: str) -> None:
    status, answer = send(client, model="org/causal", benchmark="pairs", options=options)
    assert (status, answer["error"]["code"]) == (400, "bad-input")
    assert step in answer["error"]["next_step"]


def test_a_submission_that_is_checked_says_when_to_look_again(client: Client, small: Benchmark, local_hub: Hub) -> None:
    token = send(client, model="org/causal", benchmark="small")[1]["submission"]
    assert client.get(f"/api/v1/submissions/{token}")["Retry-After"] == "5"
    check_job.check(Submission.objects.get().pk)
    assert "Retry-After" not in client.get(f"/api/v1/submissions/{token}")
