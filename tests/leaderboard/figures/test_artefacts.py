"""Files of a run, its result that replaces them, and steps that wait for a database that is locked."""

import errno
import json
from collections.abc import Iterator

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.db import OperationalError, transaction
from django.utils import timezone

from leaderboard.figures import artefacts
from leaderboard.figures.artefacts import DatabaseUnavailable, patiently
from leaderboard.models import Run
from leaderboard.worker.reconciling import remove_leftovers
from probing.errors import NoSpace
from probing.results.result import Result
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
ROWS = pd.DataFrame({"relation": ["P30"], "template": [0], "index": [0], "correct": [True]})


@pytest.fixture
def run() -> Run:
    return make.running(make.model(), make.benchmark())


def test_a_part_is_read_as_it_was_stored(run: Run) -> None:
    part = run.parts.get()
    artefacts.store_part(part, ROWS)
    pd.testing.assert_frame_equal(artefacts.read_part(part), ROWS)


def test_a_part_that_is_stored_again_replaces_the_first(run: Run) -> None:
    part = run.parts.get()
    artefacts.store_part(part, ROWS)
    artefacts.store_part(part, ROWS.assign(correct=[False]))
    assert not artefacts.read_part(part)["correct"].any()
    assert len(artefacts.storage().listdir(f"{artefacts.folder(run)}/parts")[1]) == 1


def test_a_result_is_stored_as_the_files_of_the_library_with_its_highlights(run: Run) -> None:
    scores = pd.DataFrame({"metric": ["accuracy"], "value": [1.0]})
    folder = artefacts.store_result(run, Result(ROWS, scores, {"device": "cpu"}))
    assert sorted(artefacts.storage().listdir(folder)[1]) == [
        "highlights.json",
        "items.parquet",
        "run.json",
        "scores.csv",
    ]
    with artefacts.storage().open(f"{folder}/run.json") as file:
        assert json.load(file)["device"] == "cpu"


def test_only_the_result_is_kept_of_a_finished_run(run: Run) -> None:
    result = Result(ROWS, pd.DataFrame({"metric": ["accuracy"], "value": [1.0]}), {})
    artefacts.store_part(run.parts.get(), ROWS)
    artefacts.store_result(run, result)  # by a worker that was killed before it could finish the run
    run.artefact = artefacts.store_result(run, result)
    facts = {"state": Run.State.FINISHED, "finished": timezone.now(), "artefact": run.artefact}
    Run.objects.filter(pk=run.pk).update(**facts)
    for _ in range(2):
        remove_leftovers()
    folders, files = artefacts.storage().listdir(artefacts.folder(run))
    assert (folders, files) == ([run.artefact.rpartition("/")[2]], [])


def test_workers_that_have_a_run_one_after_the_other_do_not_write_the_same_file(run: Run) -> None:
    late, present = run.parts.get(), run.parts.get()
    late.attempt, present.attempt = 1, 2
    artefacts.store_part(present, ROWS)
    artefacts.store_part(late, ROWS.assign(correct=[False]))
    artefacts.remove_part(late)
    assert artefacts.read_part(present)["correct"].all()


def test_a_full_disk_is_reported_and_no_half_of_a_file_stays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(content: object) -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ContentFile, "chunks", full)
    with pytest.raises(NoSpace):
        artefacts.store_part(run.parts.get(), ROWS)
    assert artefacts.storage().listdir(f"{artefacts.folder(run)}/parts") == ([], [])


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(artefacts, "LONGEST_PAUSE", 0.02)


class Locked:
    """A function that works only after some attempts."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.failures:
            raise OperationalError("database is locked")
        return self.calls


@pytest.mark.django_db(transaction=True)
def test_a_step_is_tried_again_until_the_database_answers() -> None:
    assert patiently(Locked(5)) == 6


@pytest.mark.django_db(transaction=True)
def test_a_database_that_stays_away_is_a_temporary_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "PATIENCE", 0.1)
    with pytest.raises(DatabaseUnavailable) as caught:
        patiently(Locked(1000))
    assert not caught.value.permanent


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_nothing_is_repeated() -> None:
    step = Locked(1)
    with pytest.raises(OperationalError), transaction.atomic():
        patiently(step)
    assert step.calls == 1
