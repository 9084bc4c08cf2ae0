import io
import socket
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake import queue
from leaderboard.management.commands import demo
from leaderboard.models import Benchmark, Run
from leaderboard.worker import jobs
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def test_import_benchmark_says_what_it_found(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    assert "2 relations, 6 items" in said("import_benchmark", "bear", folder)
    assert "nothing to do" in said("import_benchmark", "bear", folder)
    assert Benchmark.objects.get().slug == "small"


def test_bad_input_ends_a_command_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no-such") as error:
        said("import_benchmark", "bear", str(tmp_path / "no-such"))
    assert error.value.returncode == 2


def test_download_benchmark_names_what_there_is() -> None:
    with pytest.raises(CommandError, match="Choose from") as error:
        said("download_benchmark", "nothing")
    assert error.value.returncode == 2


def test_submit_shows_every_check(small: Benchmark, local_hub: Hub) -> None:
    output = said("submit", "org/causal", "--benchmark", "small")
    assert "✓ safetensors only" in output
    assert f"Run {Run.objects.latest('pk').pk} is queued" in output


def test_submit_fails_where_a_check_does(small: Benchmark, local_hub: Hub) -> None:
    with pytest.raises(CommandError) as error:
        said("submit", "org/nothing", "--benchmark", "small")
    assert error.value.returncode == 2


def test_submit_waits_for_the_end_and_tells_a_bad_one(small: Benchmark, local_hub: Hub) -> None:
    said("submit", "org/causal", "--benchmark", "small")
    run = Run.objects.latest("pk")
    Run.objects.fail(run, "lost-worker", "Three workers were lost.", "Try a smaller model.")
    with pytest.raises(CommandError, match=r"failed\. Three workers were lost\. Try a smaller model\."):
        demo.follow(run)


@pytest.mark.django_db(transaction=True)
def test_submit_waits_for_the_result(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "load_model", lambda *args: FakeModel())
    monkeypatch.setattr(queue, "enqueue", jobs.probe_run)
    assert "queued" in said("submit", "org/causal", "--benchmark", "small", "--wait")
    assert Run.objects.latest("pk").state == Run.State.FINISHED


def test_requeue_needs_redis() -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        said("requeue")


def test_requeue_says_how_many(small: Benchmark, local_hub: Hub) -> None:
    said("submit", "org/causal", "--benchmark", "small")
    with queue.embedded_server():
        assert "1 runs queued" in said("requeue")


def test_demo_tells_a_used_port_before_it_does_anything(settings: DjangoSettings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"PORT={settings.PORT + 1} make demo"):
            said("demo")
    assert not Benchmark.objects.exists()


def test_demo_offers_the_shipped_model_once(data: Path) -> None:
    demo.offer_local_model()
    demo.offer_local_model()
    link = next((data / "models" / demo.LOCAL_MODEL).iterdir())
    assert link.suffix == ".gguf"
    assert link.stat().st_size > 50_000_000


def test_demo_notices_a_dead_child(data: Path) -> None:
    with demo.child("worker", ["-c", "raise SystemExit(3)"]) as process:
        process.wait()
        with pytest.raises(CommandError, match=r"exit code 3.*worker\.log"):
            demo.expect_alive("worker", process)


def test_demo_does_not_wait_for_a_hub_that_is_away(
    small: Benchmark, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "BENCHMARK", "small")
    sleep = ["-c", "import time; time.sleep(60)"]
    with demo.child("worker", sleep) as process, pytest.raises(CommandError, match="does not answer"):
        demo.Command().measure("org/causal", process)


def test_demo_stops_its_children(data: Path) -> None:
    with demo.child("web", ["-c", "import time; time.sleep(60)"]) as process:
        assert process.poll() is None
    assert process.poll() is not None


def test_submit_takes_an_option_of_the_probe(pairs: Benchmark, local_hub: Hub) -> None:
    for given in (["--set", "prompting=cascade"], ["--set", "prompting=vanilla"], []):
        said("submit", "org/causal", "--benchmark", "pairs", *given)
    settings = [run.settings["options"] for run in Run.objects.filter(model__hub_id="org/causal").order_by("pk")]
    assert settings == [{"prompting": "cascade"}, {}], "what is usual anyway makes no other run"
    with pytest.raises(CommandError, match=r"prompting cannot be 'loud'\. Choose from: vanilla"):
        said("submit", "org/causal", "--benchmark", "pairs", "--set", "prompting=loud")
