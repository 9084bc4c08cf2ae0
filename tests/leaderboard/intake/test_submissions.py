"""From a wish to a run: what is created, duplicates, and what submitters ask for: withdrawing and trying again."""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings as DjangoSettings
from safetensors.torch import load_file, save_file

from leaderboard.figures import benchmarks
from leaderboard.intake import check_job, hub, queue, submissions
from leaderboard.intake.quotas import TooManyOpen
from leaderboard.intake.submissions import retry, withdraw
from leaderboard.models import Benchmark, Claim, Model, Run, Submission
from probing.errors import BadInput
from probing.settings import Settings
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard.in_process import receive, submit

State = Submission.State
PYTORCH = {"format": "pt"}  # what transformers wants to read in the header of a file of weights


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that workers were called for."""
    calls: list[int] = []
    monkeypatch.setattr(queue, "enqueue", calls.append)
    return calls


def test_it_creates_a_run_with_its_parts_at_the_pinned_commit(small: Benchmark, local_hub: Hub) -> None:
    submission = submit(" org/causal ", small, submitter="someone")
    run = submission.run
    assert (run.state, run.submitter, submission.duplicate_of) == (Run.State.QUEUED, "someone", None)
    assert run.model.commit == local_hub.repositories["org/causal"].commit
    assert (run.model.kind, run.model.architecture, run.model.licence) == ("causal", "GPT2LMHeadModel", "mit")
    file = local_hub.repositories["org/causal"].folder / "model.safetensors"
    assert file.stat().st_size / 2 < run.model.weight_bytes < file.stat().st_size
    assert run.model.stored_dtype == "float32"
    assert list(run.parts.values_list("relation", "template", "items")) == [("P30", 0, 4), ("P36", 0, 2)]
    assert [event.message for event in run.events.all()] == ["Submitted."]


@pytest.mark.django_db(transaction=True)
def test_it_enqueues_the_run_once_the_run_is_stored(small: Benchmark, local_hub: Hub, enqueued: list[int]) -> None:
    assert enqueued == [submit("org/causal", small).run.pk]


def test_it_notes_the_parameters_of_a_token_and_the_date_of_the_repository(small: Benchmark, local_hub: Hub) -> None:
    submit("org/causal", small)
    model = Model.objects.get(hub_id="org/causal")
    assert (model.active_parameters, model.hub_created) == (model.parameters, None)
    Model.objects.update(idle_parameters=None)  # as in the rows of older versions of the site
    assert Model.objects.get(hub_id="org/causal").active_parameters is None
    local_hub.repositories["org/causal"].info["createdAt"] = "2024-07-31T09:00:00.000Z"
    submit("org/causal", small, {"start": "none"})
    model = Model.objects.get(hub_id="org/causal")
    assert (model.active_parameters, model.hub_created) == (model.parameters, date(2024, 7, 31))


def test_the_same_again_is_the_same_run(small: Benchmark, local_hub: Hub) -> None:
    first = submit("org/causal", small)
    again = submit("causal", small)
    assert again.run == again.duplicate_of == first.run
    assert first.run.events.count() == 1


def test_a_benchmark_with_other_usual_settings_makes_another_run(small: Benchmark, local_hub: Hub) -> None:
    first = submit("org/causal", small)
    small.settings = {"templates": [0, 1]}
    other = submit("org/causal", small)
    assert other.run != first.run
    assert other.run.parts.count() == 4


def test_options_of_the_probe_are_part_of_the_question(pairs: Benchmark, local_hub: Hub) -> None:
    usual, shown, again, spelt = (
        submit("org/causal", pairs, options)
        for options in ({}, {"prompting": "few-shot"}, {"prompting": "few-shot"}, {"prompting": "vanilla", "shots": 10})
    )
    assert shown.run.settings["options"] == {"prompting": "few-shot"}
    assert shown.run != usual.run
    assert (again.duplicate_of, spelt.duplicate_of) == (shown.run, usual.run)


def test_settings_that_equal_the_usual_ones_make_no_other_run(small: Benchmark, local_hub: Hub) -> None:
    usual = submit("org/causal", small).run
    spelt = {"templates": [0, 0], "pll": "within_word_l2r", "reduction": "sum", "dtype": "float32"}
    assert submit("org/causal", small, spelt).duplicate_of == usual
    others = [{"templates": [0, 1]}, {"start": "none"}, {"reduction": "mean"}, {"dtype": "float16"}]
    assert len({submit("org/causal", small, chosen).run for chosen in others} | {usual}) == 5


def test_a_way_to_hide_tokens_is_refused_for_a_model_that_hides_none(small: Benchmark, local_hub: Hub) -> None:
    outcome = submit("org/causal", small, {"pll": "original"})
    (failed,) = [check for check in outcome.checks if check.state == "failed"]
    assert failed.message == "org/causal is a causal model, which hides no tokens: pll does nothing."
    assert submit("org/masked", small, {"pll": "original"}).run is not None
    small.settings = {**small.settings, "pll": "original"}  # a plan for all kinds of models is nobody's choice
    assert submit("org/causal", small).run is not None


def test_all_templates_are_the_same_whether_they_are_numbered_or_not(small: Benchmark, local_hub: Hub) -> None:
    numbered = submit("org/causal", small, {"templates": [2, 0, 1]}).run
    assert submit("org/causal", small, {"templates": []}).duplicate_of == numbered
    assert numbered.parts.count() == 6


def test_a_large_model_is_computed_as_it_is_stored_and_has_one_digest(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path, settings: DjangoSettings
) -> None:
    folder = shutil.copytree(tiny_models["org/causal"], tmp_path / "half")
    weights = load_file(folder / "model.safetensors")
    save_file({name: tensor.bfloat16() for name, tensor in weights.items()}, folder / "model.safetensors", PYTORCH)
    local_hub.add("org/half", folder)
    in_float32 = submit("org/half", small)
    assert in_float32.run.settings["dtype"] == "float32", "it is small"
    settings.FLOAT32_PARAMETERS = 1000
    by_size = submit("org/half", small)
    assert by_size.run.settings["dtype"] == "bfloat16"
    assert by_size.run.variant == "bfloat16"
    assert by_size.run.settings_digest == Settings.from_json(by_size.run.settings).digest
    assert submit("org/half", small, {"dtype": "bfloat16"}).duplicate_of == by_size.run
    assert submit("org/half", small, {"dtype": "float32"}).duplicate_of == in_float32.run
    messages = {check.name: check.message for check in by_size.checks}
    assert messages["number format"].startswith("bfloat16, as stored: ")
    assert "in bfloat16" in messages["memory"]


def test_a_checkpoint_that_would_be_too_large_in_float32_is_refused_in_float32_only(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path], settings: DjangoSettings
) -> None:
    size = (tiny_models["org/causal"] / "model.safetensors").stat().st_size
    settings.MODEL_MEMORY_LIMIT = size
    refused = submit("org/causal", small, {"dtype": "float32"})
    assert refused.run is None
    check = next(check for check in refused.checks if check.state == "failed")
    assert (check.name, check.code) == ("memory", "too-large")
    assert "Choose bfloat16" in check.next_step
    assert submit("org/causal", small, {"dtype": "bfloat16"}).run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"templates": [3]}, r"Relation P30 has no template 3\. Choose from 0 to 2"),
        ({"templates": ["0"]}, "templates cannot be '0'"),
        ({"templates": "0"}, "templates cannot be '0'"),
        ({"pll": "best"}, "pll cannot be 'best'. Choose from: within_word_l2r"),
        ({"reduction": None}, "reduction cannot be None"),
        ({"dtype": "int4"}, "dtype cannot be 'int4'. Choose from: float32, bfloat16, float16, auto"),
        (
            {"limit": 3},
            r"Benchmark small has no option 'limit'\. Choose from: templates, sample, language, pll, reduction",
        ),
        ({"decide": True}, "no option 'decide'"),
    ],
)
def test_a_bad_setting_is_bad_input(small: Benchmark, options: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        submit("org/causal", small, options)


def test_another_commit_is_another_run(small: Benchmark, local_hub: Hub, data: Path) -> None:
    folder = data / "models/org/causal"
    folder.mkdir(parents=True)
    for name, path in local_hub.repositories["org/causal"].files.items():
        (folder / name).write_bytes(path.read_bytes())
    local = submit("org/causal", small).run
    (folder / "README.md").write_text("changed")
    assert submit("org/causal", small).run != local
    assert local.model.source == Model.Source.LOCAL


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_failed_run_goes_back_to_the_queue_with_its_history(small: Benchmark, local_hub: Hub, state: str) -> None:
    run = submit("org/causal", small).run
    run.parts.filter(relation="P30").update(done=True, attempt=1)
    Claim.objects.create(run=run, number=4, losses=4)
    Run.objects.fail(run, "internal", "It broke.", "Wait.", "Traceback")
    Run.objects.filter(pk=run.pk).update(state=state)
    again = submit("org/causal", small)
    again.run.refresh_from_db()
    assert (again.run, again.duplicate_of) == (run, None)
    assert again.run.state == Run.State.QUEUED
    left = [again.run.code, again.run.message, again.run.next_step, again.run.traceback, again.run.finished]
    assert left == ["", "", "", "", None]
    assert list(run.parts.values_list("done", "attempt")) == [(True, 1), (False, 0)]
    assert Claim.objects.get(run=run).losses == 0
    assert [event.message for event in run.events.all()] == ["Submitted.", "It broke.", "Submitted again."]


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_create_one_run(small: Benchmark, local_hub: Hub) -> None:
    def one(_: int) -> int:
        try:
            return submit("org/causal", small).run.pk
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        runs = list(pool.map(one, range(20)))
    assert len(set(runs)) == 1
    measured = Run.objects.filter(model__hub_id="org/causal")
    assert (measured.count(), measured.get().parts.count(), measured.get().events.count()) == (1, 2, 1)


def test_the_work_of_a_second_model_of_the_same_kind_is_taken_from_the_first(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = submit("org/causal", small).run
    local_hub.add("org/again", tiny_models["org/causal"])
    monkeypatch.delattr(submissions, "estimate_work")
    again = submit("org/again", small).run
    works = [list(run.parts.order_by("pk").values_list("relation", "items", "work")) for run in (first, again)]
    assert works[0] == works[1]


def test_what_a_card_says_of_itself_is_stored_without_invisible_characters(
    small: Benchmark, local_hub: Hub, tiny_models: dict[str, Path]
) -> None:
    local_hub.add("org/hostile", tiny_models["org/causal"], cardData={"license": "mit\u202e<b>\x00" + "x" * 200})
    licence = submit("org/hostile", small).run.model.licence
    assert licence.startswith(r"mit\u202e<b>\x00xx")
    assert len(licence) == 100


def test_the_base_that_a_card_names_is_kept_unless_it_names_several(
    local_hub: Hub, tiny_models: dict[str, Path], small: Benchmark
) -> None:
    stated = {"one": ["org/base"], "two": ["org/base", "org/other"]}
    for name, bases in stated.items():
        local_hub.add(f"org/{name}", tiny_models["org/causal"], cardData={"base_model": bases})
    assert [submit(f"org/{name}", small).run.model.base_model for name in stated] == ["org/base", ""]
    Model.objects.update(base_model="")
    assert submit("org/one", small).run.model.base_model == "org/base", "a row without it is completed"


def test_a_quantised_or_merged_model_was_not_tuned_from_another(
    local_hub: Hub, tiny_models: dict[str, Path], small: Benchmark
) -> None:
    for relation, base in (("quantized", ""), ("merge", ""), ("finetune", "org/base")):
        card = {"base_model": ["org/base"], "base_model_relation": relation}
        local_hub.add(f"org/{relation}", tiny_models["org/causal"], cardData=card)
        assert submit(f"org/{relation}", small).run.model.base_model == base


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The submissions that were enqueued to be checked."""
    calls: list[int] = []
    monkeypatch.setattr(queue, "enqueue_check", calls.append)
    return calls


def checked(benchmark: Benchmark, model_id: str = "org/causal", **fields: Any) -> Submission:
    """Receive a submission and run its check job."""
    submission = receive(model_id, benchmark, {}, **fields)
    check_job.check(submission.pk)
    return fresh(submission)


def fresh(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def test_a_submission_is_stored_and_its_check_enqueued_and_nothing_else_happens(
    small: Benchmark,
    checks: list[int],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.delattr(hub, "find")
    monkeypatch.delattr(benchmarks, "read")
    with django_capture_on_commit_callbacks(execute=True):
        submission = receive(" org/causal ", small, {}, submitter="192.0.2.1")
    assert checks == [submission.pk]
    assert (submission.model_id, submission.state, submission.run) == ("org/causal", State.CHECKING, None)
    assert len(submission.token) == 43
    assert not Model.objects.filter(hub_id="org/causal").exists()


@pytest.mark.parametrize(
    ("model_id", "options"),
    [
        ("not a model id", {}),
        ("org/na\u202eme", {}),
        ("org/" + "n" * 500, {}),
        ("org/name", {"prompting": "loud"}),
    ],
)
def test_what_cannot_be_right_is_refused_at_once_and_not_stored(
    pairs: Benchmark, model_id: str, options: dict[str, Any]
) -> None:
    with pytest.raises(BadInput) as error:
        receive(model_id, pairs, options)
    assert str(error.value).isascii()
    assert not Submission.objects.exists()


def test_a_run_that_somebody_else_wants_goes_on_until_the_last_has_withdrawn(small: Benchmark, local_hub: Hub) -> None:
    first, second = checked(small), checked(small)
    withdraw(first)
    assert (fresh(first).state, fresh(first).run.state) == (State.WITHDRAWN, Run.State.QUEUED)
    withdraw(second)
    assert fresh(first).run.state == Run.State.CANCELLED
    assert fresh(first).run.events.last().message == "Cancelled by its submitter."


def test_a_run_that_no_submission_created_cannot_be_cancelled_by_one(small: Benchmark, local_hub: Hub) -> None:
    run = submit("org/causal", small).run
    submission = checked(small)
    assert (submission.run, submission.duplicate) == (run, True)
    withdraw(submission)
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED


def test_a_finished_run_stays(small: Benchmark, local_hub: Hub) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=Run.State.FINISHED)
    with pytest.raises(BadInput, match="nothing left to cancel"):
        withdraw(submission)
    assert fresh(submission).state == State.ACCEPTED


def test_a_submission_that_is_withdrawn_before_its_check_makes_no_run(small: Benchmark, local_hub: Hub) -> None:
    submission = receive("org/causal", small, {})
    withdraw(submission)
    check_job.check(submission.pk)
    assert not Run.objects.filter(model__hub_id="org/causal").exists()


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_run_without_a_result_is_tried_again(
    small: Benchmark,
    local_hub: Hub,
    enqueued: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    state: str,
) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=state, code="internal")
    with django_capture_on_commit_callbacks(execute=True):
        retry(submission)
    run = fresh(submission).run
    assert (run.state, run.code) == (Run.State.QUEUED, "")
    assert enqueued[-1] == run.pk


def test_a_refused_model_is_checked_again(
    small: Benchmark,
    local_hub: Hub,
    checks: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    submission = checked(small, "org/nothing")
    assert submission.state == State.REFUSED
    with django_capture_on_commit_callbacks(execute=True):
        retry(submission)
    assert (fresh(submission).state, fresh(submission).checks) == (State.CHECKING, [])
    assert submission.pk in checks


@pytest.mark.parametrize("state", [Run.State.QUEUED, Run.State.FINISHED])
def test_there_is_nothing_to_try_again_before_it_has_failed(small: Benchmark, local_hub: Hub, state: str) -> None:
    submission = checked(small)
    Run.objects.filter(pk=submission.run_id).update(state=state)
    with pytest.raises(BadInput, match="nothing to try again"):
        retry(submission)


def test_who_tries_a_run_of_somebody_else_again_has_it_counted(small: Benchmark, local_hub: Hub, settings: Any) -> None:
    checked(small, submitter="192.0.2.1")
    second = checked(small, submitter="192.0.2.2")
    Run.objects.filter(pk=second.run_id).update(state=Run.State.FAILED)
    retry(fresh(second))
    settings.OPEN_RUNS_PER_SUBMITTER = 1
    with pytest.raises(TooManyOpen):
        receive("org/masked", small, {}, submitter="192.0.2.2")


def test_a_locked_database_asks_the_submitter_to_come_again(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*args: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(submissions.quotas, "lock", locked)
    with pytest.raises(submissions.SiteBusy, match="stored nothing"):
        receive("org/causal", small, {})


@pytest.mark.parametrize("text", ["\0", "x" * 20_000])
def test_options_that_cannot_be_stored_are_refused(db: None, text: str) -> None:
    culture = make.benchmark("culture", probe="ranking")
    with pytest.raises(BadInput, match="too long"):
        receive("org/causal", culture, {"pair": text})


def test_a_submission_costs_a_small_part_of_its_checks(local_hub: Hub, db: None) -> None:
    """The checks and the estimate of the work, which the web process did before, take ten times as long at least."""
    starter = make.shipped("starter")
    submission = receive("org/causal", starter, {})
    checks = seconds_of(lambda: check_job.check(submission.pk))
    assert fresh(submission).state == State.ACCEPTED
    assert 10 * seconds_of(lambda: receive("org/masked", starter, {})) < checks
    assert 10 * seconds_of(lambda: receive("org/causal", starter, {})) < checks


def seconds_of(action: Callable[[], object]) -> float:
    """The processor time of this process."""
    start = time.process_time()
    action()
    return time.process_time() - start
