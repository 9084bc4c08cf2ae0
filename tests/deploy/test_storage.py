"""Results in a bucket that speaks the S3 protocol, served by a real server of that protocol."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from django.test import Client
from moto.server import ThreadedMotoServer
from pytest_django.fixtures import Settings

from leaderboard.figures import artefacts
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Run
from leaderboard.settings import artefact_storage
from leaderboard.worker import jobs
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard.conftest import *  # noqa: F403 - its fixtures: a site with a data folder of its own
from tests.leaderboard.in_process import asking, submit, work_off

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> Iterator[str]:
    """The name of a new bucket, in which the site keeps its results."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLOZEBOARD_S3_BUCKET", "results")
    monkeypatch.setenv("CLOZEBOARD_S3_ENDPOINT", f"http://{host}:{port}")
    boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="results")
    settings.STORAGES = settings.STORAGES | {"artefacts": artefact_storage(tmp_path)}
    yield "results"
    server.stop()


def measured(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(jobs, "MeasuringProcess", asking(FakeModel()))
    run = submit("org/causal", benchmark).run
    assert run
    work_off(run)
    return Run.objects.get(pk=run.pk)


@pytest.mark.slow
def test_a_run_is_measured_and_shown(
    bucket: str, small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    run = measured(small, monkeypatch)
    assert run.state == Run.State.FINISHED, run.message
    folders, files = artefacts.storage().listdir(run.artefact)
    assert (sorted(files), folders) == (["highlights.json", "items.parquet", "run.json", "scores.csv"], [])
    for page in ("", "items/", "items/?format=csv", "items.parquet"):
        response = client.get(f"/runs/{run.pk}/{page}")
        assert response.status_code == 200, page
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert len(content) > 100, page


def test_a_run_waits_while_the_bucket_does_not_answer(
    bucket: str, small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("CLOZEBOARD_S3_BUCKET", "no-such-bucket")
        settings.STORAGES = settings.STORAGES | {"artefacts": artefact_storage(Path())}
        run = measured(small, monkeypatch)
    assert (run.state, run.code) == (Run.State.WAITING, "storage-unavailable")
    assert "artefact storage does not answer" in run.events.last().message
    settings.STORAGES = settings.STORAGES | {"artefacts": artefact_storage(Path())}
    queue.enqueue(run.pk)
    work_off(run)
    assert Run.objects.get(pk=run.pk).state == Run.State.FINISHED


def test_without_a_bucket_results_are_files(tmp_path: Path) -> None:
    assert artefact_storage(tmp_path)["OPTIONS"] == {"location": tmp_path}
