"""Whatever the record of a result from elsewhere says, it is refused with a reason, or its run can be shown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.figures.ranks import withdraw
from leaderboard.models import Model, Run
from leaderboard.worker.importing import import_result
from probing.errors import BadInput, ProbingError
from probing.results.result import RECORD
from tests.leaderboard.worker.test_importing import CARD, result, stored

__all__ = ["result", "stored"]  # fixtures, which pytest finds by their names

pytestmark = pytest.mark.django_db
FILES = ("", "reproduce.sh", "requirements.txt", "every-eval-ever.json", "items/")
# As JSON writes them; the last ones are no values, or none that a database stores.
VALUES = (
    "null", "true", "-1", "1e30", "9" * 30, '""', '"\\u202eevil"', '"' + "x" * 500 + '"', "[]", "[[1]]", "{}",
    '{"evil": 5}', '{"x": "1.0"}', '"<script>alert(1)</script>"', '"\\ud800"', '"a\\u0000b"', "NaN", "1e999",
)  # fmt: skip
PLACE = "the place of the hostile value"


class Stranger:
    """Who gives results with hostile records, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.record = folder, json.loads((folder / RECORD).read_text())
        self.record["items_skipped"] = [{"relation": "P36", "items": 1, "why": "no reason"}]

    def import_with(self, path: tuple[str | int, ...], value: str) -> Run:
        """Import the result with this JSON at one place of its record."""
        record = json.dumps(changed(self.record, path, PLACE)).replace(json.dumps(PLACE), value)
        (self.folder / RECORD).write_text(record)
        return import_result(self.folder, "a stranger", hub_id=CARD.id)


@pytest.fixture
def stranger(result: Path) -> Stranger:
    return Stranger(result)


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


def expect_answers(client: Client, stranger: Stranger, path: tuple[str | int, ...], value: str) -> None:
    case = (path, value[:40])
    try:
        run = stranger.import_with(path, value)
    except ProbingError:
        return
    addresses = [f"/runs/{run.pk}/{name}" for name in FILES] + [f"/models/{CARD.id}/", "/", "/benchmarks/small/"]
    addresses += [f"/api/v1/runs/{run.pk}", f"/api/v1/runs/{run.pk}/items", "/api/v1/models", "/feed.atom"]
    for address in addresses:
        response = client.get(address)
        assert response.status_code < 500, (case, address)
        text = response.getvalue().decode() if response["Content-Type"].startswith("text/") else ""
        assert "\u202e" not in text, (case, address)
    stored = Run.objects.get(pk=run.pk)
    assert json.dumps([stored.provenance_record, stored.settings], ensure_ascii=False, allow_nan=False).encode(), case
    withdraw(Run.objects.filter(pk=run.pk))
    Model.objects.filter(hub_id=CARD.id).delete()


@pytest.mark.slow
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_record_is_refused_or_its_run_can_be_shown(stranger: Stranger, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(paths(stranger.record))[1:]))
    client = Client(raise_request_exception=False)  # an error of the site is an answer to it
    expect_answers(client, stranger, path, data.draw(st.sampled_from(VALUES)))


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
    with pytest.raises(BadInput):
        stranger.import_with(path, value)
    assert not Run.objects.filter(provenance=Run.Provenance.ELSEWHERE).exists()
    assert not Model.objects.filter(hub_id=CARD.id).exists()
