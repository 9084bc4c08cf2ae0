"""The line: which runs stand in RQ, in which order all are begun, and that nobody waits for ever."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django.fixtures import Settings

from leaderboard import line
from leaderboard.line import MOST_STANDING, Waiting, in_line


def test_the_queue_goes_by_the_bytes_of_the_weights(settings: Settings) -> None:
    settings.LARGE_MODEL = 100
    queues = [line.queue_of(size) for size in (None, 0, 100, 101)]
    assert queues == ["measure", "measure", "measure", "measure-large"]


def test_every_queue_is_one_of_rq(settings: Settings) -> None:
    assert {*line.QUEUES, line.CHECKS, line.FINISH} == set(settings.RQ_QUEUES)


def standing(number: int, submitter: str, second: int) -> Waiting:
    return Waiting(number, submitter, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second))


def test_a_flood_is_before_another_submitters_run_with_two_runs_only() -> None:
    flood = [standing(1, "flood", 1), standing(2, "flood", 2), *(Waiting(number, "flood") for number in range(3, 9))]
    assert in_line([*flood, standing(20, "late", 3)]) == [1, 2, 20, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("workers", [1, 3])
def test_nobody_waits_for_more_than_two_runs_of_each_other_submitter(workers: int) -> None:
    """Simulate a site whose queue is never empty: submitters with floods, and others who come now and then."""
    chance = random.Random(5)
    database: list[Waiting] = []
    clock, number, begun = datetime(2026, 1, 1, tzinfo=UTC), 0, []
    arrived: dict[int, int] = {}  # by run, how many had been begun before it came

    def put_in(submitter: str) -> None:
        nonlocal clock
        own = [run for run in database if run.submitter == submitter]
        free = MOST_STANDING - sum(run.standing is not None for run in own)
        for run in [run for run in own if run.standing is None][: max(free, 0)]:
            clock += timedelta(seconds=1)
            database[database.index(run)] = run._replace(standing=clock)

    def submit(submitter: str) -> int:
        nonlocal number
        number += 1
        database.append(Waiting(number, submitter))
        arrived[number] = len(begun)
        put_in(submitter)
        return number

    for _ in range(50):
        submit("flood"), submit("second flood")
    visitors = {}
    for step in range(200):
        if step % 10 == 0:
            visitors[submit(f"visitor {step}")] = step
        submit(chance.choice(["flood", "second flood"]))
        for run_number in in_line(database)[:workers]:
            run = next(run for run in database if run.run == run_number)
            database.remove(run)
            begun.append(run)
            put_in(run.submitter)
    order = {run.run: position for position, run in enumerate(begun)}
    for run_number, step in visitors.items():
        if step < 190:
            waited = order[run_number] - arrived[run_number]
            assert waited <= 2 * MOST_STANDING + 1, "both floods have two runs each in the line, and a visitor one"
    floods = [run.run for run in begun if run.submitter == "flood"]
    assert floods == sorted(floods) and len(floods) > 20
