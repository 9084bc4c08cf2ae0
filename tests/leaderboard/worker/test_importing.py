"""Results from elsewhere: those that the library wrote are imported as they are, and everything else is refused."""

import errno
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.files.storage import FileSystemStorage, storages
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Model, Run
from leaderboard.worker.arrivals import CheckedParts
from leaderboard.worker.importing import OtherResult, import_result
from probing.errors import ProbingError
from probing.formats import bear
from probing.results.result import RECORD, SCORES, Result
from probing.results.rows import ITEMS
from probing.runner import run as measure
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, Pupil
from tests.frames_in_memory import FramesInMemory
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db
SOURCE = "Example University"
CARD = replace(FAKE_CARD, id="org/elsewhere", kind="causal", parameters=125_000_000)


def measured(content: Any, out: Path, **chosen: Any) -> Path:
    """A result folder as the library writes it."""
    measure(Pupil(card=CARD), content, out=out, **chosen)
    return out


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result, of which tests get copies."""
    place = tmp_path_factory.mktemp("stored")
    return measured(bear.read(BearFolder(place / "small").write()), place / "result", templates=(0,))


@pytest.fixture
def result(small: Benchmark, stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "result"))


def test_rows_are_checked_and_joined_one_part_at_a_time(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames, store, rows = FramesInMemory(), CheckedParts.store, CheckedParts.rows
    monkeypatch.setattr(CheckedParts, "store", lambda self, part, checked: store(self, part, frames.add(checked)))
    monkeypatch.setattr(CheckedParts, "rows", lambda self, part: frames.add(rows(self, part)))
    monkeypatch.setattr(Result, "items", property(lambda result: pytest.fail("all rows were read")))
    assert import_result(result, SOURCE).state == Run.State.FINISHED
    assert len(frames) == 6, "two parts, each checked and stored, and then read twice"
    assert frames.most == 1


def test_weights_that_were_quantised_in_memory_are_not_those_of_the_commit(small: Benchmark, result: Path) -> None:
    original = make.model(CARD.id, commit=CARD.commit)
    record = json.loads((result / RECORD).read_text())
    record["model"] |= {"quantisation": "bitsandbytes, 4 bits", "source": "object"}
    (result / RECORD).write_text(json.dumps(record))
    run = import_result(result, SOURCE)
    assert run.model != original
    assert run.name == f"{CARD.id} (bitsandbytes, 4 bits)"


def test_the_scores_of_the_folder_are_not_believed(result: Path) -> None:
    written = pd.read_csv(result / SCORES)
    written.assign(value=1.0).to_csv(result / SCORES, index=False)
    assert import_result(result, SOURCE).scores.get(metric="accuracy", dimension="overall").value < 1


def test_the_same_result_is_imported_once(result: Path) -> None:
    run = import_result(result, SOURCE)
    assert import_result(result, SOURCE) == run
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
    assert not Run.objects.filter(provenance=Run.Provenance.ELSEWHERE).exists()
    assert not Model.objects.filter(hub_id=CARD.id).exists()


def change_model(folder: Path, **facts: Any) -> None:
    """Change what a result says of its model."""
    record(model=json.loads((folder / RECORD).read_text())["model"] | facts)(folder)


def test_it_stands_marked_and_never_ranked_beside_a_measurement_of_the_same_model(
    client: Client, small: Benchmark, result: Path
) -> None:
    model = make.model(CARD.id, commit=CARD.commit)
    here = make.measured(small, model, skill=2, templates=(0,))
    run = import_result(result, SOURCE)
    assert (run.model, run.pk != here.pk) == (model, True)
    (row,) = (row for row in csv_rows(client, "/benchmarks/small/") if row["run"] == str(run.pk))
    assert (row["rank"], row["provenance"]) == ("", f"measured elsewhere: {SOURCE}")
    assert not run.ranks.exists()
    assert "This result was measured elsewhere and imported here" in client.get(run.get_absolute_url()).content.decode()
    compared_runs = csv_rows(client, f"/compare/?m={here.pk}&m={run.pk}", "runs")
    assert [row["provenance"] for row in compared_runs] == ["measured here", f"measured elsewhere: {SOURCE}"]


def test_other_rows_of_the_same_are_refused_until_the_first_are_withdrawn(result: Path) -> None:
    run = import_result(result, SOURCE)
    rows = pd.read_parquet(result / ITEMS)
    other = rows.assign(scores=[scores - 1 for scores in rows["scores"]])
    other.to_parquet(result / ITEMS, index=False)
    with pytest.raises(OtherResult, match=f"Run {run.pk} has other rows") as refused:
        import_result(result, SOURCE)
    assert f"manage.py withdraw {run.pk}" in refused.value.next_step
    call_command("withdraw", str(run.pk))
    assert import_result(result, SOURCE).pk != run.pk


@pytest.mark.parametrize("state", [Run.State.FAILED, Run.State.CANCELLED])
def test_a_result_that_was_sent_and_never_finished_is_imported_in_its_place(result: Path, state: Run.State) -> None:
    former = import_result(result, SOURCE)
    Run.objects.filter(pk=former.pk).update(state=state, rows_digest="")
    again = import_result(result, SOURCE)
    assert (again.pk != former.pk, again.state) == (True, Run.State.FINISHED)
    assert not Run.objects.filter(pk=former.pk).exists()


def test_two_checkpoints_of_a_local_training_are_two_models_under_one_name(client: Client, result: Path) -> None:
    for step in (100, 200):
        change_model(
            result,
            id=f"/home/somebody/checkpoint-{step}",
            commit="",
            source="folder",
            files={"model.safetensors": f"{step:064x}"},
            revision=f"checkpoint-{step}",
        )
        import_result(result, SOURCE, hub_id="org/trained")
    models = Model.objects.filter(hub_id="org/trained").order_by("step")
    assert [(model.revision, model.step, model.source) for model in models] == [
        ("checkpoint-100", 100, "local"),
        ("checkpoint-200", 200, "local"),
    ]
    assert len({model.commit for model in models}) == 2
    rows = [row["settings"] for row in csv_rows(client, "/benchmarks/small/") if row["model"] == "org/trained"]
    assert rows == ["step 200 and 1 earlier step"]
    assert client.get("/models/org/trained/").status_code == 200


def test_networks_in_memory_are_told_apart_by_their_revisions(result: Path) -> None:
    change_model(result, id="LlamaForCausalLM", commit="", files={}, source="object")
    for revision in ("step100", "step200", "step200"):
        import_result(result, SOURCE, hub_id="org/trained", revision=revision)
    models = Model.objects.filter(hub_id="org/trained").order_by("step")
    assert [(model.revision, model.step, model.commit) for model in models] == [
        ("step100", 100, ""),
        ("step200", 200, ""),
    ]
    assert Run.objects.filter(model__hub_id="org/trained").count() == 2


@pytest.mark.parametrize(
    ("recorded", "chosen", "named"), [("", "", "step1000"), ("step7", "", "step7"), ("step7", "v2", "v2")]
)
def test_the_revision_is_the_chosen_the_recorded_or_the_one_of_the_folder(
    result: Path, recorded: str, chosen: str, named: str
) -> None:
    change_model(result, revision=recorded)
    folder = result.rename(result.with_name("step1000"))
    assert import_result(folder, SOURCE, revision=chosen).model.revision == named


def test_a_result_from_elsewhere_does_not_name_a_commit_that_was_measured_here(result: Path) -> None:
    here = make.model(CARD.id, commit=CARD.commit or "c0ffee", kind="causal")
    change_model(result, commit=here.commit)
    import_result(result, SOURCE, revision="step5")
    here.refresh_from_db()
    assert (here.runs.count(), here.revision) == (1, "")


def test_a_full_disk_leaves_nothing(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for kind, method in ((CheckedParts, "store"), (FileSystemStorage, "_save")):
        with monkeypatch.context() as patch:
            patch.setattr(kind, method, full)
            with pytest.raises((OSError, ProbingError)):
                import_result(result, SOURCE)
        assert not Run.objects.filter(provenance=Run.Provenance.ELSEWHERE).exists()
        assert not storages["artefacts"].exists("runs") or storages["artefacts"].listdir("runs") == ([], [])
    assert import_result(result, SOURCE).state == Run.State.FINISHED


def test_the_command_imports_folders_and_takes_a_name_for_the_model(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_model(result, id="/home/somebody/model", commit="")
    folders = [tmp_path / name for name in ("step20", "step40")]
    for number, folder in enumerate(folders):
        shutil.copytree(result, folder)
        change_model(folder, files={"model.safetensors": f"{number:064x}"})
    words = [*map(str, folders), "--source", SOURCE]
    with pytest.raises(CommandError, match=f"{folders[0]}: .*--model org/name"):
        call_command("import_result", *words)
    with pytest.raises(CommandError, match="Several results cannot be of one revision"):
        call_command("import_result", *words, "--model", "org/named", "--revision", "step20")
    call_command("import_result", *words, "--model", "org/named")
    runs = Run.objects.filter(provenance=Run.Provenance.ELSEWHERE).order_by("pk")
    assert [(run.model.hub_id, run.model.revision, run.model.step) for run in runs] == [
        ("org/named", "step20", 20),
        ("org/named", "step40", 40),
    ]
    printed = capsys.readouterr().out
    assert all(run.get_absolute_url() in printed for run in runs)
