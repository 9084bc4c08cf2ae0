"""Changes of a run's state, and what a run says of itself."""

import pytest
from django.db import IntegrityError

from leaderboard.models import Benchmark, Claim, Model, Run, RunPart

pytestmark = pytest.mark.django_db


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


def test_only_figures_of_papers_are_published() -> None:
    published = [choice for choice in Run.Provenance if Run(provenance=choice).is_published]
    assert published == [Run.Provenance.PUBLISHED]


def test_a_run_that_ended_is_queued_again_with_its_finished_parts(run: Run) -> None:
    claim = Claim.objects.take(run, "a")
    done, lost = run.parts.order_by("pk")
    RunPart.objects.finish(done, claim, {}, "")
    RunPart.objects.progress(lost, claim, 1)
    Run.objects.fail(run, "lost-worker", "Workers were lost.", "Try a smaller model.", "Traceback")
    assert Run.objects.restart(run)
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.code, stored.message, stored.next_step, stored.traceback, stored.finished) == (
        Run.State.QUEUED, "", "", "", "", None,
    )  # fmt: skip
    assert list(run.parts.order_by("pk").values_list("done", "attempt", "items_done")) == [(True, 1, 4), (False, 0, 0)]


def test_a_quantised_file_is_named_wherever_its_run_is(small: Benchmark) -> None:
    file = Model(hub_id="org/name", source=Model.Source.LOCAL, weights_file="name.Q4_1.gguf", quantisation="Q4_1")
    run = Run(model=file, benchmark=small, settings=small.settings_with({}).to_json())
    assert (run.variant, run.name) == ("Q4_1, 4 bits, GGUF, local file", "org/name (Q4_1, 4 bits, GGUF, local file)")
