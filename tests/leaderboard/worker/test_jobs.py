import errno
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from rq.timeouts import JobTimeoutException

from leaderboard.figures import artefacts, benchmarks
from leaderboard.figures.progress import provisional
from leaderboard.figures.ranks import refresh_ranks
from leaderboard.figures.runs import runs_on
from leaderboard.figures.standings import LeaderboardFilter, figures_of, standings
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Claim, Run
from leaderboard.models.run import ClaimQuerySet, RunPartQuerySet
from leaderboard.worker import finishing, jobs, run_states
from leaderboard.worker.run_states import HeldRun
from probing.analysis.intervals import wilson
from probing.errors import NonFiniteScores, NoSpace
from probing.measuring.failures import Crashed
from probing.plan import Part
from probing.results.joining import PartResult
from probing.results.result import Result
from probing.runner import run as probe
from tests.fakes import FakeModel, ShortSighted
from tests.frames_in_memory import FramesInMemory
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard import in_process
from tests.leaderboard.in_process import submit, work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queued(small: Benchmark, local_hub: Hub) -> Run:
    """A run that no worker has begun. There is no Redis; the tests do its jobs."""
    return submit("org/causal", small).run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    """In place of the model that the worker would load."""
    model = FakeModel()
    monkeypatch.setattr(jobs, "MeasuringProcess", in_process.asking(model))
    return model


def states(run: Run) -> list[str]:
    return [event.state for event in run.events.all()]


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def test_it_measures_a_model_from_the_hub_and_records_where_the_numbers_come_from(
    queued: Run, small: Benchmark, tiny_models: dict[str, Path]
) -> None:
    work_off(queued)
    run = fresh(queued)
    assert states(run) == ["queued", "downloading", "scoring", "aggregating", "finished"]
    assert (run.model.kind, run.model.architecture) == ("causal", "GPT2LMHeadModel")
    assert run.model.parameters > 10_000
    direct = probe(str(tiny_models["org/causal"]), benchmarks.read(small), progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{run.artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, direct.items, check_exact=False, atol=1e-5)
    assert run.scores.get(metric="accuracy", dimension="overall").value == stored["correct"].mean()
    record = run.provenance_record
    assert record["model"]["id"] == "org/causal"
    assert record["model"]["commit"] == queued.model.commit
    assert len(record["model"]["files"]["model.safetensors"]) == 64
    assert (record["items_done"], record["statements"]) == (6, 16)
    assert record["timing"]["score_seconds"] > 0


def test_a_finished_run_updates_what_its_benchmark_can_tell_apart(
    queued: Run, small: Benchmark, fake: FakeModel
) -> None:
    make.measured(small, make.model(), skill=1, templates=(0,))
    work_off(queued)
    small.refresh_from_db()
    assert small.smallest_difference["pairs"] == 1


def test_a_finished_run_is_ranked_has_a_result_folder_and_is_left_alone(queued: Run, fake: FakeModel) -> None:
    work_off(queued)
    run = fresh(queued)
    result = Result.load(artefacts.storage().path(run.artefact))
    assert len(result.items) == 6
    assert result.record == json.loads(json.dumps(run.provenance_record))
    assert run.scores.count() == len(result.scores)
    assert artefacts.storage().listdir(artefacts.folder(run)) == ([run.artefact.rpartition("/")[2]], [])
    rank = run.ranks.get()
    assert (rank.metric, rank.best, rank.worst, rank.n, rank.counted) == ("accuracy", 1, 1, 6, 6)
    assert rank.value == pytest.approx(run.scores.get(metric="accuracy", dimension="overall").value)
    statements = fake.usage.statements
    work_off(queued)
    assert fake.usage.statements == statements


def test_a_run_is_finished_with_the_rows_of_one_relation_in_memory_at_a_time(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, read_part = FramesInMemory(), artefacts.read_part
    monkeypatch.setattr(artefacts, "read_part", lambda part: frames.add(read_part(part)))
    monkeypatch.setattr(Result, "items", property(lambda result: pytest.fail("all rows were read")))
    work_off(queued)
    assert fresh(queued).state == Run.State.FINISHED
    assert len(frames) == 2 * queued.parts.count() == 4
    assert frames.most == 1


def test_items_that_are_too_long_are_left_out_and_the_run_is_not_ranked_with_those_that_answered_all(
    queued: Run, small: Benchmark, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    for name in ("org/first", "org/second"):
        make.measured(small, make.model(name), skill=1, templates=(0,))
    make.restore_figures(small)
    monkeypatch.setattr(jobs, "MeasuringProcess", in_process.asking(ShortSighted()))
    work_off(queued)
    run = fresh(queued)
    rows = len(Result.load(artefacts.storage().path(run.artefact)).items)
    assert run.state == Run.State.FINISHED and 0 < rows < 6
    assert run.items_left_out == 6 - rows
    assert run.settings_group == f"{6 - rows} items too long for the model"
    filters = LeaderboardFilter(small, "accuracy")
    shown = standings(filters, figures_of(filters), runs_on(small))
    (row,) = [row for row in shown if row["run"] == run]
    assert row["some_items"] and row["settings_heading"] == f"Some of the questions: {run.settings_group}"
    refresh_ranks(small)
    others = [other for other in shown if not other["group"]]
    assert {other["run"].ranks.get().n for other in others} == {6}
    sentence = f"{6 - rows} items were not asked (longer than the 27 tokens that the model takes): "
    assert sentence in str(run.events.last()) and sentence in client.get(f"/runs/{run.pk}/").content.decode()
    assert "org/causal" not in client.get("/").content.decode()


def test_a_run_of_which_no_item_fits_fails_with_one_sentence(queued: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MeasuringProcess", in_process.asking(ShortSighted(limit=1)))
    work_off(queued)
    run = fresh(queued)
    assert (run.state, run.code) == (Run.State.FAILED, "too-long")
    assert run.message == "Not a single item can be asked: all 6 are longer than the 1 tokens that the model takes."


def test_a_run_that_is_gone_is_no_error() -> None:
    jobs.measure_run(12345)
    jobs.finish_run(12345)
    jobs.rank_benchmark(12345)


def test_finished_parts_are_not_repeated(queued: Run, fake: FakeModel) -> None:
    whole = interrupted(queued, fake, after=1)
    assert list(queued.parts.values_list("done", flat=True)) == [True, False]
    done = fake.usage.statements
    work_off(queued)
    assert fake.usage.statements - done == 4  # the two items of P36, with two options each
    stored = pd.read_parquet(artefacts.storage().path(f"{fresh(queued).artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items)


def test_an_unfinished_run_shows_a_provisional_figure(queued: Run, fake: FakeModel, client: Client) -> None:
    assert provisional(queued) is None
    whole = interrupted(queued, fake, after=1)
    first = whole.items[whole.items.relation == queued.parts.earliest("pk").relation]
    so_far = provisional(fresh(queued))
    assert so_far is not None
    assert (so_far["score"].value, so_far["score"].n) == (first.correct.mean(), len(first))
    assert (so_far["score"].low, so_far["score"].high) == wilson(first.correct.mean(), len(first))
    assert (so_far["done"], so_far["every"]) == (1, 2)
    page = " ".join(client.get(queued.get_absolute_url()).content.decode().split())
    assert f"over {len(first)} questions of 1 of 2 relations. This share of right answers is provisional" in page
    work_off(queued)
    assert "provisional" not in client.get(queued.get_absolute_url()).content.decode()


def interrupted(run: Run, model: FakeModel, after: int) -> Result:
    """The worker stops without a word after so many parts; returns what an undisturbed run gives."""
    whole = probe(FakeModel(), benchmarks.read(run.benchmark), progress=False)
    real, calls = in_process.probe_part, []

    def die(*args: Any, **more: Any) -> PartResult:
        calls.append(args)
        if len(calls) > after:
            raise SystemExit
        return real(*args, **more)

    in_process.probe_part = die
    try:
        with pytest.raises(SystemExit):
            work_off(run)
    finally:
        in_process.probe_part = real
    return whole


def test_a_run_that_another_worker_has_is_left_to_it(queued: Run, fake: FakeModel) -> None:
    Claim.objects.take(queued, "somebody else")
    work_off(queued)
    assert fresh(queued).state == Run.State.QUEUED
    assert fake.usage.statements == 0


def test_a_lost_workers_run_is_taken_over_and_its_parts_are_kept(queued: Run, fake: FakeModel) -> None:
    interrupted(queued, fake, after=1)
    lost = Claim.objects.take(queued, "somebody else")
    Claim.objects.update(seen=timezone.now() - timedelta(minutes=1))
    work_off(queued)
    assert fresh(queued).state == Run.State.FINISHED
    assert not Claim.objects.renew(lost)
    assert list(queued.parts.order_by("pk").values_list("attempt", flat=True)) == [1, 3]


def test_a_run_that_kills_workers_fails(queued: Run, fake: FakeModel) -> None:
    Claim.objects.create(run=queued, number=3, losses=3)
    work_off(queued)
    run = fresh(queued)
    assert (run.state, run.code) == (Run.State.FAILED, "lost-worker")
    assert "memory" in run.next_step
    assert fake.usage.statements == 0


def test_a_run_that_gets_a_part_further_each_time_may_lose_many_workers(queued: Run, fake: FakeModel) -> None:
    Claim.objects.create(run=queued, number=7, losses=2)
    interrupted(queued, fake, after=1)
    assert Claim.objects.get(run=queued).losses <= 1


def crashing(times: int) -> type[in_process.InProcess]:
    """Return measuring processes of which the first ones crash in the middle of their first part."""
    crashes = iter(range(times))

    class Crashing(in_process.InProcess):
        model = FakeModel()

        def measure(self, part: Part, *args: Any, **more: Any) -> PartResult:
            if next(crashes, None) is not None:
                raise Crashed("The process was killed.", "Ask for more memory.")
            return super().measure(part, *args, **more)

    return Crashing


@pytest.mark.parametrize(("times", "state"), [(2, Run.State.FINISHED), (3, Run.State.FAILED)])
def test_a_process_that_crashes_is_started_again_twice(
    queued: Run, monkeypatch: pytest.MonkeyPatch, times: int, state: str
) -> None:
    monkeypatch.setattr(jobs, "MeasuringProcess", crashing(times))
    work_off(queued)
    assert fresh(queued).state == state


def test_the_runs_of_a_model_that_wait_together_are_measured_without_loading_it_again(
    queued: Run, small: Benchmark, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = submit("org/causal", small, {"templates": [1]}).run
    other_format = submit("org/causal", small, {"dtype": "bfloat16"}).run
    turns, turn_to = [], in_process.InProcess.turn_to
    monkeypatch.setattr(in_process.InProcess, "turn_to", lambda self, task: turns.append(task) or turn_to(self, task))
    jobs.measure_run(queued.pk)
    assert [fresh(run).state for run in (queued, second, other_format)] == ["aggregating", "aggregating", "queued"]
    assert [task.settings.templates for task in turns] == [(1,)]
    for run in (queued, second):
        work_off(run)
    whole = probe(FakeModel(), benchmarks.read(small), templates=(1,), progress=False)
    stored = pd.read_parquet(artefacts.storage().path(f"{fresh(second).artefact}/items.parquet"))
    pd.testing.assert_frame_equal(stored, whole.items)


def test_one_that_was_cancelled_meanwhile_does_not_keep_the_others_from_their_turn(
    queued: Run, small: Benchmark, fake: FakeModel
) -> None:
    second, third = (submit("org/causal", small, {"templates": [number]}).run for number in (1, 2))
    Run.objects.cancel(second, "No longer wanted.")
    jobs.measure_run(queued.pk)
    assert [fresh(run).state for run in (queued, second, third)] == ["aggregating", "cancelled", "aggregating"]


def test_a_cancelled_run_stops_after_the_part_that_is_being_probed(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = in_process.probe_part

    def cancel(*args: Any, **more: Any) -> PartResult:
        Run.objects.cancel(fresh(queued), "Enough.")
        return real(*args, **more)

    monkeypatch.setattr(in_process, "probe_part", cancel)
    work_off(queued)
    assert fresh(queued).state == Run.State.CANCELLED
    assert queued.parts.filter(done=True).count() == 1
    assert not Claim.objects.fresh().exists()


def failing(error: BaseException) -> Callable[..., PartResult]:
    def fail(*args: object, **more: object) -> PartResult:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (NonFiniteScores("Not a number.", "Use float32."), Run.State.FAILED, "non-finite-scores"),
        (ZeroDivisionError("secret detail"), Run.State.FAILED, "internal"),
        (JobTimeoutException(), Run.State.FAILED, "timeout"),
        (NoSpace("The disk is full.", "Free some."), Run.State.WAITING, "no-space"),
    ],
)
def test_every_error_becomes_a_state(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch, error: Exception, state: str, code: str
) -> None:
    monkeypatch.setattr(in_process, "probe_part", failing(error))
    work_off(queued)
    run = fresh(queued)
    assert (run.state, run.code) == (state, code)
    assert "secret" not in run.message
    assert ("ZeroDivisionError" in run.traceback) == (code == "internal")
    assert not Claim.objects.fresh().exists()


@pytest.mark.parametrize(
    ("rows", "name"), [(ClaimQuerySet, "take"), (RunPartQuerySet, "finish"), (ClaimQuerySet, "renew")]
)
def test_a_database_that_is_locked_for_a_while_costs_nothing(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch, rows: type, name: str
) -> None:
    real, calls = getattr(rows, name), []

    def locked(self: Any, *args: Any) -> Any:
        calls.append(args)
        if len(calls) < 3:
            raise OperationalError("database is locked")
        return real(self, *args)

    monkeypatch.setattr(rows, name, locked)
    monkeypatch.setattr(run_states, "INTERVAL", 0.01)
    work_off(queued)
    assert (fresh(queued).state, fresh(queued).code) == (Run.State.FINISHED, "")
    assert set(queued.parts.values_list("attempt", flat=True)) == {1}


@pytest.mark.parametrize("step", ["move", "commit"])
def test_a_run_is_finished_although_its_transaction_failed_once(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    real, calls = finishing.finish, []

    def lost(*args: Any) -> bool:
        calls.append(args)
        if len(calls) == 1:
            if step == "commit":
                assert real(*args)  # what is lost is only the confirmation
            raise OperationalError("server closed the connection unexpectedly")
        return real(*args)

    monkeypatch.setattr(finishing, "finish", lost)
    work_off(queued)
    run = fresh(queued)
    assert run.state == Run.State.FINISHED
    assert len(Result.load(artefacts.storage().path(run.artefact)).items) == 6
    assert states(run).count("finished") == 1


def test_a_database_that_stays_away_leaves_the_run_to_a_later_job(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(artefacts, "PATIENCE", 0)
    with monkeypatch.context() as outage:
        outage.setattr(RunPartQuerySet, "finish", away)
        work_off(queued)
    assert fresh(queued).state == Run.State.SCORING
    assert not Claim.objects.fresh().exists()
    work_off(queued)
    assert fresh(queued).state == Run.State.FINISHED


def test_the_rows_of_a_worker_that_lost_its_run_are_dropped(queued: Run) -> None:
    result = PartResult(pd.DataFrame({"correct": [True]}), {})
    held_runs = []
    for worker in ("late", "other"):
        held_runs.append(HeldRun(queued, Claim.objects.take(queued, worker)))
        Claim.objects.update(seen=timezone.now() - timedelta(minutes=1))
    parts = [queued.parts.select_related("run").first() for _ in held_runs]
    for held_run, part in zip(held_runs, parts, strict=True):
        held_run.begin(part)
    jobs.store(held_runs[1], parts[1], result)
    with pytest.raises(run_states.Ended):
        jobs.store(held_runs[0], parts[0], result)
    stored = artefacts.storage().listdir(f"{artefacts.folder(queued)}/parts")[1]
    assert stored == [f"{parts[0].pk}-2.parquet"]


def test_a_full_disk_makes_the_run_wait_wherever_it_is_noticed(
    queued: Run, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as outage:
        outage.setattr(jobs.hub, "download", full)
        work_off(queued)
    assert fresh(queued).state == Run.State.WAITING
    queue.enqueue(queued.pk)
    work_off(queued)
    assert fresh(queued).state == Run.State.FINISHED


def test_a_hub_that_goes_away_makes_the_run_wait_and_then_go_on(queued: Run, fake: FakeModel, local_hub: Hub) -> None:
    local_hub.broken = 500
    work_off(queued)
    assert fresh(queued).state == Run.State.WAITING
    local_hub.broken = None
    queue.enqueue(queued.pk)
    work_off(queued)
    assert (fresh(queued).state, fresh(queued).code) == (Run.State.FINISHED, "")


def test_one_run_that_reaches_the_hub_again_ends_the_waiting_of_all_that_wait_for_it(
    queued: Run, fake: FakeModel, local_hub: Hub
) -> None:
    codes = ("source-unavailable", "slow-download", "no-space")
    others = [make.run(make.model(), queued.benchmark, Run.State.WAITING, code=code) for code in codes]
    Run.objects.filter(pk=queued.pk).update(code="source-unavailable")
    work_off(queued)
    assert [fresh(run).state for run in others] == [Run.State.QUEUED, Run.State.WAITING, Run.State.WAITING]
    assert (fresh(others[0]).code, others[0].events.last().message) == ("", "Trying again.")


def test_missing_rows_never_count_as_finished(queued: Run, fake: FakeModel) -> None:
    interrupted(queued, fake, after=1)
    queued.parts.update(done=True)
    part = queued.parts.last()
    artefacts.store_part(part, artefacts.read_part(queued.parts.first()))
    work_off(queued)
    run = fresh(queued)
    assert (run.state, run.code) == (Run.State.FAILED, "incomplete")
    assert not run.scores.exists()
