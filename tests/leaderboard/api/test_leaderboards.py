"""/api/v1/leaderboard, models, benchmarks, changes and snapshots have the numbers of the pages."""

from typing import Any

import pytest
from django.test import Client

from leaderboard.figures import standings
from leaderboard.operations.freezing import freeze
from tests.leaderboard.conftest import Site


def test_the_leaderboard_has_the_numbers_of_the_page(client: Client, site: Site) -> None:
    answer = client.get("/api/v1/leaderboard?benchmark=small").json()
    lines = client.get("/benchmarks/small/?format=csv").getvalue().decode().splitlines()[1:]
    assert [row["model"]["hub_id"] for row in answer["rows"]] == [line.split(",")[1] for line in lines]
    assert answer["benchmark"]["digest"] == site.benchmark.digest


def test_the_groups_of_a_row_have_the_order_in_which_they_are_stored(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database returns them in any order, which differed from process to process."""
    read = standings.light_rows
    monkeypatch.setattr(standings, "light_rows", lambda *query: sorted(read(*query), key=lambda row: -row.pk))
    groups = ["Geographic", "Political"]
    columns = "&".join(f"columns=domain:{group}" for group in groups)
    rows: list[dict[str, Any]] = client.get(f"/api/v1/leaderboard?benchmark=small&{columns}").json()["rows"]
    shown = [[score["group"] for score in row["slices"]] for row in rows if row["slices"]]
    stored = site.first.scores.filter(metric="accuracy", dimension="domain").order_by("pk")
    assert list(stored.values_list("group", flat=True)) == groups
    assert shown and all(row == groups for row in shown)


@pytest.mark.parametrize("route", ["models", "benchmarks", "runs?model=org/first"])
def test_lists_answer(client: Client, site: Site, route: str) -> None:
    assert "org/first" in client.get(f"/api/v1/{route}").content.decode() or route == "benchmarks"


def test_a_snapshot_is_listed_with_the_address_of_its_document(client: Client, site: Site) -> None:
    snapshot = freeze(["/benchmarks/small/"], "for a paper")
    (row,) = client.get("/api/v1/snapshots").json()["snapshots"]
    assert (row["title"], row["sha256"], row["bytes"]) == ("for a paper", snapshot.digest, snapshot.length)
    assert len(client.get(row["address"]).content) == row["bytes"]
