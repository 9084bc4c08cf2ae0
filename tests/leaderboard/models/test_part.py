"""Parts of a run, which workers lease, renew, give back and finish."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, RunPart

pytestmark = pytest.mark.django_db


def test_a_part_is_claimed_by_one_worker_only(run: Run) -> None:
    first, second = RunPart.objects.claim(run, "a"), RunPart.objects.claim(run, "b")
    assert (first.relation, second.relation) == ("P30", "P36")
    assert RunPart.objects.claim(run, "c") is None


def test_a_lease_that_runs_out_frees_the_part_and_counts_the_attempt(run: Run) -> None:
    lost = RunPart.objects.claim(run, "a")
    RunPart.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    taken = RunPart.objects.claim(run, "b")
    assert (taken.pk, taken.worker, taken.attempts) == (lost.pk, "b", 2)
    assert not RunPart.objects.renew(lost, 3)
    assert RunPart.objects.renew(taken, 3)


def test_the_same_worker_does_not_mistake_an_old_lease_for_its_own(run: Run) -> None:
    old = RunPart.objects.claim(run, "a")
    RunPart.objects.filter(pk=old.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    RunPart.objects.claim(run, "a")
    assert not RunPart.objects.finish(old, {})


def test_a_part_given_back_is_free_and_costs_no_attempt(run: Run) -> None:
    part = RunPart.objects.claim(run, "a")
    RunPart.objects.release(part)
    assert RunPart.objects.claim(run, "b").attempts == 1


def test_a_finished_part_stays_finished(run: Run) -> None:
    part = RunPart.objects.claim(run, "a")
    assert RunPart.objects.finish(part, {"device": "cpu"})
    RunPart.objects.release(part)
    stored = RunPart.objects.get(pk=part.pk)
    assert (stored.done, stored.items_done, stored.lease_until) == (True, 4, None)
