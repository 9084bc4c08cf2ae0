"""/metrics and /healthz : who may read them, what they say of each part, and in which form."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from ipaddress import ip_network
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.line import QUEUES
from leaderboard.models import Benchmark, Run, RunPart, Submission
from leaderboard.operations import site_state
from leaderboard.operations.site_state import Health, Watch
from leaderboard.pages import machine_pages
from leaderboard.serving.web_server import PASSED_ON, believing_proxies
from probing import extras
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def families(client: Client) -> dict[str, Metric]:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    return {family.name: family for family in text_string_to_metric_families(response.content.decode())}


def values(family: Metric) -> dict[tuple[str, ...], float]:
    """The values by those of the labels, which come in alphabetical order of their names."""
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_prometheus_reads_every_metric_and_names_follow_its_conventions(client: Client, site: Site) -> None:
    Submission.objects.create(token="t", model_id="org/new", benchmark=site.benchmark)
    read = families(client)
    for family in read.values():
        assert family.name.startswith("clozeboard_") and family.documentation.endswith(".")
        assert (family.type == "counter") == any(sample.name.endswith("_total") for sample in family.samples)
    assert values(read["clozeboard_runs"])["measure", "finished"] == 2
    assert values(read["clozeboard_runs"])["measure", "queued"] == 0
    assert values(read["clozeboard_submissions"])["checking",] == 1
    ages = values(read["clozeboard_queue_age_seconds"])
    assert ages == dict.fromkeys([(quantile, queue) for queue in QUEUES for quantile in ("0.5", "0.9")], 0)
    assert values(read["clozeboard_run_transitions"])["scoring",] == 1
    assert values(read["clozeboard_database_up"]) == {(): 1}
    assert values(read["clozeboard_redis_up"]) == {(): 0}
    assert values(read["clozeboard_workers"]) == dict.fromkeys(
        [(name,) for name in ("measure", "measure-large", "checks", "finish")], 0
    )
    assert values(read["clozeboard_worker_newest_heartbeat_age_seconds"])[()] < 60, "that of a claim"
    assert values(read["clozeboard_disk_free_bytes"])["data",] > 0
    assert values(read["clozeboard_unfinished_runs"]) == {(): 1}


def test_items_of_finished_parts_count_as_scored(client: Client) -> None:
    run = make.running(make.model(), make.benchmark(), done=50, items=100)
    RunPart.objects.create(run=run, relation="P31", template=0, items=70, done=True)
    assert values(families(client)["clozeboard_items_scored"]) == {(): 70}


def test_success_and_failures_are_those_of_the_last_thirty_days(client: Client, small: Benchmark) -> None:
    now = timezone.now()
    make.run(make.model(), small, Run.State.FINISHED, finished=now)
    for code in ("timeout", "timeout", "no-space"):
        make.run(make.model(), small, Run.State.FAILED, finished=now, code=code)
    read = families(client)
    assert values(read["clozeboard_success_ratio"]) == {(): 0.25}
    assert values(read["clozeboard_failed_runs"]) == {("timeout",): 2, ("no-space",): 1}
    assert values(read["clozeboard_ended_runs"]) == {("finished",): 1, ("failed",): 3}


def test_without_the_database_it_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[object]:
        raise DatabaseError("gone")

    monkeypatch.setattr(machine_pages, "from_database", fail)
    read = families(client)
    assert values(read["clozeboard_database_up"]) == {(): 0}
    assert "clozeboard_runs" not in read


def test_the_number_of_queries_does_not_grow_with_rows(client: Client, small: Benchmark) -> None:
    counts = []
    for _ in range(2):
        for number in range(10):
            make.running(make.model(), small)
            make.run(make.model(), small, Run.State.FAILED, code=f"code-{number}", finished=timezone.now())
            make.run(make.model(), small, queue=f"queue-{number}")
        with CaptureQueriesContext(connection) as queries:
            families(client)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 13


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("10.1.2.3", {}, 200),
        ("192.0.2.1", {}, 403),
        ("", {}, 403),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}, 403),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 403),
        ("192.0.2.1", {"Authorization": "Bearer the-token"}, 200),
        ("192.0.2.1", {"Authorization": "Bearer the-tokem"}, 403),
        ("192.0.2.1", {"Authorization": "Basic the-token"}, 403),
        ("192.0.2.1", {"Authorization": "Bearer "}, 403),
    ],
)
def test_near_addresses_and_those_who_know_the_token_may_read(
    client: Client, settings: DjangoSettings, address: str, headers: dict[str, str], status: int
) -> None:
    settings.METRICS_TOKEN = "the-token"
    settings.METRICS_NETWORKS = [*settings.METRICS_NETWORKS, ip_network("10.0.0.0/8")]
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


@pytest.mark.parametrize("trusted", ["", "127.0.0.1"])
@pytest.mark.parametrize("header", ["HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP"])
def test_what_a_proxy_of_this_machine_passes_on_is_not_near(
    client: Client, settings: DjangoSettings, header: str, trusted: str
) -> None:
    """The web server removes the headers of a proxy that the settings do not name, whose address is near."""
    settings.TRUSTED_PROXIES = [ip_network(trusted)] if trusted else []
    value = "for=192.0.2.1" if header == "HTTP_FORWARDED" else "192.0.2.1"
    seen: list[WSGIEnvironment] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        seen.append(environ)
        return []

    request = {"REMOTE_ADDR": "127.0.0.1", "REMOTE_HOST": "", "SERVER_NAME": "x", "SERVER_PORT": "80", header: value}
    believing_proxies(application)({**request, "wsgi.url_scheme": "http"}, lambda *arguments: lambda data: None)
    left = {name: seen[0][name] for name in ("REMOTE_ADDR", PASSED_ON, header) if name in seen[0]}
    assert client.get("/metrics", **left).status_code == 403


def test_the_machine_itself_and_the_networks_of_trusted_proxies_are_near() -> None:
    code = "from leaderboard import settings; print(*map(str, settings.METRICS_NETWORKS))"
    environment = os.environ | {"CLOZEBOARD_TRUSTED_PROXIES": "10.0.0.0/8"}
    environment.pop("CLOZEBOARD_METRICS_FROM", None)
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["127.0.0.0/8", "::1/128", "10.0.0.0/8"]


def test_without_a_token_in_the_settings_no_token_is_right(client: Client) -> None:
    headers = {"Authorization": "Bearer "}
    assert client.get("/metrics", headers=headers, REMOTE_ADDR="192.0.2.1").status_code == 403


@pytest.fixture(autouse=True)
def nothing_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_pages, "watch", Watch())


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


def test_it_needs_no_redis_and_no_worker(client: Client, db: None) -> None:
    response = client.get("/healthz", headers={"Accept": "*/*"})
    assert response.status_code == 200
    states = {name: part["state"] for name, part in json.loads(response.content)["parts"].items()}
    assert states == {"database": "ok", "queue": "failing", "storage": "ok", "workers": "failing"}
    assert "no-store" in response["Cache-Control"]


def test_a_site_whose_library_is_not_installed_as_a_package_has_metrics(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "version", missing)
    assert 'version="unknown"' in client.get("/metrics").content.decode()
