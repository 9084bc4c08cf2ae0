"""The demo: what it refuses before it starts, its child processes, and the model that it offers."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.management.commands import demo
from leaderboard.models import Benchmark, Run, RunEvent
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_a_used_port_is_reported_before_anything_is_done(settings: DjangoSettings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"PORT={settings.PORT + 1} make demo"):
            call_command("demo")
    assert not Benchmark.objects.exists()


def test_the_shipped_model_is_offered_once(data: Path) -> None:
    demo.offer_local_model()
    demo.offer_local_model()
    link = next((data / "models" / demo.LOCAL_MODEL).iterdir())
    assert link.suffix == ".gguf"
    assert link.stat().st_size > 50_000_000


def test_a_child_that_has_ended_is_reported_with_its_log(data: Path) -> None:
    with demo.child("worker", ["-c", "raise SystemExit(3)"]) as process:
        process.wait()
        with pytest.raises(CommandError, match=r"exit code 3.*worker\.log"):
            demo.expect_alive("worker", process)


def test_the_demo_does_not_wait_for_a_hub_that_does_not_answer(small: Benchmark, data: Path) -> None:
    with pytest.raises(CommandError, match="does not answer"):
        demo.Command().submit("org/causal", ["small"])


def test_the_demo_stops_when_a_process_has_ended(small: Benchmark, data: Path) -> None:
    run = make.running(make.model(), small)
    with demo.child("worker", ["-c", ""]) as process:
        process.wait()
        with pytest.raises(CommandError, match="The worker process has stopped"):
            demo.wait_for(run, {"worker": process})


def test_every_benchmark_that_ships_is_measured_the_smallest_first(data: Path) -> None:
    demo.Command().prepare("org/other")
    assert not (data / "models").exists()
    by_work = Benchmark.objects.exclude(path="").order_by("work").values_list("slug", flat=True)
    assert (demo.ORDER[0], {*demo.ORDER}) == (by_work[0], {*by_work})


def test_children_are_stopped(data: Path) -> None:
    with demo.child("web", ["-c", "import time; time.sleep(60)"]) as process:
        assert process.poll() is None
    assert process.poll() is not None


@pytest.fixture
def running(data: Path) -> Iterator[demo.Process]:
    """A process that goes on, in place of the web server."""
    with demo.child("web", ["-c", "import time; time.sleep(60)"]) as process:
        yield process


def page(content: str) -> str:
    """An address that stands for a site: whatever follows, it answers with this content."""
    return f"data:text/plain,{content}"


def test_a_finished_run_has_to_be_on_the_leaderboard(running: demo.Process) -> None:
    run = make.finished(make.benchmark())
    demo.expect_on_leaderboard(run, page(run.get_absolute_url()), running)
    with pytest.raises(CommandError, match=f"does not show {run.model.hub_id}"):
        demo.expect_on_leaderboard(run, page("nothing"), running)


def test_a_web_server_that_does_not_answer_in_time_is_reported_with_its_log(running: demo.Process) -> None:
    with pytest.raises(CommandError, match=r"does not answer.*web\.log"):
        demo.fetch("http://127.0.0.1:9/", running, patience=0)


def test_a_run_that_has_to_wait_ends_the_demo(running: demo.Process) -> None:
    run = make.run(make.model(), make.benchmark(), Run.State.WAITING)
    RunEvent.objects.create(run=run, state=run.state, message="The hub is away.")
    with pytest.raises(CommandError, match=r"The hub is away\. Run make demo again"):
        demo.wait_for(run, {"web": running})


def test_the_demo_serves_until_a_process_ends(data: Path) -> None:
    with demo.child("worker", ["-c", ""]) as process:
        process.wait()
        with pytest.raises(CommandError, match="The worker process has stopped"):
            demo.serve({"worker": process})
