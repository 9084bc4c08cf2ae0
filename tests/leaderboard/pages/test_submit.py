"""/submit/ : checks are shown, duplicates lead to their run, bad input is said."""

import pytest
from django.test import Client

from leaderboard.checks import Check
from leaderboard.models import Benchmark
from leaderboard.submissions import Submission
from leaderboard.views import submit as view
from tests.leaderboard import factories as make

GOOD = {"model": "org/model", "benchmark": "small"}


def answer(monkeypatch: pytest.MonkeyPatch, submission: Submission) -> None:
    monkeypatch.setattr(view, "submit", lambda *args, **kwargs: submission)


def test_an_accepted_model_leads_to_its_run(client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make.run(make.model(), small)
    answer(monkeypatch, Submission(run, (Check("exists", "ok", "Found."),)))
    assert client.post("/submit/", GOOD).headers["Location"] == f"/runs/{run.pk}/"


def test_a_duplicate_is_said_and_linked(client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make.run(make.model(), small)
    answer(monkeypatch, Submission(run, (Check("not measured already", "warning", "This is a run."),), run))
    html = client.post("/submit/", GOOD).content.decode()
    assert "already" in html
    assert f'href="/runs/{run.pk}/"' in html


def test_every_check_is_shown_with_what_to_do(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = (Check("exists", "ok", "Found."), Check("size", "failed", "Too large.", "Submit a smaller one."))
    answer(monkeypatch, Submission(None, checks))
    html = client.post("/submit/", GOOD).content.decode()
    for text in ("Not accepted", "Found.", "Too large.", "Submit a smaller one."):
        assert text in html


@pytest.mark.parametrize("wrong", [{"model": ""}, {"benchmark": "nonsense"}])
def test_bad_input_is_said_at_the_form(client: Client, small: Benchmark, wrong: dict[str, str]) -> None:
    response = client.post("/submit/", GOOD | wrong)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()


def test_a_hostile_id_is_escaped(client: Client, small: Benchmark) -> None:
    html = client.post("/submit/", GOOD | {"model": "<script>alert(1)</script>"}).content.decode()
    assert "<script>alert" not in html
