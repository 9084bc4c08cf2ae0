"""Runs and their parts: changes of state, and claims, by which one worker has a run and is found out when lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from leaderboard.models import (
    STALE,
    Benchmark,
    Claim,
    Model,
    Run,
    RunPart,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(small: Benchmark) -> Run:
    model = Model.objects.create(hub_id="org/name", commit="c0ffee")
    run = Run.objects.create(model=model, benchmark=small, settings_digest="d", state=Run.State.QUEUED)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    RunPart.objects.create(run=run, relation="P36", template=0, items=2)
    return run


def test_only_the_first_of_two_changes_a_state(run: Run) -> None:
    late = Run.objects.get(pk=run.pk)
    assert Run.objects.move(run, Run.State.SCORING, "Begun.")
    assert not Run.objects.move(late, Run.State.DOWNLOADING)
    assert late.state == Run.State.QUEUED
    assert [(event.state, event.message) for event in run.events.all()] == [("scoring", "Begun.")]


def test_an_option_is_read_from_the_run_or_from_the_probes_defaults(pairs: Benchmark) -> None:
    run = Run(benchmark=pairs, settings={"options": {"prompting": "few-shot", "reported": "paper"}})
    assert (run.option("prompting"), run.option("shots")) == ("few-shot", 10)
    assert (run.option("reported"), run.option("samples"), run.option("samples", 5)) == ("paper", None, 5)


def test_what_sets_a_run_apart_is_stored_with_it(small: Benchmark) -> None:
    model = Model.objects.create(hub_id="org/name", commit="c0ffee", parameters=10**11, stored_dtype="float16")
    chosen = {"templates": [0], "pll": "original", "dtype": "float16"}
    run = Run.objects.create(model=model, benchmark=small, settings=chosen, settings_digest="d")
    assert Run.objects.get(pk=run.pk).group == [["pll", "PLL original"]], "a model of this size has this number format"
    assert (run.settings_group, run.group_without({"pll"})) == ("PLL original", "")
    run.items_left_out = 1
    run.save(update_fields=["items_left_out"])
    left_out = ["items_left_out", "1 item too long for the model"]
    assert Run.objects.get(pk=run.pk).group == [["pll", "PLL original"], left_out]


def test_what_sets_a_run_apart_follows_the_usual_settings_and_the_size_of_its_model(run: Run) -> None:
    def group() -> str:
        return Run.objects.get(pk=run.pk).settings_group

    Run.objects.filter(pk=run.pk).update(settings={"templates": [0], "dtype": "float16"})
    assert group() == ""
    run.benchmark.settings = {"templates": [0, 1]}
    run.benchmark.save()
    assert group() == "first wording only, float16"
    run.model.parameters, run.model.stored_dtype = 10**11, "float16"
    run.model.save()
    assert group() == "first wording only"


def test_an_ended_run_cannot_be_cancelled(run: Run) -> None:
    Run.objects.move(run, Run.State.FINISHED)
    assert not Run.objects.cancel(run, "Too late.")


def test_a_failure_has_a_code_a_sentence_and_a_next_step(run: Run) -> None:
    Run.objects.fail(run, "no-space", "The disk is full.", "Free some space.")
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.code, stored.next_step) == (Run.State.FAILED, "no-space", "Free some space.")
    assert stored.finished


def test_a_model_has_one_run_per_benchmark_and_settings(run: Run) -> None:
    with pytest.raises(IntegrityError):
        Run.objects.create(model=run.model, benchmark=run.benchmark, settings_digest="d")


def test_rows_of_the_administration_have_readable_names(run: Run) -> None:
    run.refresh_from_db()
    assert Run.objects.move(run, Run.State.SCORING, "Begun.")
    score = run.scores.create(metric="accuracy", dimension="domain", group="Arts", value=0.5, n=10)
    assert (str(run.events.get()), str(score)) == ("scoring: Begun.", "accuracy domain=Arts: 0.5")


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
    assert not RunPart.objects.finish(part, old, {})
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
    assert RunPart.objects.finish(part, claim, {"device": "cpu"})
    assert RunPart.objects.finish(part, claim, {"device": "cpu"}), "the confirmation may have been lost"
    RunPart.objects.progress(part, claim, 1)
    stored = RunPart.objects.get(pk=part.pk)
    assert (stored.done, stored.items_done, stored.attempt) == (True, 4, 3)
    assert Claim.objects.get(run=run).losses == 1


@pytest.mark.parametrize("state", [*Run.FINAL, Run.State.WAITING])
def test_a_worker_learns_that_its_run_was_ended(run: Run, state: str) -> None:
    claim = Claim.objects.take(run, "a")
    Run.objects.filter(pk=run.pk).update(state=state)
    assert not Claim.objects.renew(claim)
