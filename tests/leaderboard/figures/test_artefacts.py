"""Files of a run: its parts, and the result that replaces them."""

import errno
import json
from collections.abc import Iterator

import pandas as pd
import pytest
from django.core.files.base import ContentFile

from leaderboard.figures import artefacts
from leaderboard.models import Run
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
    artefacts.remove_leftovers(run)
    artefacts.remove_leftovers(run)
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
