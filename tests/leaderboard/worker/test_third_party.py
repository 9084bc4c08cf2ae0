"""Results of third parties: those that the library wrote are imported as they are, and everything else is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Model, Run
from leaderboard.worker.arrivals import CheckedParts
from leaderboard.worker.third_party import import_result
from probing.errors import ProbingError
from probing.results.result import RECORD, SCORES, Result
from probing.results.rows import ITEMS
from probing.runner import run as measure
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, Pupil
from tests.frames_in_memory import FramesInMemory
from tests.kept_folder import kept_folder
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db
SOURCE = "Example University"
CARD = replace(FAKE_CARD, id="org/elsewhere", kind="causal", parameters=125_000_000)


def measured(content: Any, out: Path, **chosen: Any) -> Path:
    """A result folder as the library writes it."""
    measure(Pupil(card=CARD), content, out=out, **chosen)
    return out


@pytest.fixture
def result(small: Benchmark, tmp_path: Path) -> Path:
    content = benchmarks.read(small)
    return kept_folder(__name__, tmp_path / "result", lambda folder: measured(content, folder, templates=(0,)))


def test_rows_are_checked_and_joined_one_part_at_a_time(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames, store, rows = FramesInMemory(), CheckedParts.store, CheckedParts.rows
    monkeypatch.setattr(CheckedParts, "store", lambda self, part, checked: store(self, part, frames.add(checked)))
    monkeypatch.setattr(CheckedParts, "rows", lambda self, part: frames.add(rows(self, part)))
    monkeypatch.setattr(Result, "items", property(lambda result: pytest.fail("all rows were read")))
    assert import_result(result, SOURCE).state == Run.State.FINISHED
    assert len(frames) == 6, "two parts, each checked and stored, and then read twice"
    assert frames.most == 1


def test_it_can_be_compared_with_a_run_that_was_measured_here(client: Client, small: Benchmark, result: Path) -> None:
    here, there = make.measured(small, make.model("org/here"), skill=2, templates=(0,)), import_result(result, SOURCE)
    rows = csv_rows(client, f"/compare/?m={here.pk}&m={there.pk}", "runs")
    assert [row["provenance"] for row in rows] == ["measured here", f"uploaded by a third party: {SOURCE}"]


def test_weights_that_were_quantised_in_memory_are_not_those_of_the_commit(small: Benchmark, result: Path) -> None:
    original = make.model(CARD.id, commit=CARD.commit)
    record = json.loads((result / RECORD).read_text())
    record["model"] |= {"quantisation": "bitsandbytes, 4 bits", "source": "object"}
    (result / RECORD).write_text(json.dumps(record))
    run = import_result(result, SOURCE)
    assert run.model != original
    assert run.name == f"{CARD.id} (bitsandbytes, 4 bits)"


def test_it_stands_beside_a_measurement_of_the_same_and_belongs_to_its_model(small: Benchmark, result: Path) -> None:
    model = make.model(CARD.id, commit=CARD.commit)
    here = make.measured(small, model, skill=2, templates=(0,))
    there = import_result(result, SOURCE)
    assert there.model == model
    assert there.pk != here.pk


def test_the_scores_of_the_folder_are_not_believed(result: Path) -> None:
    written = pd.read_csv(result / SCORES)
    written.assign(value=1.0).to_csv(result / SCORES, index=False)
    assert import_result(result, SOURCE).scores.get(metric="accuracy", dimension="overall").value < 1


def test_the_same_result_is_imported_once(result: Path) -> None:
    run = import_result(result, SOURCE)
    with pytest.raises(ProbingError, match=f"here already, as run {run.pk}"):
        import_result(result, SOURCE)
    assert import_result(result, "somebody else").pk != run.pk


def test_another_version_of_the_benchmark_is_named(bear_folder: BearFolder, result: Path, tmp_path: Path) -> None:
    here = Benchmark.objects.get(slug="small")
    Benchmark.objects.filter(pk=here.pk).update(digest="1" * 64)
    version = json.loads((result / RECORD).read_text())["benchmark"]["version"]
    with pytest.raises(ProbingError, match=f"on small {version}, which is not here .*{here.version}"):
        import_result(result, SOURCE)


def test_another_probe_is_not_mixed_in(bear_folder: BearFolder, small: Benchmark, tmp_path: Path) -> None:
    folder = measured(benchmarks.read(small), tmp_path / "result", probe="similarity")
    with pytest.raises(ProbingError, match="measured with the probe similarity"):
        import_result(folder, SOURCE)


def record(**changes: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        values = json.loads((folder / RECORD).read_text())
        (folder / RECORD).write_text(json.dumps({**values, **changes}))

    return spoil


SPOILED: dict[str, Callable[[Path], None]] = {
    "'subject' differs": lambda folder: (
        pd.read_parquet(folder / ITEMS).assign(subject="Atlantis").to_parquet(folder / ITEMS, index=False)
    ),
    "is not a result": lambda folder: (folder / ITEMS).unlink(),
    "cannot be read": lambda folder: (folder / RECORD).write_text("{"),
    "Unknown setting nothing": record(settings={"nothing": 1}),
    "too large for a record": lambda folder: (folder / RECORD).write_text(" " * (10**6 + 1)),
    "names its model '/home/somebody/model'": record(model={"id": "/home/somebody/model"}),
    "is not the record": record(model=[]),
    "was served, so that nobody can tell its weights": record(model={"id": CARD.id, "source": "served"}),
}


@pytest.mark.parametrize("reason", SPOILED)
def test_what_no_measurement_gives_is_refused_and_leaves_nothing(result: Path, reason: str) -> None:
    SPOILED[reason](result)
    with pytest.raises(ProbingError, match=reason):
        import_result(result, SOURCE)
    assert not Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).exists()
    assert not Model.objects.filter(hub_id=CARD.id).exists()


def test_the_command_imports_a_folder_and_takes_a_name_for_the_model(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(model={**json.loads((result / RECORD).read_text())["model"], "id": "/home/somebody/model"})(result)
    with pytest.raises(CommandError, match="--model org/name"):
        call_command("import_result", str(result), "--source", SOURCE)
    call_command("import_result", str(result), "--source", SOURCE, "--model", "org/named", "--revision", "step20")
    run = Run.objects.get(provenance=Run.Provenance.THIRD_PARTY)
    assert (run.model.hub_id, run.model.revision, run.model.step) == ("org/named", "step20", 20)
    assert run.get_absolute_url() in capsys.readouterr().out
