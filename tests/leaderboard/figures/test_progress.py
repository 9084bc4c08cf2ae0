"""Progress of runs, the queue and its workers: order, positions, expected times, and what is kept of it."""

import time
from datetime import timedelta
from typing import Any

import django_rq
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rq import Worker

from leaderboard import redis_server
from leaderboard.figures import progress
from leaderboard.figures.live_workers import LiveWorker, live_workers, served_queues
from leaderboard.figures.progress import Progress
from leaderboard.figures.queued_runs import PLAIN_SPEED, queued_runs
from leaderboard.models import Benchmark, Claim, Model, Run, RunPart
from tests.leaderboard import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("living_worker")]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def about(number: float, share: float = 0.05) -> Any:
    """So many seconds, or nearly so many."""
    return pytest.approx(seconds(number), abs=seconds(share * number))


def finished(benchmark: Benchmark, work: float, queue: str = "measure") -> Run:
    """A run of ten minutes that did so much work."""
    run = make.finished(benchmark, queue=queue)
    RunPart.objects.create(run=run, relation="P30", template=0, items=600, work=work, done=True)
    return run


def waiting(benchmark: Benchmark, work: float = 60, **fields: object) -> Run:
    run = make.run(make.model(), benchmark, **{"waiting_work": work, **fields})
    RunPart.objects.create(run=run, relation="P30", template=0, items=30, work=work)
    return run


def at_work(benchmark: Benchmark, pace: float, left: float, seconds_ago: float = 0) -> Run:
    """A run that did the last 1,000 units of work at this pace; its worker reported so many seconds ago."""
    run = make.run(make.model(), benchmark, Run.State.SCORING)
    make.claimed(run, seconds_ago=seconds_ago)
    now = timezone.now()
    part = {"template": 0, "items": 100}
    for number in range(10):
        end = now - timedelta(seconds=100 / pace * (9 - number))
        record = {"end": end.isoformat(timespec="seconds"), "timing": {"score_seconds": 100 / pace}}
        done = {"done": True, "items_done": 100, "record": record, "work": 100}
        RunPart.objects.create(run=run, relation=f"P{number}", **done, **part)
    RunPart.objects.create(run=run, relation="Q0", work=left, **part)
    return run


def rows() -> list[dict[str, Any]]:
    """All rows of the queue: the runs at work, then those that wait."""
    line = progress.queue(0, 100)
    return [*line["working"], *line["waiting"]]


def test_the_queue_has_the_order_in_which_workers_take_runs(small: Benchmark) -> None:
    flood = [waiting(small, submitter="flood") for _ in range(3)]
    light = waiting(small, submitter="light")
    going = at_work(small, 1, 10)
    large = waiting(small, queue="measure-large")
    stuck = waiting(small, state=Run.State.WAITING)
    assert [(row["run"].pk, row["position"]) for row in rows()] == [
        (going.pk, 0),
        (flood[0].pk, 1),
        (flood[1].pk, 2),
        (light.pk, 3),
        (flood[2].pk, 4),
        (large.pk, 1),
        (stuck.pk, 0),
    ]


def test_a_run_in_progress_goes_by_its_own_pace_and_not_by_that_of_others(small: Benchmark) -> None:
    finished(small, work=60_000)  # a hundred times as fast
    run = at_work(small, pace=1, left=1800)
    (row,) = rows()
    assert row["progress"].left == about(1800)
    assert progress.progress(run).left == about(1800)
    assert row["progress"].rate == pytest.approx(100 / 1800, rel=0.05)


def test_waiting_runs_go_by_the_median_of_recent_runs(small: Benchmark) -> None:
    for rate in range(1, 12):  # the oldest of these is no longer recent
        finished(small, work=600 * rate)
    Run.objects.filter(parts__work=600).update(finished=make.DAY, started=make.DAY - timedelta(minutes=10))
    runs = [waiting(small, work=650), waiting(small, work=65)]
    times = [row["progress"].left for row in rows()]
    assert times == [seconds(100), seconds(110)]
    assert [progress.progress(run).left for run in runs] == times


def test_a_waiting_run_waits_for_the_worker_that_is_free_first(small: Benchmark) -> None:
    finished(small, work=600)
    at_work(small, pace=1, left=500)
    at_work(small, pace=1, left=100)
    waiting(small, work=60)
    assert rows()[-1]["progress"].left == about(160)


def test_queues_have_rates_and_lines_of_their_own(small: Benchmark) -> None:
    finished(small, work=600)
    finished(small, work=60, queue="measure-large")
    waiting(small), waiting(small, queue="measure-large")
    assert [row["progress"].left for row in rows()] == [seconds(60), seconds(600)]


def test_without_a_finished_run_the_time_follows_from_the_number_of_parameters(small: Benchmark) -> None:
    run = make.run(make.model(parameters=10**9), small, waiting_work=600)
    RunPart.objects.create(run=run, relation="P30", template=0, items=30, work=600)
    assert rows()[0]["progress"].left == progress.progress(run).left == seconds(10)


def test_there_is_no_time_for_a_model_of_unknown_size_without_a_finished_run(small: Benchmark) -> None:
    run = make.run(make.model(parameters=None), small, waiting_work=60)
    waiting(small)
    assert [row["progress"].left for row in rows()] == [None, None]
    assert progress.progress(run).left is None


def test_a_run_that_loads_its_model_goes_by_recent_runs(small: Benchmark) -> None:
    finished(small, work=600)
    run = waiting(small, work=60, state=Run.State.DOWNLOADING)
    make.claimed(run)
    assert progress.progress(run).left == seconds(60)


def test_a_run_that_waits_for_space_adds_no_time_and_has_none(small: Benchmark) -> None:
    finished(small, work=600)
    stuck, last = waiting(small, state=Run.State.WAITING), waiting(small, work=60)
    assert [(row["run"].pk, row["progress"].left) for row in rows()] == [(last.pk, seconds(60)), (stuck.pk, None)]


@pytest.mark.parametrize(("share", "percent"), [(0.0, 0), (0.999, 99), (0.29, 29), (1 - 1e-12, 100), (1.0, 100)])
def test_percent_is_rounded_down_except_for_errors_of_floats(share: float, percent: int) -> None:
    assert Progress(0, 0, share).percent == percent


def test_progress_is_counted_in_work(small: Benchmark) -> None:
    run = make.running(make.model(), small, done=50, items=100)
    RunPart.objects.create(run=run, relation="P36", template=0, items=10, work=900)
    now = progress.progress(run)
    assert (now.done, now.total, now.percent) == (50, 110, 5)


def test_nothing_is_left_of_a_run_whose_parts_are_done(small: Benchmark) -> None:
    run = at_work(small, pace=1, left=10)
    run.parts.filter(done=False).delete()
    now = progress.progress(run)
    assert (now.left, now.rate, now.percent) == (seconds(0), None, 100)


def test_an_ended_run_keeps_its_progress(small: Benchmark) -> None:
    run = make.running(make.model(), small, done=50, items=100)
    Run.objects.fail(run, "no-space", "The disk is full.")
    now = progress.progress(run)
    assert (now.done, now.total, now.left) == (50, 100, None)


def test_the_number_of_queries_does_not_depend_on_how_many_runs_wait(
    small: Benchmark, django_assert_num_queries
) -> None:
    for _ in range(20):
        waiting(small)
    with django_assert_num_queries(5):
        progress.queue(0, 100)


def test_a_run_that_was_begun_and_waits_again_goes_by_the_work_that_its_parts_have_left(small: Benchmark) -> None:
    finished(small, work=600)
    run = waiting(small, work=60)
    RunPart.objects.create(run=run, relation="P36", template=0, items=30, items_done=30, work=600, done=True)
    Run.objects.filter(pk=run.pk).update(waiting_work=660)
    run.refresh_from_db()
    assert Run.objects.fail(run, "lost-worker", "Its worker was lost.")
    assert Run.objects.restart(run)
    assert rows()[0]["progress"].left == progress.progress(run).left == seconds(60)


def test_only_the_runs_of_the_page_are_read(small: Benchmark) -> None:
    finished(small, work=600)
    waiting(small, state=Run.State.WAITING)
    for _ in range(5):
        waiting(small, work=60)
    line = progress.queue(0, 3)
    assert (len(line["waiting"]), line["number_waiting"]) == (3, 6)
    assert [row["progress"].left for row in line["waiting"]] == [seconds(60), seconds(120), seconds(180)]
    assert [row["position"] for row in progress.queue(0, 6)["waiting"]] == [1, 2, 3, 4, 5, 0]


def test_a_run_whose_worker_was_lost_comes_first_and_keeps_its_pace(small: Benchmark) -> None:
    finished(small, work=60_000)
    going, run = at_work(small, pace=1, left=100), at_work(small, pace=1, left=900, seconds_ago=60)
    waits = waiting(small)
    assert [(row["run"].pk, row["position"]) for row in rows()] == [(going.pk, 0), (run.pk, 1), (waits.pk, 2)]
    assert progress.progress(run).left == about(1000)


def test_a_run_whose_parts_are_done_waits_for_the_worker_that_finishes_it(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(small, work=600)
    run, waits = at_work(small, pace=1, left=1), waiting(small, work=60)
    run.parts.filter(done=False).delete()
    Claim.objects.all().delete()
    Run.objects.move(run, Run.State.AGGREGATING)
    now = progress.progress(run)
    assert (now.left, now.percent, now.has_worker, progress.state_in_words(run, now)) == (
        None,
        100,
        True,
        "Aggregating",
    )
    assert progress.progress(waits).left == seconds(60), "it keeps no worker from its next run"
    monkeypatch.setattr(progress, "served_queues", lambda: frozenset({"measure"}))
    assert not progress.progress(run).has_worker


def test_a_run_of_another_probe_or_kind_says_nothing_about_the_time(small: Benchmark, pairs: Benchmark) -> None:
    """What a token position costs depends on both, so that such an estimate would be a guess."""
    finished(small, work=600)
    waiting(small, work=60), waiting(pairs, work=600)
    masked = make.run(make.model("org/masked", kind="masked", parameters=10**9), small, waiting_work=600)
    RunPart.objects.create(run=masked, relation="P30", template=0, items=30, work=600)
    plain = 600 * 135e6 / PLAIN_SPEED
    assert [row["progress"].left for row in rows()] == [seconds(60), about(60 + plain), about(60 + plain + 10)]


def test_without_a_worker_nothing_that_waits_has_a_time(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(small, 600)
    run = waiting(small)
    assert progress.progress(run).left == seconds(60)
    monkeypatch.setattr(progress, "served_queues", frozenset)
    assert (progress.progress(run).left, progress.progress(run).has_worker) == (None, False)
    assert [row["progress"].left for row in rows()] == [None]
    assert not progress.queue(0, 100)["has_workers"]
    assert progress.worked_queue("measure").ends_of_new([seconds(10)]) == []
    at_work(small, pace=1, left=100)
    assert progress.progress(run).left is not None, "a claim shows that a worker lives, even if Redis does not answer"


@pytest.fixture
def tiny(transactional_db: None) -> Benchmark:
    return make.benchmark()


def test_the_queue_is_read_with_three_queries_however_long_it_is(tiny: Benchmark) -> None:
    for _ in range(5):
        waiting(tiny)
    RunPart.objects.update(items_done=1)
    with CaptureQueriesContext(connection) as captured:
        queued_runs()
    assert len(captured) <= 3


def test_pages_have_the_order_in_which_workers_begin_runs(tiny: Benchmark) -> None:
    runs = [waiting(tiny, submitter=submitter) for submitter in ("a", "a", "a", "b", "a", "c")]
    large = waiting(tiny, queue="measure-large")
    for run in (runs[5], runs[0]):
        Run.objects.put_in(run)
        time.sleep(0.01)  # SQLite's times have milliseconds
    assert queued_runs().lines == {
        "measure": [runs[number].pk for number in (5, 0, 1, 3, 2, 4)],
        "measure-large": [large.pk],
    }
    assert Run.objects.move(runs[5], Run.State.DOWNLOADING)
    assert queued_runs().lines["measure"] == [runs[number].pk for number in (0, 1, 3, 2, 4)]


def test_the_time_that_a_run_needs_follows_what_is_known_of_its_model(tiny: Benchmark) -> None:
    done = make.finished(tiny, of=make.model(parameters=10**9))
    RunPart.objects.create(run=done, relation="P30", template=0, items=600, work=600, done=True)
    run = waiting(tiny)
    Model.objects.filter(pk=run.model_id).update(parameters=10**9)
    assert queued_runs().needed[run.pk] == 60.0
    Model.objects.filter(pk=run.model_id).update(parameters=2 * 10**9)
    assert queued_runs().needed[run.pk] == 120.0


def test_the_place_of_a_run_is_right_at_once_for_every_reader(tiny: Benchmark) -> None:
    first, second = waiting(tiny), waiting(tiny)
    positions = {row["run"].pk: row["position"] for row in progress.queue(0, 10)["waiting"]}
    assert positions == {first.pk: 1, second.pk: 2}
    first.delete()
    assert [(row["run"].pk, row["position"]) for row in progress.queue(0, 10)["waiting"]] == [(second.pk, 1)]


ALL = ("measure", "measure-large", "checks", "finish")


def test_without_redis_and_claims_there_is_no_worker() -> None:
    assert live_workers() == []
    assert served_queues() == frozenset()


def test_a_worker_of_rq_is_known_by_its_heartbeat_and_its_queues(rq_worker: Worker) -> None:
    rq_worker.register_birth()
    (live,) = live_workers()
    assert (live.name, live.queues, live.run) == ("host-1", ALL, None)
    assert timezone.now() - live.last_seen < timedelta(seconds=30)
    assert served_queues() == set(ALL)
    rq_worker.register_death()
    assert live_workers() == []
    assert served_queues() == frozenset()


def test_reading_the_workers_opens_no_new_connection(rq_worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    rq_worker.register_birth()
    redis_server.connection()
    monkeypatch.setattr(django_rq, "get_connection", lambda name: pytest.fail("A connection is there already."))
    assert served_queues() == set(ALL)


def test_a_claim_says_what_its_worker_works_on_and_when_it_reported() -> None:
    run = make.running(make.model(), make.benchmark())
    RunPart.objects.create(run=run, relation="P31", template=0, items=1, done=True, record={"device": "cuda"})
    (live,) = live_workers()
    assert live == LiveWorker("somebody", run.claim.seen, (), "cuda", run)


def test_a_worker_of_redis_that_has_a_run_is_one_worker(rq_worker: Worker) -> None:
    rq_worker.register_birth()
    run = make.run(make.model(), make.benchmark(), "scoring")
    make.claimed(run, "host-1")
    (live,) = live_workers()
    assert (live.queues, live.run, live.device) == (ALL, run, "")


def test_a_provisional_figure_counts_wordings_once_and_relations_as_the_probe_does(tiny: Benchmark) -> None:
    geography = make.benchmark("places", probe="cloze")
    run, averaged = (make.run(make.model(), on, Run.State.SCORING) for on in (tiny, geography))
    parts = [("P30", 0, 10, 0.2), ("P30", 1, 10, 0.4), ("P36", 0, 30, 0.7), ("P19", 0, 50, None)]
    for relation, template, items, accuracy in parts:
        for of in (run, averaged):
            part = {"relation": relation, "template": template, "items": items, "accuracy": accuracy}
            RunPart.objects.create(run=of, done=accuracy is not None, **part)
    over_items, over_relations = progress.provisional(run), progress.provisional(averaged)
    assert over_items is not None and over_relations is not None
    assert over_items["score"].value == pytest.approx((10 * 0.3 + 30 * 0.7) / 40)
    assert over_relations["score"].value == pytest.approx((0.3 + 0.7) / 2)
    assert over_relations["score"].low < 0.5 < over_relations["score"].high
    assert [(one["done"], one["every"], one["score"].n) for one in (over_items, over_relations)] == [(2, 3, 40)] * 2
