"""Limits of submissions: what counts, what gives its quota back, and that no crowd passes them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake.quotas import QueueFull, TooFast, TooMany, TooManyOpen
from leaderboard.models import Benchmark, Run, Submission
from probing.errors import ProbingError
from tests.leaderboard import factories as make
from tests.leaderboard.in_process import receive

ME = "192.0.2.1"
State = Submission.State


@pytest.fixture(autouse=True)
def no_limits(settings: DjangoSettings) -> None:
    settings.SUBMISSIONS_PER_DAY = settings.OPEN_RUNS_PER_SUBMITTER = 0
    settings.CHECKS_PER_MINUTE = settings.QUEUE_LIMIT = 0


def stored(on: Benchmark, state: State, run: str = "", **fields: Any) -> Submission:
    ran = make.run(make.model(), on, run) if run else None
    token = f"token-{Submission.objects.count()}"
    return Submission.objects.create(
        token=token, model_id="org/name", benchmark=on, submitter=ME, state=state, run=ran, **fields
    )


@pytest.mark.parametrize(
    ("state", "run", "counts"),
    [
        (State.CHECKING, "", True),
        (State.WAITING, "", True),
        (State.ACCEPTED, Run.State.QUEUED, True),
        (State.ACCEPTED, Run.State.FINISHED, True),
        (State.ACCEPTED, Run.State.FAILED, False),
        (State.ACCEPTED, Run.State.CANCELLED, False),
        (State.REFUSED, "", False),
        (State.WITHDRAWN, "", False),
    ],
)
def test_what_led_to_nothing_gives_its_quota_back(
    small: Benchmark, settings: DjangoSettings, state: State, run: str, counts: bool
) -> None:
    settings.SUBMISSIONS_PER_DAY = 1
    stored(small, state, run)
    receive("org/other", small, {}, submitter="192.0.2.2")
    if counts:
        with pytest.raises(TooMany, match="1 models in the last 24 hours"):
            receive("org/other", small, {}, submitter=ME)
    else:
        receive("org/other", small, {}, submitter=ME)


def test_what_was_submitted_yesterday_or_by_somebody_else_before_does_not_count(
    small: Benchmark, settings: DjangoSettings
) -> None:
    settings.SUBMISSIONS_PER_DAY = 1
    stored(small, State.ACCEPTED, Run.State.FINISHED)
    Submission.objects.update(created=timezone.now() - timedelta(hours=25))
    stored(small, State.ACCEPTED, Run.State.FINISHED, duplicate=True)
    receive("org/other", small, {}, submitter=ME)


def test_a_submitter_may_have_few_open_runs(small: Benchmark, settings: DjangoSettings) -> None:
    settings.OPEN_RUNS_PER_SUBMITTER = 2
    stored(small, State.ACCEPTED, Run.State.FINISHED)
    stored(small, State.ACCEPTED, Run.State.SCORING)
    receive("org/a", small, {}, submitter=ME)
    with pytest.raises(TooManyOpen, match="2 of your submissions are still open"):
        receive("org/b", small, {}, submitter=ME)
    receive("org/b", small, {}, submitter="192.0.2.2")


def test_the_queue_of_the_site_is_bounded(small: Benchmark, settings: DjangoSettings) -> None:
    settings.QUEUE_LIMIT = 2
    make.run(make.model(), small, Run.State.QUEUED)
    make.run(make.model(), small, Run.State.FINISHED)
    receive("org/a", small, {}, submitter=ME)
    with pytest.raises(QueueFull, match="queue is full") as error:
        receive("org/b", small, {}, submitter="192.0.2.2")
    assert (error.value.code, error.value.permanent) == ("queue-full", False)


def test_the_operator_is_bounded_by_the_queue_only(small: Benchmark, settings: DjangoSettings) -> None:
    settings.SUBMISSIONS_PER_DAY = settings.OPEN_RUNS_PER_SUBMITTER = settings.CHECKS_PER_MINUTE = 1
    for name in "abc":
        receive(f"org/{name}", small, {})
    assert Submission.objects.count() == 3


def test_made_up_ids_are_checked_at_a_bounded_pace(small: Benchmark, settings: DjangoSettings) -> None:
    settings.CHECKS_PER_MINUTE = 3
    outcomes = [refusal(lambda name=name: receive(f"org/{name}", small, {}, submitter=ME)) for name in range(5)]
    assert outcomes == [None, None, None, TooFast, TooFast]
    assert Submission.objects.count() == 3


def test_a_refusal_says_when_to_come_again(small: Benchmark, settings: DjangoSettings) -> None:
    settings.CHECKS_PER_MINUTE, settings.SUBMISSIONS_PER_DAY = 2, 2
    receive("org/a", small, {}, submitter=ME)
    Submission.objects.update(created=timezone.now() - timedelta(hours=23))
    receive("org/b", small, {}, submitter=ME)
    with pytest.raises(TooFast) as fast:
        receive("org/c", small, {}, submitter=ME)
    assert 1 <= fast.value.retry_after <= 60
    settings.CHECKS_PER_MINUTE = 0
    with pytest.raises(TooMany) as many:
        receive("org/c", small, {}, submitter=ME)
    assert 3500 < many.value.retry_after <= 3600, "the first one counts for another hour"


def refusal(action: Callable[[], object]) -> type[ProbingError] | None:
    try:
        action()
    except ProbingError as error:
        return type(error)
    return None


@pytest.fixture
def crowd(transactional_db: None) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as threads:
        yield threads


def submit_all(crowd: ThreadPoolExecutor, benchmark: Benchmark, number: int) -> list[type[ProbingError] | None]:
    def one(index: int) -> type[ProbingError] | None:
        try:
            return refusal(lambda: receive(f"org/model-{index}", benchmark, {}, submitter=ME))
        finally:
            connection.close()

    return list(crowd.map(one, range(number)))


@pytest.mark.parametrize("limit", ["SUBMISSIONS_PER_DAY", "OPEN_RUNS_PER_SUBMITTER", "QUEUE_LIMIT"])
def test_no_crowd_passes_a_limit(
    crowd: ThreadPoolExecutor, small: Benchmark, settings: DjangoSettings, limit: str
) -> None:
    setattr(settings, limit, 10)
    outcomes = submit_all(crowd, small, 40)
    assert outcomes.count(None) == Submission.objects.count() == 10
