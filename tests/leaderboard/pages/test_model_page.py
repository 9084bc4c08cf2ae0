"""/models/<org>/<name>/ : what a model knows, beside models of similar size, and every run of it."""

import re
from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Benchmark, FormerName, Model, Run, Submission
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


def page_of(client: Client, model: str = "org/name", query: str = "") -> str:
    response = client.get(f"/models/{model}/{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_a_model_that_waits_for_its_checks_has_no_page(client: Client, small: Benchmark) -> None:
    Submission.objects.create(
        token="t", model_id="org/name", benchmark=small, state=Submission.State.WAITING, checks=[]
    )
    assert client.get("/models/org/name/").status_code == 404


def test_the_address_under_a_former_name_redirects(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    FormerName.objects.create(name="published/the-name", hub_id="org/name")
    response = client.get("/models/published/the-name/")
    assert (response.status_code, response["Location"]) == (301, "/models/org/name/")


def test_runs_of_every_commit_and_state_are_listed(client: Client, small: Benchmark) -> None:
    old, new = make.model("org/name", commit="a" * 40), make.model("org/name", commit="b" * 40)
    make.finished(small, 0.25, old)
    make.run(new, small, Run.State.FAILED)
    make.finished(small, 0.75, make.model("org/other"))
    rows = {(row["commit"], row["state"], row["score"]) for row in csv_rows(client, "/models/org/name/")}
    assert rows == {("a" * 7, "Finished", "0.25"), ("b" * 7, "Failed", "")}


def test_the_table_of_runs_has_no_columns_of_states_and_metrics(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.25, make.model("org/name"))
    page = page_of(client)
    assert not any(f'data-column="{name}"' in page for name in ("state", "commit", "metric", "settings"))
    (row,) = csv_rows(client, "/models/org/name/")
    assert row["run"] == str(run.pk)


def test_the_name_comes_first_with_its_facts_and_a_link_to_the_hub(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.25, make.model("org/name", parameters=135_000_000))
    page = page_of(client)
    assert '<h1> name <span class="org">org</span> </h1>' in page
    assert "<span>135 M parameters</span>" in page
    assert 'href="https://huggingface.co/org/name"' in page
    assert 'href="/compare/?model=org/name"' in page


def test_it_says_how_it_is_cited_and_leads_to_the_same_as_json(client: Client, small: Benchmark) -> None:
    make.running(make.model("org/name"), small)
    assert 'id="citation-bibtex"' not in page_of(client), "there is no figure yet"
    run = make.finished(small, 0.25, make.model("org/name"))
    page = page_of(client)
    assert '<div id="cite" class="target">' in page
    (query,) = re.findall(r'href="([^"]+)">JSON</a>', page)
    rows = client.get(f"/models/org/name/{query}").json()
    assert run.pk in [row["run"] for row in rows]


def test_a_local_file_has_no_link_to_the_hub(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.25, make.model("org/name", source=Model.Source.LOCAL))
    assert "huggingface.co" not in page_of(client)


def test_a_model_that_is_not_on_the_hub_is_named_as_in_its_paper(client: Client, small: Benchmark) -> None:
    published = make.published(small)
    Model.objects.filter(pk=published.model_id).update(hub_id="published/big-1", printed_name="Big 1")
    page = page_of(client, "published/big-1")
    assert "<h1> Big 1 </h1>" in page
    assert "as named in the paper" in page
    assert "huggingface.co" not in page


def test_a_figure_stands_beside_those_of_models_of_similar_size(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name", parameters=100))
    for parameters, value in ((50, 0.3), (200, 0.6), (49, 0.1), (201, 0.9)):
        make.finished(small, value, make.model(parameters=parameters))
    make.finished(small, 0.99, make.model(parameters=100), settings={"templates": [1]})
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    similar = [row[f"similar_{name}"] for name in ("low", "median", "high", "models")]
    assert [float(value) for value in similar] == pytest.approx([0.3, 0.45, 0.6, 2])


def test_chance_is_that_of_the_benchmark(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    assert float(row["chance"]) == small.baselines["chance"]


def test_the_ticks_of_the_profile_are_explained_where_there_are_any(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/a"))
    make.finished(small, 0.4, make.model("org/b"))
    assert client.get("/models/org/a/").context["profile_note"].endswith("The ticks are chance.")
    Benchmark.objects.filter(pk=small.pk).update(baselines={})
    assert client.get("/models/org/a/").context["profile_note"].endswith("as many parameters.")


def test_the_figure_is_a_measured_one_with_the_usual_settings(client: Client, small: Benchmark) -> None:
    model = make.model("org/name")
    usual = make.finished(small, 0.5, model)
    make.finished(small, 0.7, model, settings={"templates": [1]})
    published = make.published(small, 0.6)
    Model.objects.filter(pk=published.model_id).update(hub_id="org/name")
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    assert row["run"] == str(usual.pk)


def test_figures_that_are_no_shares_are_left_out_of_the_profile(client: Client, small: Benchmark) -> None:
    model = make.model("org/name")
    make.finished(small, 0.5, model)
    other = make.benchmark("trex", probe="cloze")
    make.printed(other, [{"metric": "relative_accuracy_lm_pub_quiz", "value": 0.9}], model)
    assert [row["benchmark"] for row in csv_rows(client, "/models/org/name/", "profile")] == ["small"]
    assert [row["benchmark"] for row in csv_rows(client, "/models/org/name/", "published")] == ["Trex"]


def test_what_it_knows_best_comes_first_against_chance(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5, make.model("org/name"), artefact="runs/1")
    for group, value, chance in (("Sports", 0.7, 0.5), ("Movies", 0.2, 0.1), ("Language", 0.6, 0.1)):
        make.score(run, value, "domain", group)
        make.score(run, chance, "domain", group, metric="chance")
    page = client.get("/models/org/name/")
    assert [group["title"] for group in page.context["best"]] == ["Language", "Arts"]
    assert [group["title"] for group in page.context["least"]] == ["Movies", "Sports"]
    assert f'href="/runs/{run.pk}/items/?domain=Language"' in page.content.decode()


def test_nothing_is_known_best_where_no_group_is_above_chance(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5, make.model("org/name"), artefact="runs/1")
    make.score(run, 0.5, "domain", "Arts", metric="chance")
    make.score(run, 0.0, "domain", "Movies")
    make.score(run, 0.25, "domain", "Movies", metric="chance")
    page = client.get("/models/org/name/")
    assert page.context["best"] == []
    assert [group["title"] for group in page.context["least"]] == ["Movies"]
    assert "Nothing: no group is clearly above chance." in " ".join(page.content.decode().split())


def test_what_a_model_knows_best_of_open_blanks_is_not_held_against_chance(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5, make.model("org/name"), artefact="runs/1")
    make.score(run, 0.7, "domain", "Movies")
    page = " ".join(client.get("/models/org/name/").content.decode().split())
    assert "<dt>Knows best</dt>" in page
    assert "chance" not in page.partition("<dt>Knows best</dt>")[2].partition("</dl>")[0]
    run.scores.filter(dimension="domain").update(n=5)
    assert "Knows best" not in client.get("/models/org/name/").content.decode(), "of too few questions"


def test_the_words_of_the_domains_go_from_the_lowest_figure_to_the_highest(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.4, make.model("org/name"), artefact="runs/1")
    make.score(run, 0.7, "domain", "Sports")
    make.score(run, 0.65, "domain", "Sports", metric="chance")
    summary = client.get("/models/org/name/").context["charts"]["known"].summary
    assert "from 0.400 (Arts) to 0.700 (Sports)" in summary


def test_domains_have_the_median_of_measured_models_of_similar_size(client: Client, small: Benchmark) -> None:
    run = make.finished(small, 0.5, make.model("org/name"), artefact="runs/1")
    make.score(run, 0.7, "domain", "Sports")
    for value in (0.1, 0.2, 0.9):
        make.finished(small, value)
    make.published(small, 0.95)
    rows = {row["group"]: row for row in csv_rows(client, "/models/org/name/", "known")}
    assert float(rows["Arts"]["median"]) == 0.2
    assert rows["Sports"]["median"] == ""


def test_the_reader_chooses_the_benchmark_of_the_domains(client: Client, site: Site) -> None:
    model = site.first.model
    other = make.finished(make.benchmark("other"), 0.5, model, artefact="runs/none")
    make.score(other, 0.7, "domain", "Sports")
    assert client.get(f"/models/{model.hub_id}/?benchmark=other").context["known_run"] == other
    assert client.get(f"/models/{model.hub_id}/?benchmark=nonsense").context["known_run"] in (other, site.first)


def test_a_published_figure_stands_beside_the_measured_one(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    for value in (0.6, 0.3):
        published = make.published(small, value)
        Model.objects.filter(pk=published.model_id).update(hub_id="org/name", commit=str(value))
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    assert (row["score"], row["published"]) == ("0.5", "0.3"), "of several the last"
    assert float(row["published_difference"]) == pytest.approx(-0.2)
    assert "−0.200" in page_of(client)


@pytest.mark.parametrize(
    ("fields", "difference"),
    [
        ({"settings": {"options": {"reported": "appendix"}}}, 0.1),
        ({"settings": {"reduction": "mean"}}, None),
        ({"differs": "Other items."}, None),
    ],
)
def test_a_difference_needs_the_same_settings_and_items(
    client: Client, small: Benchmark, fields: dict[str, Any], difference: float | None
) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    published = make.published(small, 0.6, **fields)
    Model.objects.filter(pk=published.model_id).update(hub_id="org/name")
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    assert row["published"] == "0.6"
    shown = row["published_difference"]
    if difference is None:
        assert shown == ""
    else:
        assert float(shown) == pytest.approx(difference)


def test_figures_about_other_samples_say_what_differs(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    elsewhere = make.benchmark("small", version="published", current=False)
    published = make.published(elsewhere, 0.6, differs="Other items.")
    Model.objects.filter(pk=published.model_id).update(hub_id="org/name")
    assert 'Other items.">0.600</a>' in page_of(client), "beside the measured figure, with what differs in it"
    (row,) = csv_rows(client, "/models/org/name/", "published")
    assert row["differs"] == "Other items."
    (row,) = csv_rows(client, "/models/org/name/", "profile")
    assert (row["published"], row["published_difference"]) == ("0.6", "")


def test_a_model_with_published_figures_only_says_so(client: Client, site: Site) -> None:
    page = page_of(client, site.published.model.hub_id)
    assert "Nothing was measured here. All figures below come from others." in page
    assert 'href="/compare/?model=' not in page, "as there are no answers to compare"
    assert "Submit this model" in page


def test_a_model_whose_only_run_failed_says_why(client: Client, site: Site) -> None:
    page = page_of(client, "org/failed")
    assert "(failed: The disk is full.)" in page
    assert "There are no figures of this model." in page
    assert "Compare</a> </p>" not in page


def test_a_model_that_is_being_measured_says_what_comes(client: Client, site: Site) -> None:
    page = page_of(client, "org/running")
    assert f'Not finished yet: <a href="/runs/{site.running.pk}/">small</a> (scoring).' in page
    assert "They appear here when a run is finished." in page


def test_sorting_the_runs_leaves_them_open(client: Client, small: Benchmark) -> None:
    make.finished(small, 0.5, make.model("org/name"))
    closed, opened = (page_of(client, query=query) for query in ("", "?sort=-score"))
    assert '<details class="fold"> <summary> <span><strong>Runs' in closed
    assert '<details class="fold" open> <summary> <span><strong>Runs' in opened


def test_a_page_that_names_a_run_at_work_is_kept_for_seconds_alone(client: Client, small: Benchmark) -> None:
    run = make.run(make.model("org/new"), small)
    Run.objects.filter(pk=run.pk).update(state=Run.State.DOWNLOADING)
    assert "max-age=" in client.get(run.model.get_absolute_url())["Cache-Control"]
    Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)
    assert "Cache-Control" not in client.get(run.model.get_absolute_url())
