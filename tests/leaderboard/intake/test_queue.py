import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import django_rq
import pandas as pd
import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import queue
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart
from leaderboard.stored import artefacts, benchmarks
from probing.catalog import EMBEDDED
from probing.runner import run as probe
from tests.hub.local_hub import Hub
from tests.leaderboard.workers import kill, manage, until, worker

pytestmark = pytest.mark.django_db(transaction=True)


SHORT = {"limit": 10}  # 31 parts of the starter benchmark, each taking a moment


def queued_ids() -> list[int]:
    return [job.args[0] for job in django_rq.get_queue().jobs]


def make_run(benchmark: Benchmark, state: str, name: str = "name") -> Run:
    model, _ = Model.objects.get_or_create(hub_id=f"org/{name}")
    run = Run.objects.create(model=model, benchmark=benchmark, settings_digest=state + name, state=state)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    return run


def test_a_job_is_json_with_the_runs_id_and_nothing_else() -> None:
    with queue.embedded_server():
        queue.enqueue(7)
        job = django_rq.get_queue().jobs[0]
        stored = django_rq.get_connection().hget(job.key, "data")
    assert job.serializer.__name__ == "JSONSerializer"
    assert (job.func_name, job.args, job.kwargs) == ("leaderboard.worker.jobs.probe_run", [7], {})
    assert json.loads(zlib.decompress(stored)) == ["leaderboard.worker.jobs.probe_run", None, [7], {}]


def test_a_run_is_enqueued_once() -> None:
    with queue.embedded_server():
        assert queue.enqueue(7)
        assert queue.enqueue(7)
        assert queue.enqueue(70)
        assert queued_ids() == [7, 70]


def test_a_redis_that_does_not_answer_raises_no_error() -> None:
    assert not queue.reachable()
    assert not queue.enqueue(7)
    queue.enqueue_if_idle(7)


def test_the_embedded_server_is_shared_and_stopped_only_by_the_process_that_started_it() -> None:
    with queue.embedded_server():
        with queue.embedded_server():
            assert queue.reachable()
        assert queue.reachable()
    assert not queue.reachable()


def test_of_several_processes_that_start_at_once_one_starts_the_embedded_server() -> None:
    with ThreadPoolExecutor(4) as threads:
        servers = [server for server in threads.map(lambda _: queue._start(), range(4)) if server]
    try:
        assert len(servers) == 1
        assert queue.reachable()
    finally:
        for server in servers:
            server.stop()


def test_a_server_that_redis_url_names_is_not_started(settings: DjangoSettings) -> None:
    settings.EMBEDDED_REDIS = None
    with queue.embedded_server():
        assert not queue.reachable()


def test_unfinished_runs_that_no_worker_has_are_enqueued_again(small: Benchmark) -> None:
    lost = [make_run(small, state) for state in ("queued", "downloading", "scoring", "waiting")]
    for state in Run.FINAL:
        make_run(small, state)
    leased = make_run(small, "scoring", "leased")
    RunPart.objects.claim(leased, "somebody")
    with queue.embedded_server():
        assert queue.requeue_lost() == 4
        assert queued_ids() == [run.pk for run in lost]


def test_a_run_whose_lease_has_run_out_is_enqueued_again(small: Benchmark) -> None:
    run = make_run(small, "scoring")
    run.parts.update(lease_until=timezone.now() - timedelta(seconds=1))
    with queue.embedded_server():
        assert queue.requeue_lost() == 1


def test_a_waiting_run_is_left_alone_for_a_while(small: Benchmark) -> None:
    run = make_run(small, "waiting")
    event = RunEvent.objects.create(run=run, state="waiting")
    with queue.embedded_server():
        assert queue.requeue_lost(timedelta(minutes=5)) == 0
        RunEvent.objects.filter(pk=event.pk).update(time=timezone.now() - timedelta(minutes=6))
        assert queue.requeue_lost(timedelta(minutes=5)) == 1


def test_a_real_worker_measures_what_was_submitted(small: Benchmark, local_hub: Hub) -> None:
    run = submit("org/causal", small).run  # no queue server yet: the worker starts it and enqueues the run
    with worker("--burst") as process:
        output = process.communicate(timeout=60)[0]
    run.refresh_from_db()
    assert (run.state, process.returncode) == (Run.State.FINISHED, 0), output
    assert not queue.reachable()


def test_a_killed_workers_run_is_finished_by_the_next(
    local_hub: Hub, data: Path, starter: Benchmark, tiny_models: dict[str, Path]
) -> None:
    run = submit("org/causal", starter).run
    with worker() as first:
        until(lambda: run.parts.filter(done=True).count() >= 1)
        kill(first)
    done = dict(run.parts.filter(done=True).values_list("pk", "attempts"))
    assert len(done) < run.parts.count(), "it was killed too late"
    run.parts.filter(done=False, lease_until__isnull=False).update(lease_until=timezone.now())
    with worker("--burst") as second:
        output = second.communicate(timeout=120)[0]
    run.refresh_from_db()
    assert run.state == Run.State.FINISHED, output
    assert {pk: run.parts.get(pk=pk).attempts for pk in done} == done
    whole = probe(str(tiny_models["org/causal"]), benchmarks.read(starter), **SHORT, progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{run.artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items, check_exact=False, atol=1e-4)


@pytest.fixture
def starter(transactional_db: None) -> Benchmark:
    """The starter benchmark, so that a run takes long enough to be interrupted."""
    benchmark, _ = benchmarks.install("bear", EMBEDDED / "starter", "many", "Many")
    benchmark.settings = SHORT
    benchmark.save()
    return benchmark


def test_two_workers_share_a_run(local_hub: Hub, starter: Benchmark) -> None:
    with queue.embedded_server(), worker("--name", "a"), worker("--name", "b"):
        until(lambda: len(queue.RQWorker.all(connection=django_rq.get_connection())) == 2)
        run = submit("org/masked", starter).run
        until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED, 120)
    assert set(run.parts.values_list("worker", flat=True)) == {"a", "b"}


def test_a_worker_without_redis_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9")
    process = manage("rqworker")
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert "REDIS_URL" in output
    assert "Traceback" not in output
