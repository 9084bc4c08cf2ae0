"""manage.py submit: the checks, the run that it queues, and waiting for the result."""

from pathlib import Path

import pytest
from django.core.management import CommandError

from leaderboard.intake import queue
from leaderboard.management.commands.submit import follow
from leaderboard.models import Benchmark, Run, Submission
from leaderboard.worker import jobs
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.in_process import asking, work_off
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


def test_submit_shows_every_check(small: Benchmark, local_hub: Hub) -> None:
    output = output_of("submit", "org/causal", "--benchmark", "small")
    assert "✓ weights format" in output
    assert f"Run {Run.objects.latest('pk').pk} is queued" in output
    assert f"/submissions/{Submission.objects.get().token}/" in output


def test_submit_keeps_what_the_hub_could_not_answer(small: Benchmark) -> None:
    with pytest.raises(CommandError, match="the worker for checks tries it again"):
        output_of("submit", "org/causal", "--benchmark", "small")
    assert Submission.objects.get().state == Submission.State.WAITING


def test_submit_fails_where_a_check_does(small: Benchmark, local_hub: Hub) -> None:
    with pytest.raises(CommandError) as error:
        output_of("submit", "org/nothing", "--benchmark", "small")
    assert error.value.returncode == 2


@pytest.mark.django_db(transaction=True)
def test_submit_waits_for_the_result(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MeasuringProcess", asking(FakeModel()))
    monkeypatch.setattr(queue, "enqueue", lambda number: work_off(Run.objects.get(pk=number)))
    assert "Run" in output_of("submit", "org/causal", "--benchmark", "small", "--wait")
    assert Run.objects.latest("pk").state == Run.State.FINISHED


def test_submit_takes_settings_of_the_run(small: Benchmark, local_hub: Hub) -> None:
    chosen = ["--set", "dtype=bfloat16", "--set", "templates=0,2", "--set", "pll=original"]
    assert "✓ number format: bfloat16, as chosen." in output_of("submit", "org/masked", "--benchmark", "small", *chosen)
    settings = Run.objects.get(model__hub_id="org/masked").settings
    assert (settings["dtype"], settings["templates"], settings["pll"]) == ("bfloat16", [0, 2], "original")
    with pytest.raises(CommandError, match=r"dtype cannot be 'float8'\. Choose from: float32"):
        output_of("submit", "org/causal", "--benchmark", "small", "--set", "dtype=float8")


def test_submit_takes_an_option_of_the_probe(pairs: Benchmark, local_hub: Hub) -> None:
    for options in (["--set", "prompting=cascade"], ["--set", "prompting=vanilla"], []):
        output_of("submit", "org/causal", "--benchmark", "pairs", *options)
    settings = [run.settings["options"] for run in Run.objects.filter(model__hub_id="org/causal").order_by("pk")]
    assert settings == [{"prompting": "cascade"}, {}], "what is usual anyway makes no other run"
    with pytest.raises(CommandError, match=r"prompting cannot be 'loud'\. Choose from: vanilla"):
        output_of("submit", "org/causal", "--benchmark", "pairs", "--set", "prompting=loud")


def test_submit_takes_several_revisions_and_says_what_became_of_each(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path]
) -> None:
    local_hub.repositories["org/causal"].add_revision("step1000", tiny_models["org/masked"])
    output = output_of("submit", "org/causal", "--benchmark", "small", "--revisions", "step1000, main,step1000")
    first, second = Run.objects.order_by("pk")
    assert f"✓ step1000: run {first.pk} is queued.\n✓ main: run {second.pk} is queued.\n" in output
    assert (first.model.step, second.model.revision) == (1000, "")
    with pytest.raises(CommandError, match="1 of 2 were not submitted"):
        output_of("submit", "org/causal", "--benchmark", "small", "--revisions", "step1000,step3")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("leaderboard.management.commands.submit.LOOK_SECONDS", 0)
    return make.running(make.model(), make.benchmark())


def test_it_returns_when_the_run_has_finished(run: Run) -> None:
    queries = []

    def watch() -> None:
        queries.append(run.state)
        if len(queries) == 3:
            Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)

    follow(run, watch)
    assert queries == [Run.State.SCORING] * 3


def test_without_a_terminal_there_are_lines_that_say_how_far_it_is(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)
    follow(run)
    assert capsys.readouterr().err.endswith("Tiny: finished · 50 % of the work · 50 of 100 items\n")


def test_a_run_that_fails_is_an_error_with_its_message(run: Run) -> None:
    Run.objects.fail(run, "no-space", "The disk is full.", "Free some space.")
    with pytest.raises(CommandError, match=rf"Run {run.pk} is failed\. The disk is full\. Free some space\."):
        follow(run)


def test_an_error_of_the_watcher_ends_the_waiting(run: Run) -> None:
    def watch() -> None:
        raise CommandError("The worker process has stopped.")

    with pytest.raises(CommandError, match="has stopped"):
        follow(run, watch)
