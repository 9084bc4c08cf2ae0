"""Whatever the record of a pushed result says, it is refused with a reason, or all pages of its run can be shown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.models import Benchmark, Model, Run
from probing.results.result import RECORD
from probing.results.rows import ITEMS
from tests.leaderboard.api.test_results import CARD, Pusher, measured_elsewhere

pytestmark = pytest.mark.django_db
FILES = ("", "reproduce.sh", "requirements.txt", "every-eval-ever.json", "items/")
# As JSON writes them; the last ones are no values, or none that a database stores.
VALUES = (
    "null", "true", "-1", "1e30", "9" * 30, '""', '"\\u202eevil"', '"' + "x" * 500 + '"', "[]", "[[1]]", "{}",
    '{"evil": 5}', '{"x": "1.0"}', '"<script>alert(1)</script>"', '"\\ud800"', '"a\\u0000b"', "NaN", "1e999",
)  # fmt: skip
PLACE = "the place of the hostile value"


class Stranger(Pusher):
    """Who pushes results with hostile records; an error of the site is an answer to them."""

    def __init__(self, result: Path) -> None:
        super().__init__(Client(raise_request_exception=False))
        self.items, self.record = (result / ITEMS).read_bytes(), json.loads((result / RECORD).read_text())
        self.record["items_skipped"] = [{"relation": "P36", "items": 1, "why": "no reason"}]

    def push_with(self, path: tuple[str | int, ...], value: str) -> Any:
        """Push the result with this JSON at one place of its record."""
        record = json.dumps(changed(self.record, path, PLACE)).replace(json.dumps(PLACE), value)
        return self.send(self.items, record, model=CARD.id)


@pytest.fixture
def stranger(small: Benchmark, tmp_path: Path, settings: SiteSettings) -> Stranger:
    settings.PUSHES_PER_MINUTE = 0
    return Stranger(measured_elsewhere(small, tmp_path / "result"))


def changed(content: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of nested values with another one at a place."""
    if not path:
        return value
    copy = content.copy()
    copy[path[0]] = changed(content[path[0]], path[1:], value)
    return copy


def paths(content: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield every place of nested values, the whole first."""
    yield ()
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in entries:
        yield from ((name, *rest) for rest in paths(value))


def expect_answers(stranger: Stranger, path: tuple[str | int, ...], value: str) -> None:
    answer = stranger.push_with(path, value)
    case = (path, value[:40])
    assert answer.status_code in (201, 422), (case, answer.content)
    if answer.status_code == 422:
        assert set(answer.json()["error"]) == {"code", "message", "next_step"}, case
        return
    run = answer.json()["run"]
    addresses = [f"/runs/{run}/{name}" for name in FILES] + [f"/models/{CARD.id}/", "/", "/benchmarks/small/"]
    addresses += [f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/items", "/api/v1/models", "/feed.atom"]
    for address in addresses:
        response = stranger.client.get(address)
        assert response.status_code < 500, (case, address)
        text = response.getvalue().decode() if response["Content-Type"].startswith("text/") else ""
        assert "\u202e" not in text, (case, address)
    stored = Run.objects.get(pk=run)
    assert json.dumps([stored.provenance_record, stored.settings], ensure_ascii=False, allow_nan=False).encode(), case
    assert stranger.withdraw(run).status_code == 200
    assert not Model.objects.filter(hub_id=CARD.id).exists()


@pytest.mark.slow
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_record_is_refused_or_its_run_can_be_shown(stranger: Stranger, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(paths(stranger.record))[1:]))
    expect_answers(stranger, path, data.draw(st.sampled_from(VALUES)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("packages", "numpy"), "5"),
        (("benchmark", "slug"), "[]"),
        (("model", "kind"), '"oracle"'),
        (("model", "parameters"), "9" * 30),
        (("model", "files"), "5"),
        (("benchmark_notes",), '["\\ud800"]'),
        (("benchmark_notes",), "[5]"),
        (("peak_memory",), '{"process": NaN}'),
        (("items_skipped", 0), '{"relation": "P36", "items": 0, "why": "", "indices": null}'),
        (("items_skipped", 0), '{"relation": "P36", "items": 0, "why": "", "indices": []}'),
        (("settings", "start"), "7"),
        (("settings", "relations"), "[[1]]"),
    ],
)
def test_what_no_record_says_is_refused(stranger: Stranger, path: tuple[str | int, ...], value: str) -> None:
    answer = stranger.push_with(path, value)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad-input")
    assert not Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).exists()
    assert not Model.objects.filter(hub_id=CARD.id).exists()
