"""What submitters ask for: the row and the job that a submission leaves, duplicates, cancelling and trying again."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from leaderboard.figures import benchmarks
from leaderboard.intake import check_job, hub, queue, submissions
from leaderboard.intake.quotas import TooManyOpen
from leaderboard.intake.submissions import receive, retry, submit, withdraw
from leaderboard.models import Benchmark, Model, Run, Submission
from probing.errors import BadInput
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

State = Submission.State


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The submissions that were enqueued to be checked."""
    calls: list[int] = []
    monkeypatch.setattr(queue, "enqueue_check", calls.append)
    return calls


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were enqueued to be measured."""
    calls: list[int] = []
    monkeypatch.setattr(queue, "enqueue", calls.append)
    return calls


def checked(benchmark: Benchmark, model_id: str = "org/causal", **fields: Any) -> Submission:
    """Receive a submission and run its check job."""
    submission = receive(model_id, benchmark, {}, **fields)
    check_job.check(submission.pk)
    return fresh(submission)


def fresh(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def test_a_submission_is_stored_and_its_check_enqueued_and_nothing_else_happens(
    small: Benchmark,
    checks: list[int],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.delattr(hub, "find")
    monkeypatch.delattr(benchmarks, "read")
    with django_capture_on_commit_callbacks(execute=True):
        submission = receive(" org/causal ", small, {}, submitter="192.0.2.1")
    assert checks == [submission.pk]
    assert (submission.model_id, submission.state, submission.run) == ("org/causal", State.CHECKING, None)
    assert len(submission.token) == 43
    assert not Model.objects.filter(hub_id="org/causal").exists()


@pytest.mark.parametrize(
    ("model_id", "options"),
    [
        ("not a model id", {}),
        ("org/na\u202eme", {}),
        ("org/" + "n" * 500, {}),
        ("org/name", {"prompting": "loud"}),
        ("org/name", {"colour": "red"}),
        ("org/name", {"shots": "3"}),
    ],
)
def test_what_cannot_be_right_is_refused_at_once_and_not_stored(
    pairs: Benchmark, model_id: str, options: dict[str, Any]
) -> None:
    with pytest.raises(BadInput) as error:
        receive(model_id, pairs, options)
    assert str(error.value).isascii()
    assert not Submission.objects.exists()


def test_a_known_duplicate_has_its_run_without_a_job(small: Benchmark, local_hub: Hub, checks: list[int]) -> None:
    first = checked(small, submitter="192.0.2.1")
    second = receive("org/causal", small, {}, submitter="192.0.2.2")
    assert (second.run, second.duplicate, second.state) == (first.run, True, State.ACCEPTED)
    assert second.token != first.token
    assert second.checks == first.checks


@pytest.mark.parametrize("change", ["looked up long ago", "failed", "other options"])
def test_what_may_have_changed_since_is_checked_again(
    small: Benchmark, pairs: Benchmark, local_hub: Hub, change: str
) -> None:
    benchmark = pairs if change == "other options" else small
    first = checked(benchmark)
    if change == "looked up long ago":
        Submission.objects.update(checked=timezone.now() - timedelta(minutes=11))
    if change == "failed":
        Run.objects.fail(first.run, "internal", "It broke.")
    options = {"prompting": "few-shot"} if change == "other options" else {}
    assert receive("org/causal", benchmark, options).state == State.CHECKING


def test_a_duplicate_does_not_make_the_commit_count_as_new_for_longer(small: Benchmark, local_hub: Hub) -> None:
    first = checked(small)
    assert receive("org/causal", small, {}).checked == first.checked


def test_a_run_that_somebody_else_wants_goes_on_until_the_last_has_withdrawn(small: Benchmark, local_hub: Hub) -> None:
    first, second = checked(small), receive("org/causal", small, {})
    withdraw(first)
    assert (fresh(first).state, fresh(first).run.state) == (State.WITHDRAWN, Run.State.QUEUED)
    withdraw(second)
    assert fresh(first).run.state == Run.State.CANCELLED
    assert fresh(first).run.events.last().message == "Cancelled by its submitter."


def test_a_run_that_no_submission_created_cannot_be_cancelled_by_one(small: Benchmark, local_hub: Hub) -> None:
    run = submit("org/causal", small).run
    submission = checked(small)
    assert (submission.run, submission.duplicate) == (run, True)
    withdraw(submission)
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED


def test_a_finished_run_stays(small: Benchmark, local_hub: Hub) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=Run.State.FINISHED)
    with pytest.raises(BadInput, match="nothing left to cancel"):
        withdraw(submission)
    assert fresh(submission).state == State.ACCEPTED


def test_a_submission_that_is_withdrawn_before_its_check_makes_no_run(small: Benchmark, local_hub: Hub) -> None:
    submission = receive("org/causal", small, {})
    withdraw(submission)
    check_job.check(submission.pk)
    assert not Run.objects.filter(model__hub_id="org/causal").exists()


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_run_without_a_result_is_tried_again(
    small: Benchmark,
    local_hub: Hub,
    runs: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    state: str,
) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=state, code="internal")
    with django_capture_on_commit_callbacks(execute=True):
        retry(submission)
    run = fresh(submission).run
    assert (run.state, run.code) == (Run.State.QUEUED, "")
    assert runs == [run.pk]


def test_a_refused_model_is_checked_again(
    small: Benchmark,
    local_hub: Hub,
    checks: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    submission = checked(small, "org/nothing")
    assert submission.state == State.REFUSED
    with django_capture_on_commit_callbacks(execute=True):
        retry(submission)
    assert (fresh(submission).state, fresh(submission).checks) == (State.CHECKING, [])
    assert submission.pk in checks


@pytest.mark.parametrize("state", [Run.State.QUEUED, Run.State.FINISHED])
def test_there_is_nothing_to_try_again_before_it_has_failed(small: Benchmark, local_hub: Hub, state: str) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=state)
    with pytest.raises(BadInput, match="nothing to try again"):
        retry(submission)


def test_who_tries_a_run_of_somebody_else_again_has_it_counted(small: Benchmark, local_hub: Hub, settings: Any) -> None:
    checked(small, submitter="192.0.2.1")
    second = receive("org/causal", small, {}, submitter="192.0.2.2")
    Run.objects.filter(pk=second.run_id).update(state=Run.State.FAILED)
    retry(fresh(second))
    settings.OPEN_RUNS_PER_SUBMITTER = 1
    with pytest.raises(TooManyOpen):
        receive("org/masked", small, {}, submitter="192.0.2.2")


def test_a_locked_database_asks_the_submitter_to_come_again(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*args: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(submissions.quotas, "lock", locked)
    with pytest.raises(submissions.SiteBusy, match="stored nothing"):
        receive("org/causal", small, {})


@pytest.mark.parametrize("text", ["\0", "x" * 20_000])
def test_options_that_cannot_be_stored_are_refused(db: None, text: str) -> None:
    culture = make.benchmark("culture", probe="ranking")
    with pytest.raises(BadInput, match="too long"):
        receive("org/causal", culture, {"pair": text})


def test_a_submission_costs_a_small_part_of_its_checks(local_hub: Hub, db: None) -> None:
    """The checks and the estimate of the work, which the web process did before, take ten times as long at least."""
    starter = make.shipped("starter")
    submission = receive("org/causal", starter, {})
    checks = seconds_of(lambda: check_job.check(submission.pk))
    assert fresh(submission).state == State.ACCEPTED
    assert 10 * seconds_of(lambda: receive("org/masked", starter, {})) < checks
    assert 10 * seconds_of(lambda: receive("org/causal", starter, {})) < checks


def seconds_of(action: Callable[[], object]) -> float:
    """The processor time of this process."""
    start = time.process_time()
    action()
    return time.process_time() - start
