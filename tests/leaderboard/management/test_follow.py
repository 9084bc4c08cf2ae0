"""Waiting for a run in the terminal."""

import pytest
from django.core.management import CommandError

from leaderboard.management import follow as module
from leaderboard.management.follow import follow
from leaderboard.models import Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(module, "PAUSE", 0)
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
