"""/api/v1/ : leaderboards, overview, questions, runs and queue have what pages and their CSV have."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.api import parameters
from leaderboard.api import submission_routes as queue_route
from leaderboard.models import Benchmark, Run, Score
from leaderboard.ui.cells import written
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


def as_csv(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return rows of the API as CSV would have them."""
    return [{name: "" if value is None else str(written(value)) for name, value in row.items()} for row in rows]


def test_the_overview_has_the_rows_of_its_csv(client: Client, site: Site) -> None:
    for query in ("", "search=second", "sort=-small", "topic=facts&several=yes"):
        answer = client.get(f"/api/v1/overview?{query}").json()
        assert as_csv(answer["rows"]) == csv_rows(client, f"/?topic=all&{query}"), query
        assert answer["found"] == len(answer["rows"])


def test_questions_have_the_rows_of_their_csv(client: Client, site: Site) -> None:
    for query in ("", "relation=P36", "order=file", "search=oslo"):
        answer = client.get(f"/api/v1/benchmarks/small/items?{query}").json()
        assert as_csv(answer["items"]) == csv_rows(client, f"/benchmarks/small/items/?{query}"), query
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


def test_what_a_benchmark_does_not_have_is_missing(client: Client, site: Site) -> None:
    for route in ("relations/P1", "items/P36-9", "items/none"):
        assert client.get(f"/api/v1/benchmarks/small/{route}").status_code == 404, route


def test_a_filter_that_does_not_exist_is_refused(client: Client, site: Site) -> None:
    for route in ("overview?kind=x", "overview?sort=-x", "overview?topic=x", "benchmarks/small/items?relation=P1"):
        response = client.get(f"/api/v1/{route}")
        assert response.status_code == 400
        assert "Choose from" in response.json()["error"]["next_step"], route


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


def test_the_leaderboard_has_the_numbers_of_the_page(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/leaderboard?benchmark=small").json()
    lines = client.get("/benchmarks/small/?format=csv").getvalue().decode().splitlines()[1:]
    assert [row["model"]["hub_id"] for row in answer["rows"]] == [line.split(",")[1] for line in lines]
    assert answer["benchmark"]["digest"] == site.benchmark.digest


def test_the_groups_of_a_row_have_the_order_in_which_they_are_stored(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database returns them in any order, which differed from process to process."""
    monkeypatch.setattr(Score._meta, "ordering", ["-pk"])
    groups = ["Geographic", "Political"]
    columns = "&".join(f"columns=domain:{group}" for group in groups)
    rows: list[dict[str, Any]] = client.get(f"/api/v1/leaderboard?benchmark=small&{columns}").json()["rows"]
    shown = [[score["group"] for score in row["slices"]] for row in rows if row["slices"]]
    stored = site.first.scores.filter(metric="accuracy", dimension="domain").order_by("pk")
    assert list(stored.values_list("group", flat=True)) == groups
    assert shown and all(row == groups for row in shown)


def test_a_run_comes_with_scores_and_items(client: Client, site: Site) -> None:
    root = f"/api/v1/runs/{site.first.pk}"
    assert client.get(root).json()["provenance_record"]["dtype"] == "float32"
    assert len(client.get(f"{root}/scores").json()["scores"]) == site.first.scores.count()
    assert client.get(f"{root}/items?relation=P36").json()["found"] == 4


def test_an_endless_search_is_refused(client: Client, site: Site) -> None:
    response = client.get(f"/api/v1/runs/{site.first.pk}/items", {"search": "a" * 101})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad-input")


def test_items_of_an_unfinished_run_are_an_error_with_a_code(client: Client, site: Site) -> None:
    response = client.get(f"/api/v1/runs/{site.running.pk}/items")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "items-missing")


def test_open_runs_have_the_rows_of_the_pages_csv(client: Client, small: Benchmark) -> None:
    make.run(make.model("org/working"), small, Run.State.SCORING)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    answer = client.get("/api/v1/queue").json()
    rows = [*answer["working"], *answer["waiting"]]
    assert [row["model"] for row in rows] == [row["model"] for row in csv_rows(client, "/queue/")]
    assert (answer["number_waiting"], answer["next"]) == (len(answer["waiting"]), None)


def test_the_queue_is_read_once(client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    read, places = queue_route.queue, []
    monkeypatch.setattr(queue_route, "queue", lambda *place: places.append(place) or read(*place))
    make.run(make.model(), small, Run.State.QUEUED)
    assert len(client.get("/api/v1/queue").json()["waiting"]) == 1
    assert places == [(0, 200)]


@pytest.mark.parametrize("page", [3, 10**30])
def test_a_page_beyond_the_last_one_is_the_last(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    answer = client.get(f"/api/v1/queue?page={page}").json()
    assert answer == client.get("/api/v1/queue?page=2").json()
    assert (answer["page"], len(answer["waiting"])) == (2, 1)


def test_the_address_of_the_next_page_goes_on_behind_the_last_run(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameters, "ENTRIES_PER_PAGE", 2)
    for number in range(3):
        make.run(make.model(f"org/waiting-{number}"), small, Run.State.QUEUED)
    first = client.get("/api/v1/queue").json()
    second = client.get(first["next"]).json()
    models = [row["model"] for answer in (first, second) for row in answer["waiting"]]
    assert models == [f"org/waiting-{number}" for number in range(3)]
    assert second["next"] is None
