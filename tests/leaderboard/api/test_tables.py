"""/api/v1/overview and /api/v1/benchmarks/<slug>/items have the rows of the pages and of their CSV."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Run
from leaderboard.ui.cells import written
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


def as_csv(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return rows of the API as CSV would have them."""
    return [{name: "" if value is None else str(written(value)) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("query", ["", "search=second", "sort=-small", "topic=facts&several=yes"])
def test_the_overview_has_the_rows_of_its_csv(client: Client, site: Site, query: str) -> None:
    answer = client.get(f"/api/v1/overview?{query}").json()
    assert as_csv(answer["rows"]) == csv_rows(client, f"/?topic=all&{query}")
    assert answer["found"] == len(answer["rows"])


@pytest.mark.parametrize("query", ["", "relation=P36", "order=file", "search=oslo"])
def test_questions_have_the_rows_of_their_csv(client: Client, site: Site, query: str) -> None:
    answer = client.get(f"/api/v1/benchmarks/small/items?{query}").json()
    assert as_csv(answer["items"]) == csv_rows(client, f"/benchmarks/small/items/?{query}")
    assert answer["found"] == len(answer["items"]) > 0


def test_a_relation_has_the_scores_of_its_pages_csv(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/benchmarks/small/relations/P36").json()
    assert as_csv(answer["scores"]) == csv_rows(client, "/benchmarks/small/relations/P36/")
    assert (answer["metric"], answer["questions"]) == ("accuracy", 2)
    assert len(answer["templates"]) == 3


def test_a_question_has_its_wordings_and_the_share_of_those_in_which_each_run_is_right(
    client: Client, site: Site
) -> None:
    make.restore_figures(site.benchmark)
    answer = client.get("/api/v1/benchmarks/small/items/P36-0").json()
    assert (answer["subject"], answer["answers"]) == ("Norway", ["Oslo"])
    assert answer["sentences"][0] == "The capital of Norway is ____."
    assert {row["run"] for row in answer["outcomes"]} == {site.first.pk, site.second.pk}
    shares = [row["right"] for row in answer["outcomes"]]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("route", ["relations/P1", "items/P36-9", "items/none"])
def test_what_a_benchmark_does_not_have_is_missing(client: Client, site: Site, route: str) -> None:
    assert client.get(f"/api/v1/benchmarks/small/{route}").status_code == 404


@pytest.mark.parametrize(
    "route",
    ["overview?kind=huge", "overview?sort=-nothing", "overview?topic=x", "benchmarks/small/items?relation=P1"],
)
def test_a_filter_that_does_not_exist_is_refused(client: Client, site: Site, route: str) -> None:
    response = client.get(f"/api/v1/{route}")
    assert response.status_code == 400
    assert "Choose from" in response.json()["error"]["next_step"]


def test_questions_of_a_benchmark_without_files_are_missing(client: Client, db: None) -> None:
    make.benchmark("bare")
    assert client.get("/api/v1/benchmarks/bare/items").status_code == 400
    assert client.get("/api/v1/benchmarks/none/items").status_code == 404


def test_models_without_a_figure_in_a_column_have_rows(client: Client, db: None) -> None:
    """Published figures in other metrics or about other pairs lead to their benchmark; waiting runs have a row."""
    make.published_figures()
    waiting = make.run(make.model("org/waiting"), make.benchmark("fresh", title="Fresh"), Run.State.QUEUED)
    rows = {row["hub_id"]: row for row in client.get("/api/v1/overview").json()["rows"]}
    page = client.get("/?search=waiting").content.decode()
    assert f'href="{waiting.get_absolute_url()}"' in page
    assert rows["org/waiting"]["coverage"] == 0
    for slug, anchor in (("trex", ""), ("fb15k237", ""), ("cultlama", "?part=all")):
        marked = [row for row in rows.values() if row[f"{slug}_provenance"] == "published" and row[slug] is None]
        assert marked, slug
        page = client.get(f"/?search={marked[0]['hub_id']}").content.decode()
        assert f'href="/benchmarks/{slug}/{anchor}"' in page
    assert client.get("/benchmarks/trex/").status_code == 200


def test_baselines_are_no_models_of_the_overview(client: Client, db: None) -> None:
    make.published_figures()
    assert not [row for row in client.get("/api/v1/overview").json()["rows"] if "baseline" in row["hub_id"]]
