"""What rows of benchmarks, models and runs say of themselves, and changes of a run's state."""

import pytest
from django.db import IntegrityError

from leaderboard.models import (
    Benchmark,
    FormerName,
    ItemFigures,
    ItemSet,
    Model,
    RelationCounts,
    RelationOutcomes,
    Run,
    RunRank,
)


@pytest.mark.parametrize(("probe", "metric"), [("multiple_choice", "accuracy"), ("ranking", "p_at_1")])
def test_the_main_metric_of_a_benchmark_is_that_of_its_probe(probe: str, metric: str) -> None:
    assert Benchmark(probe=probe).main_metric == metric


pytestmark = pytest.mark.django_db


def quantised(**fields: str) -> Model:
    facts = {"weights_file": "name.Q4_1.gguf", "quantisation": "Q4_1", "source": Model.Source.LOCAL, **fields}
    return Model(hub_id="org/name", commit="c0ffee" * 4, **facts)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (quantised(), "Q4_1, 4 bits, GGUF, local file"),
        (quantised(quantisation=""), "GGUF, local file"),
        (quantised(quantisation="IQ2_XS"), "IQ2_XS, 2 bits, GGUF, local file"),
        (quantised(quantisation="F16"), "F16, GGUF, local file"),
        (quantised(source=Model.Source.PUBLISHED), "Q4_1, 4 bits, GGUF"),
        (quantised(quantisation="bitsandbytes, 4 bits", weights_file=""), "bitsandbytes, 4 bits"),
        (Model(hub_id="org/name", commit="c0ffee"), ""),
        (Model(hub_id="baseline/uniform", source=Model.Source.LOCAL), ""),
    ],
)
def test_weights_that_are_not_those_of_the_hub_are_named(model: Model, words: str) -> None:
    assert model.weights_in_words == words


def test_the_hash_of_a_local_file_is_not_called_a_commit() -> None:
    assert quantised().version_in_words == "content hash c0ffeec"
    assert Model(hub_id="org/name", commit="c0ffee" * 4).version_in_words == "commit c0ffeec"
    assert Model(hub_id="org/name").version_in_words == ""


@pytest.mark.parametrize(
    ("earlier", "name", "expected"),
    [
        ("", "step1000-tokens2B", ("step1000-tokens2B", 1000, 2_000_000_000)),
        ("", "release", ("release", None, None)),
        ("release", "step1000", ("step1000", 1000, None)),
        ("step1000", "step2000", ("step1000", 1000, None)),
        ("step1000", "release", ("step1000", 1000, None)),
        ("release", "other", ("release", None, None)),
        ("", "1234567", ("", None, None)),
    ],
)
def test_a_commit_keeps_the_first_of_its_names_that_states_a_step(
    earlier: str, name: str, expected: tuple[str, int | None, int | None]
) -> None:
    model = Model(hub_id="org/name", commit="1234567" + "a" * 33)
    model.name_revision(earlier)
    assert model.name_revision(name) == (expected[0] == name)
    assert (model.revision, model.step, model.tokens) == expected


def test_a_step_that_no_column_holds_is_left_out() -> None:
    model = Model(hub_id="org/name", commit="c0ffee")
    assert model.name_revision("step10-tokens999999999999999T")
    assert (model.step, model.tokens) == (10, None)
    model.save()


def test_the_name_of_a_revision_comes_before_its_commit() -> None:
    model = Model(hub_id="org/name", commit="c0ffee00", revision="step1000")
    assert model.version_in_words == "step1000, commit c0ffee0"
    assert Model(hub_id="org/name", commit="c0ffee00", source="local").version_in_words == "content hash c0ffee0"


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


def test_rows_of_the_administration_have_readable_names(run: Run) -> None:
    run.refresh_from_db()
    assert Run.objects.move(run, Run.State.SCORING, "Begun.")
    score = run.scores.create(metric="accuracy", dimension="domain", group="Arts", value=0.5, n=10)
    assert (str(run.events.get()), str(score)) == ("scoring: Begun.", "accuracy domain=Arts: 0.5")


def test_rows_that_pages_are_made_of_have_readable_names(run: Run) -> None:
    items = ItemSet(benchmark=run.benchmark, items={"P30": [0, 1], "P36": [1]})
    rank = RunRank(run=run, metric="accuracy", best=1, worst=2)
    assert str(items) == f"3 items of {run.benchmark}"
    assert str(ItemFigures(run=run, metric="accuracy", item_set=items)) == f"accuracy of the items of {run}"
    assert (str(rank), str(RunRank(run=run, metric="accuracy"))) == (
        f"{run}: 1–2 by accuracy",
        f"{run}: no rank by accuracy",
    )
    assert str(RelationOutcomes(run=run, relation="P30")) == f"outcomes of {run} in P30"
    assert str(RelationCounts(benchmark=run.benchmark, relation="P30")) == f"answers to P30 of {run.benchmark}"
    assert str(FormerName(name="old/name", hub_id="org/name")) == "old/name, now org/name"
