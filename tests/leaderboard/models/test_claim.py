"""Claims: one worker has a run, says so again and again, and is found out when it does not."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard.models import STALE, Claim, Run, RunPart

pytestmark = pytest.mark.django_db


def silent_since(seconds: float) -> None:
    Claim.objects.update(seen=timezone.now() - timedelta(seconds=seconds))


def test_a_run_is_given_to_one_worker_only(run: Run) -> None:
    first = Claim.objects.take(run, "a")
    assert first and (first.worker, first.number, first.losses) == ("a", 1, 1)
    assert Claim.objects.take(run, "b") is None


@pytest.mark.django_db(transaction=True)
def test_of_workers_that_ask_at_the_same_time_one_gets_the_run(run: Run) -> None:
    def take(number: int) -> bool:
        try:
            return Claim.objects.take(run, f"worker {number}") is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, range(8))) == 1


def test_a_worker_that_is_silent_for_too_long_loses_its_run(run: Run) -> None:
    lost = Claim.objects.take(run, "a")
    silent_since(STALE.total_seconds() - 5)
    assert Claim.objects.take(run, "b") is None
    assert Claim.objects.renew(lost)
    silent_since(STALE.total_seconds() + 1)
    assert not Claim.objects.fresh().exists()
    taken = Claim.objects.take(run, "b")
    assert (taken.number, taken.losses) == (2, 2)
    assert not Claim.objects.renew(lost)
    assert Claim.objects.renew(taken)


def test_the_same_worker_does_not_mistake_an_old_claim_for_its_own(run: Run) -> None:
    old = Claim.objects.take(run, "a")
    silent_since(60)
    new = Claim.objects.take(run, "a")
    part = run.parts.first()
    assert not RunPart.objects.finish(part, old, {}, "")
    Claim.objects.release(old)
    RunPart.objects.progress(part, old, 3)
    assert Claim.objects.renew(new)
    assert run.parts.first().items_done == 0


def test_a_run_given_back_is_free_and_costs_no_loss(run: Run) -> None:
    claim = Claim.objects.take(run, "a")
    Claim.objects.release(claim)
    assert not Claim.objects.fresh().exists()
    assert Claim.objects.take(run, "b").losses == 1


@pytest.mark.parametrize(("lost", "losses"), [(True, 2), (False, 1)])
def test_a_worker_frees_the_run_of_its_process_whether_that_was_lost_or_stopped(
    run: Run, lost: bool, losses: int
) -> None:
    Claim.objects.take(run, "a")
    Claim.objects.release_of("another", lost=lost)
    assert Claim.objects.fresh().exists()
    Claim.objects.release_of("a", lost=lost)
    assert Claim.objects.take(run, "b").losses == losses


def test_a_finished_part_stays_finished_and_forgives_earlier_losses(run: Run) -> None:
    for _ in range(3):
        claim = Claim.objects.take(run, "a")
        silent_since(60)
    part = run.parts.first()
    assert claim.losses == 3
    assert RunPart.objects.finish(part, claim, {"device": "cpu"}, "digest")
    assert RunPart.objects.finish(part, claim, {"device": "cpu"}, "digest"), "the confirmation may have been lost"
    RunPart.objects.progress(part, claim, 1)
    stored = RunPart.objects.get(pk=part.pk)
    assert (stored.done, stored.items_done, stored.attempt, stored.digest) == (True, 4, 3, "digest")
    assert Claim.objects.get(run=run).losses == 1


@pytest.mark.parametrize("state", [*Run.FINAL, Run.State.WAITING])
def test_a_worker_learns_that_its_run_was_ended(run: Run, state: str) -> None:
    claim = Claim.objects.take(run, "a")
    Run.objects.filter(pk=run.pk).update(state=state)
    assert not Claim.objects.renew(claim)
