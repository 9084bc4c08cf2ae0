"""/submit/ : checks are shown, duplicates lead to their run, bad input is said."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.intake.checks import Check
from leaderboard.intake.submissions import Submission
from leaderboard.models import Benchmark, Run
from leaderboard.stored import benchmarks
from leaderboard.views import submit as view
from probing.catalog import EMBEDDED
from probing.errors import BadInput
from tests.hub.local_hub import Hub
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


PAIRS = {"model": "org/causal", "benchmark": "pairs"}


def shown(client: Client, **asked: str) -> dict[str, list[str]]:
    """The choices of each option on the page."""
    form = client.get("/submit/", asked).context["form"]
    return {field.name: [value for value, _ in getattr(field.field, "choices", [])] for field in form.options()}


def test_the_options_are_those_of_the_benchmarks_probe(client: Client, small: Benchmark, pairs: Benchmark) -> None:
    benchmarks.install("knowledge_graph", EMBEDDED / "graph", "graph")
    assert shown(client, benchmark="small") == {}
    assert shown(client, benchmark="pairs") == {"set-prompting": ["vanilla", "few-shot", "cascade"], "set-shots": []}
    assert shown(client, benchmark="graph") == {"set-by": ["token", "word"], "set-public_code": ["False", "True"]}
    first = client.get("/submit/").context["form"].fields["benchmark"].queryset.first()
    assert shown(client) == shown(client, benchmark=first.slug) == shown(client, benchmark="nonsense")


def test_what_is_usual_is_chosen_beforehand(client: Client, pairs: Benchmark) -> None:
    Benchmark.objects.filter(pk=pairs.pk).update(settings={"options": {"prompting": "cascade"}})
    assert '<option value="cascade" selected>' in client.get("/submit/?benchmark=pairs").content.decode()
    html = client.get("/submit/?benchmark=pairs&set-prompting=few-shot").content.decode()
    assert '<option value="few-shot" selected>' in html, "a link can choose"


def test_a_number_field_holds_the_benchmarks_usual_value_and_a_help_text(client: Client, pairs: Benchmark) -> None:
    Benchmark.objects.filter(pk=pairs.pk).update(settings={"options": {"shots": 4}})
    html = client.get("/submit/?benchmark=pairs").content.decode()
    assert '<input type="number" name="set-shots" value="4"' in html
    assert 'aria-describedby="id_set-shots_helptext"' in html
    assert 'id="id_set-shots_helptext">How many demonstrations stand before each' in html


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        ({"set-shots": "many"}, "set-shots", "Give a whole number."),
        ({"set-shots": "0"}, "set-shots", "0 demonstrations show nothing. Give 1 or more"),
        ({"set-prompting": "loud"}, "set-prompting", "Select a valid choice"),
    ],
)
def test_a_bad_value_is_an_error_of_its_field(
    client: Client, pairs: Benchmark, local_hub: Hub, sent: dict[str, str], field: str, words: str
) -> None:
    answer = client.post("/submit/", PAIRS | sent)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert list(errors) == [field]
    assert words in errors[field][0]
    assert not Run.objects.filter(model__hub_id="org/causal").exists()


def test_without_javascript_a_button_shows_the_options(client: Client, small: Benchmark, pairs: Benchmark) -> None:
    answer = client.post("/submit/", PAIRS | {"look": ""})
    html = answer.content.decode()
    assert answer.status_code == 200
    assert 'name="set-prompting"' in html
    assert 'value="org/causal"' in html, "what was written stays"
    assert not Run.objects.filter(model__hub_id="org/causal").exists()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({}, {}),
        ({"set-prompting": "vanilla", "set-shots": "10"}, {}),
        ({"set-prompting": "", "set-shots": ""}, {}),
        ({"set-prompting": "few-shot", "set-shots": "3"}, {"prompting": "few-shot", "shots": 3}),
    ],
)
def test_the_chosen_option_is_measured(
    client: Client, pairs: Benchmark, local_hub: Hub, sent: dict[str, str], stored: dict[str, Any]
) -> None:
    client.post("/submit/", PAIRS | sent)
    assert Run.objects.get(model__hub_id="org/causal").settings["options"] == stored


def test_an_option_of_another_probe_is_passed_over(client: Client, small: Benchmark, local_hub: Hub) -> None:
    client.post("/submit/", {"model": "org/causal", "benchmark": "small", "set-prompting": "few-shot"})
    assert Run.objects.get(model__hub_id="org/causal").settings["options"] == {}


def test_a_choice_that_is_none_is_said_at_the_form(client: Client, pairs: Benchmark, local_hub: Hub) -> None:
    answer = client.post("/submit/", PAIRS | {"set-prompting": "loud"})
    assert (answer.status_code, Run.objects.filter(model__hub_id="org/causal").count()) == (422, 0)
    assert "Select a valid choice" in answer.content.decode()


def test_options_that_exclude_each_other_are_said_at_the_form(client: Client, db: None, local_hub: Hub) -> None:
    benchmarks.install("knowledge_graph", EMBEDDED / "graph", "graph")
    both = {"model": "org/causal", "benchmark": "graph", "set-by": "word", "set-public_code": "True"}
    answer = client.post("/submit/", both)
    assert answer.status_code == 422
    assert "The public code divides by tokens." in answer.content.decode()


def test_an_error_of_the_submission_is_said_at_the_form(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> Submission:
        raise BadInput("Ten models a day are the limit.", "Come back tomorrow.")

    monkeypatch.setattr(view, "submit", fail)
    response = client.post("/submit/", GOOD)
    assert response.status_code == 422
    assert response.context["form"].non_field_errors() == ["Ten models a day are the limit. Come back tomorrow."]
