"""/healthz : what it answers for each state of the parts, and in which form."""

import json

import pytest
from django.test import Client

from leaderboard.operations import site_state
from leaderboard.operations.site_state import Health, Watch
from leaderboard.pages import machine_pages as view


@pytest.fixture(autouse=True)
def nothing_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "watch", Watch())


def let(monkeypatch: pytest.MonkeyPatch, **states: bool) -> None:
    """Let all parts work but those that are named as failing."""
    for name in site_state.PARTS:
        part = Health(states.get(name, True), f"About {name}.")
        monkeypatch.setitem(site_state.PARTS, name, lambda part=part: part)


@pytest.mark.parametrize(
    ("states", "word", "status", "strict"),
    [
        ({}, "ok", 200, 200),
        ({"workers": False}, "degraded", 200, 503),
        ({"queue": False, "storage": False}, "degraded", 200, 503),
        ({"database": False}, "failing", 503, 503),
    ],
)
def test_the_site_is_taken_off_the_net_only_where_the_database_fails(
    client: Client, monkeypatch: pytest.MonkeyPatch, states: dict[str, bool], word: str, status: int, strict: int
) -> None:
    let(monkeypatch, **states)
    response = client.get("/healthz")
    assert (response.status_code, response.json()["state"]) == (status, word)
    for name, part in response.json()["parts"].items():
        assert part["state"] == ("ok" if states.get(name, True) else "failing")
        assert part["message"] == f"About {name}."
    assert client.get("/healthz?strict=1").status_code == strict
    plain = client.get("/healthz", headers={"Accept": "text/plain"})
    assert (plain.status_code, plain.content.decode()) == (status, f"{word}\n")


def test_it_needs_no_redis_and_no_worker(client: Client, db: None) -> None:
    response = client.get("/healthz", headers={"Accept": "*/*"})
    assert response.status_code == 200
    states = {name: part["state"] for name, part in json.loads(response.content)["parts"].items()}
    assert states == {"database": "ok", "queue": "failing", "storage": "ok", "workers": "failing"}
    assert "no-store" in response["Cache-Control"]
