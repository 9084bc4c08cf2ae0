"""Files of a run: its parts, and the result that replaces them."""

import errno
import json

import pandas as pd
import pytest
from django.core.files.storage import FileSystemStorage

from leaderboard.models import Run
from leaderboard.stored import artefacts
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


def test_a_result_is_stored_as_the_files_of_the_library(run: Run) -> None:
    scores = pd.DataFrame({"metric": ["accuracy"], "value": [1.0]})
    artefacts.store_result(run, Result(ROWS, scores, {"device": "cpu"}))
    folder = artefacts.folder(run)
    assert sorted(artefacts.storage().listdir(folder)[1]) == ["items.parquet", "run.json", "scores.csv"]
    with artefacts.storage().open(f"{folder}/run.json") as file:
        assert json.load(file)["device"] == "cpu"


def test_parts_are_removed_once_the_result_has_them(run: Run) -> None:
    artefacts.store_part(run.parts.get(), ROWS)
    artefacts.remove_parts(run)
    assert artefacts.storage().listdir(f"{artefacts.folder(run)}/parts")[1] == []


def test_a_full_disk_is_reported_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileSystemStorage, "save", full)
    with pytest.raises(NoSpace):
        artefacts.store_part(run.parts.get(), ROWS)
