import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.intake import queue
from leaderboard.management.follow import follow
from leaderboard.models import Benchmark, Run
from leaderboard.worker import jobs
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub

pytestmark = pytest.mark.django_db


def output_of(*arguments: str) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def test_import_benchmark_says_what_it_found(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    assert "2 relations, 6 items" in output_of("import_benchmark", "bear", folder)
    assert "nothing to do" in output_of("import_benchmark", "bear", folder)
    assert Benchmark.objects.get().slug == "small"


def test_bad_input_ends_a_command_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no-such") as error:
        output_of("import_benchmark", "bear", str(tmp_path / "no-such"))
    assert error.value.returncode == 2


def test_download_benchmark_names_what_there_is() -> None:
    with pytest.raises(CommandError, match="Choose from") as error:
        output_of("download_benchmark", "nothing")
    assert error.value.returncode == 2


def test_submit_shows_every_check(small: Benchmark, local_hub: Hub) -> None:
    output = output_of("submit", "org/causal", "--benchmark", "small")
    assert "✓ safetensors only" in output
    assert f"Run {Run.objects.latest('pk').pk} is queued" in output


def test_submit_fails_where_a_check_does(small: Benchmark, local_hub: Hub) -> None:
    with pytest.raises(CommandError) as error:
        output_of("submit", "org/nothing", "--benchmark", "small")
    assert error.value.returncode == 2


def test_submit_waits_for_the_end_and_reports_a_failure(small: Benchmark, local_hub: Hub) -> None:
    output_of("submit", "org/causal", "--benchmark", "small")
    run = Run.objects.latest("pk")
    Run.objects.fail(run, "lost-worker", "Three workers were lost.", "Try a smaller model.")
    with pytest.raises(CommandError, match=r"failed\. Three workers were lost\. Try a smaller model\."):
        follow(run)


@pytest.mark.django_db(transaction=True)
def test_submit_waits_for_the_result(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "load_model", lambda *args: FakeModel())
    monkeypatch.setattr(queue, "enqueue", jobs.probe_run)
    assert "queued" in output_of("submit", "org/causal", "--benchmark", "small", "--wait")
    assert Run.objects.latest("pk").state == Run.State.FINISHED


def test_requeue_needs_redis() -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        output_of("requeue")


def test_requeue_says_how_many(small: Benchmark, local_hub: Hub) -> None:
    output_of("submit", "org/causal", "--benchmark", "small")
    with queue.embedded_server():
        assert "1 runs queued" in output_of("requeue")


def test_submit_takes_an_option_of_the_probe(pairs: Benchmark, local_hub: Hub) -> None:
    for options in (["--set", "prompting=cascade"], ["--set", "prompting=vanilla"], []):
        output_of("submit", "org/causal", "--benchmark", "pairs", *options)
    settings = [run.settings["options"] for run in Run.objects.filter(model__hub_id="org/causal").order_by("pk")]
    assert settings == [{"prompting": "cascade"}, {}], "what is usual anyway makes no other run"
    with pytest.raises(CommandError, match=r"prompting cannot be 'loud'\. Choose from: vanilla"):
        output_of("submit", "org/causal", "--benchmark", "pairs", "--set", "prompting=loud")
