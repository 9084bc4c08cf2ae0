import pytest
from django.utils import timezone

from leaderboard.models import Benchmark, Model, Run, RunPart
from leaderboard.worker import lease
from tests.leaderboard.workers import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(lease, "INTERVAL", 0.02)
    model = Model.objects.create(hub_id="org/name", commit="c0ffee")
    run = Run.objects.create(model=model, benchmark=small, settings_digest="d", state=Run.State.SCORING)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    return run


def test_it_keeps_the_lease_and_shows_the_progress(run: Run) -> None:
    with lease.heartbeat() as leased:
        leased.take(RunPart.objects.claim(run, "a"))
        run.parts.update(lease_until=timezone.now())
        leased.progress(0.8)
        until(lambda: run.parts.get().items_done == 3)
        assert run.parts.get().lease_until > timezone.now()


def test_it_gives_back_the_leased_part_when_something_goes_wrong(run: Run) -> None:
    with pytest.raises(ZeroDivisionError), lease.heartbeat() as leased:
        leased.take(RunPart.objects.claim(run, "a"))
        raise ZeroDivisionError
    assert (run.parts.get().lease_until, run.parts.get().attempts) == (None, 0)


def test_it_keeps_the_run_that_it_finishes(run: Run) -> None:
    with lease.heartbeat() as leased:
        assert leased.take_finish(run)
        with lease.heartbeat() as other:
            assert not other.take_finish(run)
        soon = timezone.now()
        Run.objects.filter(pk=run.pk).update(finishing_until=soon)
        until(lambda: Run.objects.get(pk=run.pk).finishing_until > soon)
    assert Run.objects.get(pk=run.pk).finishing_until is None


def test_a_worker_without_a_part_keeps_no_lease(run: Run) -> None:
    with lease.heartbeat():
        pass
