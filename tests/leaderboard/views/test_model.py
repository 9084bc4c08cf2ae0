"""/models/<org>/<name>/ : a model's facts, its commits, and everything measured on it."""

from django.test import Client

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


def test_an_unknown_model_is_not_found(client: Client, db: None) -> None:
    assert client.get("/models/org/nothing/").status_code == 404


def test_runs_of_every_commit_and_state_are_listed(client: Client, small: Benchmark) -> None:
    old, new = make.model("org/name", commit="a" * 40), make.model("org/name", commit="b" * 40)
    make.finished(small, 0.25, old)
    make.run(new, small, Run.State.FAILED)
    make.finished(small, 0.75, make.model("org/other"))
    rows = {(row["commit"], row["state"], row["score"]) for row in csv_rows(client, "/models/org/name/")}
    assert rows == {("a" * 7, "Finished", "0.25"), ("b" * 7, "Failed", "")}


def test_the_sections_are_those_of_the_newest_run_that_has_items(client: Client, site: Site) -> None:
    model = site.first.model
    newer = make.measured(site.benchmark, model, skill=2, seed=3)
    make.run(model, site.benchmark, Run.State.FAILED)
    context = client.get(f"/models/{model.hub_id}/").context
    assert context["newest"] == newer
    names = [section.name for section in context["sections"]]
    assert "domain" in names
    assert not {"relation", "template"} & set(names), "the page of the run has them"


def test_a_model_with_published_figures_only_has_no_sections(client: Client, site: Site) -> None:
    context = client.get(f"/models/{site.published.model.hub_id}/").context
    assert (context["newest"], context["sections"]) == (None, [])


def test_a_benchmark_that_the_model_was_not_measured_on_is_passed_over(client: Client, site: Site) -> None:
    context = client.get(f"/models/{site.first.model.hub_id}/?benchmark=nonsense").context
    assert context["newest"] == site.first
