"""/queue/ : order, positions, expected times."""

from datetime import timedelta

from leaderboard.lists import progress
from leaderboard.models import Benchmark, Run, RunPart
from tests.leaderboard import factories as make


def test_running_comes_first_and_the_rest_waits_its_turn(small: Benchmark) -> None:
    waiting = [make.run(make.model(), small) for _ in range(2)]
    going = make.running(make.model(), small)
    found = progress.queue()
    assert [(row.run.pk, row.position) for row in found] == [(going.pk, 0), (waiting[0].pk, 1), (waiting[1].pk, 2)]


def test_times_add_up_at_the_speed_of_late(small: Benchmark) -> None:
    done = make.finished(small)  # 600 seconds
    RunPart.objects.create(run=done, relation="P30", template=0, items=600, work=1200, done=True)
    make.running(make.model(), small, done=40, items=100)
    later = make.run(make.model(), small)
    RunPart.objects.create(run=later, relation="P30", template=0, items=30, work=600)
    assert [row.left for row in progress.queue()] == [timedelta(seconds=30), timedelta(seconds=330)]


def test_nothing_is_expected_without_a_finished_run(small: Benchmark) -> None:
    make.running(make.model(), small)
    assert progress.queue()[0].left is None


def test_a_finished_run_is_in_no_queue(small: Benchmark) -> None:
    make.finished(small)
    assert not Run.objects.filter(pk__in=[row.run.pk for row in progress.queue()]).exists()
