"""The job that checks a submission: every end of it is a state of the submission."""

import signal
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.intake import check_job, hub, queue, submissions
from leaderboard.intake.check_job import Deadline, DeadlinePassed, check
from leaderboard.intake.checks import Check
from leaderboard.intake.submissions import receive_all, withdraw
from leaderboard.models import Benchmark, Model, Run, Submission
from probing.files.listing import Listing
from tests.hub.local_hub import Hub
from tests.leaderboard.in_process import receive
from tests.tiny_models import build_gpt2

State = Submission.State


def checked(benchmark: Benchmark, model_id: str = "org/causal", options: dict[str, Any] | None = None) -> Submission:
    submission = receive(model_id, benchmark, options or {}, submitter="192.0.2.1")
    check(submission.pk)
    submission.refresh_from_db()
    return submission


def test_a_model_that_passes_has_a_run(small: Benchmark, local_hub: Hub) -> None:
    submission = checked(small)
    assert (submission.state, submission.duplicate) == (State.ACCEPTED, False)
    assert (submission.run.state, submission.run.submitter) == (Run.State.QUEUED, "192.0.2.1")
    assert submission.checks[0] == {
        "name": "well-formed id",
        "state": "ok",
        "message": "org/causal is a model id.",
        "next_step": "",
        "code": "",
    }
    assert submission.checked
    assert "queue server does not answer" in submission.checks[-1]["message"], "the run is kept until it is back"


def test_the_commit_of_a_named_revision_gets_its_name_and_step_also_if_it_was_measured_before(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path]
) -> None:
    commit = local_hub.repositories["org/causal"].add_revision("step1000-tokens2B", tiny_models["org/masked"]).commit
    first = checked(small, f"https://huggingface.co/org/causal/tree/{commit}")
    assert first.run.model.revision == ""
    again = checked(small, "https://huggingface.co/org/causal/tree/step1000-tokens2B")
    model = Model.objects.get(commit=commit)
    assert (again.run, again.duplicate) == (first.run, True)
    assert (model.revision, model.step, model.tokens) == ("step1000-tokens2B", 1000, 2_000_000_000)


def test_a_model_is_checked_at_the_revision_that_was_named(small: Benchmark, local_hub: Hub) -> None:
    commit = local_hub.repositories["org/causal"].commit
    submission = checked(small, f"https://huggingface.co/org/causal/tree/{commit}")
    assert submission.state == State.ACCEPTED
    assert any(f"/api/models/org/causal/revision/{commit}" in request for request in local_hub.requests)
    assert checked(small, "https://huggingface.co/org/causal/tree/no-such-branch").state == State.REFUSED


def test_a_refused_model_leaves_its_checks_and_nothing_public(small: Benchmark, local_hub: Hub) -> None:
    submission = checked(small, "org/nothing")
    assert (submission.state, submission.run) == (State.REFUSED, None)
    assert "model-not-found" in [outcome["code"] for outcome in submission.checks]
    assert not Model.objects.filter(hub_id="org/nothing").exists()


def test_a_hub_that_does_not_answer_makes_the_submission_wait(small: Benchmark, local_hub: Hub) -> None:
    local_hub.broken = 503
    submission = checked(small)
    assert (submission.state, submission.run) == (State.WAITING, None)
    assert not Model.objects.filter(hub_id="org/causal").exists()
    local_hub.broken = None
    check(submission.pk)
    submission.refresh_from_db()
    assert submission.state == State.ACCEPTED


def test_a_check_that_reaches_the_hub_again_ends_the_waiting_of_all_others(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    monkeypatch.setattr(check_job.queue, "end_outage", ended.append)
    local_hub.broken = 503
    submission = checked(small)
    check(submission.pk)
    assert ended == []
    local_hub.broken = None
    check(submission.pk)
    assert ended == ["source-unavailable"]
    checked(small, "org/masked")
    assert len(ended) == 1, "it has not waited, and shows nothing"


def test_nobody_waits_for_a_hub_for_ever(small: Benchmark, local_hub: Hub) -> None:
    local_hub.broken = 503
    submission = checked(small)
    Submission.objects.update(created=timezone.now() - check_job.HUB_OUTAGE - timedelta(minutes=1))
    check(submission.pk)
    submission.refresh_from_db()
    assert submission.state == State.REFUSED
    assert "source-unavailable" in [outcome["code"] for outcome in submission.checks]


def test_all_checks_together_have_a_deadline(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that catches every exception, as some that ask the hub do, must not outlast the deadline."""

    def endless(*args: object) -> hub.Listing:
        for _ in range(600):
            try:
                time.sleep(0.1)
            except Exception:
                continue
        raise AssertionError("the deadline had no effect")

    monkeypatch.setattr(check_job, "DEADLINE", 1)
    monkeypatch.setattr(hub, "find", endless)
    submission = checked(small)
    assert submission.state == State.WAITING
    assert [outcome["state"] for outcome in submission.checks] == ["ok", "warning"]
    assert "within 1 seconds" in submission.checks[-1]["message"]


def test_a_local_model_has_time_until_its_files_have_been_read(
    small: Benchmark, local_hub: Hub, settings: SiteSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their digest stands for a commit; of a large file, it takes longer than a hub may take to answer."""
    settings.MODELS = tmp_path
    build_gpt2(tmp_path / "org/slow")
    read = hub._digests
    monkeypatch.setattr(hub, "_digests", lambda paths: time.sleep(1.2) or read(paths))
    monkeypatch.setattr(check_job, "DEADLINE", 1)
    assert checked(small, "org/slow").state == Submission.State.ACCEPTED


def test_the_checks_so_far_are_stored_while_others_take_long(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    usual = hub.weight_bytes

    def slow(listing: Listing) -> int:
        time.sleep(0.05)
        seen.append([outcome["name"] for outcome in Submission.objects.get().checks])
        return usual(listing)

    monkeypatch.setattr(check_job, "PAUSE", 0.01)
    monkeypatch.setattr(hub, "weight_bytes", slow)
    checked(small)
    assert "config readable" in seen[-1]


def test_an_option_that_only_the_benchmark_can_refuse_is_a_check_that_failed(small: Benchmark, local_hub: Hub) -> None:
    Benchmark.objects.filter(pk=small.pk).update(settings={"relations": ["P999"]})
    submission = checked(Benchmark.objects.get(pk=small.pk))
    assert submission.state == State.REFUSED
    assert submission.checks[-1]["code"] == "bad-input"


def test_an_error_of_the_site_ends_the_submission_with_a_code(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(submissions, "accept")
    submission = checked(small)
    assert (submission.state, submission.checks[-1]["code"]) == (State.REFUSED, "internal")


def test_a_locked_database_leaves_the_submission_open(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*args: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(submissions, "accept", locked)
    submission = receive("org/causal", small, {})
    check(submission.pk)
    submission.refresh_from_db()
    assert submission.state == State.CHECKING


def test_a_submission_that_is_withdrawn_during_its_check_makes_no_run(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = receive("org/causal", small, {})
    usual = submissions.expected_work
    monkeypatch.setattr(submissions, "expected_work", lambda examination: withdraw(submission) or usual(examination))
    check(submission.pk)
    submission.refresh_from_db()
    assert (submission.state, submission.run) == (State.WITHDRAWN, None)
    assert not Model.objects.filter(hub_id="org/causal").exists()


def test_messages_that_quote_strangers_are_stored_without_invisible_characters() -> None:
    long = Check("config", "failed", "type \u202e<script>\x07" + "x" * 5000)
    (stored,) = check_job.to_json([long])
    assert stored["message"].startswith(r"type \u202e<script>\x07xxx")
    assert len(stored["message"]) == check_job.MESSAGE_LENGTH


def test_a_series_has_one_check_in_the_queue_so_that_others_have_their_turn(
    small: Benchmark,
    local_hub: Hub,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    enqueued: list[int] = []
    monkeypatch.setattr(queue, "enqueue_check", enqueued.append)
    with django_capture_on_commit_callbacks(execute=True):
        series = receive_all("org/causal", [small], {}, revisions=["step1", "step2", "step3", "step4"])
        other = receive("org/masked", small, {})
    first, second, third, last = (submission.pk for submission in series)
    assert enqueued == [first, other.pk]
    withdraw(series[1])
    check(first)
    assert enqueued[2:] == [third], "the second was withdrawn"
    check(second)  # its job was in the queue when it was withdrawn
    assert enqueued[3:] == [third]
    check(third)
    check(first)
    assert enqueued[4:] == [last], "a check that comes again calls for none"
    check(last)
    check(other.pk)
    assert enqueued[5:] == []
    assert not Submission.objects.filter(state=State.CHECKING).exists()


def test_a_deadline_is_enforced_again_where_its_exception_was_lost() -> None:
    deadline = Deadline(60, DeadlinePassed)
    with pytest.raises(DeadlinePassed), deadline:
        for _ in range(2):
            with suppress(DeadlinePassed):  # as Python does while it deletes an object
                deadline.handle_death_penalty(signal.SIGALRM, None)
            assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1
        raise DeadlinePassed
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
