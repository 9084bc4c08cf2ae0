"""A run on several devices: the same files as on one, the work shared out, and a clear end after errors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput, Incomplete, NonFiniteScores, ProbingError
from probing.plan import Part, plan_of
from probing.settings import Settings
from probing.time_left import Estimates, PartsProgress
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.devices.fake_devices import CARD, Devices
from tests.probing.devices.same_results import refuse_differences

TWO: dict[str, Any] = {"device": "xpu:0,xpu:1", "progress": False}


def test_the_files_are_those_of_one_device(devices: Devices, benchmark: Benchmark, tmp_path: Path) -> None:
    devices.at_once = 2
    chosen: dict[str, Any] = {"templates": (), "keep_tokens": True}
    one = probing.run(FakeModel(CARD), benchmark, out=tmp_path / "one", progress=False, **chosen)
    two = probing.run("org/model", benchmark, out=tmp_path / "two", **chosen, **TWO)
    refuse_differences(tmp_path / "one", tmp_path / "two")
    assert one.record["settings_digest"] == two.record["settings_digest"]
    assert (one.record["device"], two.record["device"]) == ("cpu", "xpu:0, xpu:1")
    assert sorted(devices.loaded) == ["xpu:0", "xpu:1"], "each loads the model once"


def test_the_longest_parts_are_begun_first(
    devices: Devices, bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ("Peru", "Chad", "Kenya", "Japan", "Austria", "Hungary", "Serbia", "Ecuador")
    bear_folder.lines["P36"] += [{"sub_id": place, "sub_label": place, "answer_idx": 0} for place in places]
    begun: list[Part] = []
    monkeypatch.setattr(PartsProgress, "begin", lambda progress, part: begun.append(part))
    monkeypatch.setattr(PartsProgress, "move", lambda progress, part, done: None)
    monkeypatch.setattr(PartsProgress, "end", lambda progress, part, too_long: None)
    folder = bear_folder.write()
    probing.run("org/model", folder, templates=(0, 1), **TWO)
    work = Estimates(plan_of(probing.open_benchmark(folder), Settings(templates=(0, 1)))).of(FakeModel())
    assert len(begun) == 4 and begun != list(work)
    sizes = [work[part].work for part in begun]
    assert sizes == sorted(sizes, reverse=True)


def test_no_more_devices_load_the_model_than_there_are_parts(devices: Devices, benchmark: Benchmark) -> None:
    devices.at_once = 2
    probing.run("org/model", benchmark, device="xpu:0,xpu:1,xpu:2", progress=False)
    assert devices.loaded == ["xpu:0", "xpu:1"]


def test_a_finished_run_is_returned_after_one_device_has_loaded_the_model(
    devices: Devices, benchmark: Benchmark, tmp_path: Path
) -> None:
    first = probing.run(FakeModel(CARD), benchmark, out=tmp_path / "out", progress=False)
    again = probing.run("org/model", benchmark, out=tmp_path / "out", **TWO)
    assert devices.loaded == ["xpu:0"]
    assert again.record == json.loads(json.dumps(first.record))


def test_the_other_devices_take_the_commit_and_the_number_format_of_the_first(
    devices: Devices, benchmark: Benchmark
) -> None:
    devices.at_once = 2
    devices.cards = dict.fromkeys(("xpu:0", "xpu:1"), replace(FAKE_CARD, source="hub"))
    probing.run("org/model", benchmark, dtype="auto", **TWO)
    assert [(load["commit"], load["dtype"]) for load in devices.loads] == [("", "auto"), ("0" * 40, "float32")]


def test_weights_that_change_in_between_are_refused(devices: Devices, benchmark: Benchmark) -> None:
    devices.cards["xpu:1"] = replace(CARD, files={"weights": "2" * 64})
    devices.at_once = 2  # the first device waits for the other one, in vain
    with pytest.raises(Incomplete, match=r"The files of org/model were changed while it was loaded\. Run it again\."):
        probing.run("org/model", benchmark, **TWO)


ERRORS: dict[str, tuple[BaseException, type[ProbingError], str]] = {
    "of the library": (NonFiniteScores.of("org/model", "in an item"), NonFiniteScores, "org/model gave a score"),
    "unforeseen": (ZeroDivisionError("by zero"), Incomplete, r"has failed: ZeroDivisionError: by zero\. Report it"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_of_a_process_ends_the_run_and_finished_parts_are_kept(
    devices: Devices, benchmark: Benchmark, tmp_path: Path, case: str
) -> None:
    devices.error, expected, message = ERRORS[case]
    devices.error_after = 12  # the size of the longest part, after which each device has finished one
    with pytest.raises(expected, match=message):
        probing.run("org/model", benchmark, out=tmp_path / "out", templates=(), **TWO)
    assert list((tmp_path / "out.partial").glob("*.parquet"))

    model = FakeModel(CARD)
    whole = probing.run(model, benchmark, out=tmp_path / "out", templates=(), progress=False)
    assert 0 < model.usage.statements < whole.record["statements"], "what was finished is not repeated"


def test_a_study_loads_each_model_once_on_each_device(devices: Devices, benchmark: Benchmark, tmp_path: Path) -> None:
    devices.at_once = 2
    benchmarks = [{"benchmark": benchmark, "name": name} for name in ("first", "second")]
    study = probing.study([str(tmp_path)], benchmarks, out=tmp_path / "out", **TWO)
    assert not study.failures
    assert sorted(devices.loaded) == ["xpu:0", "xpu:1"]


def test_several_start_tokens_are_as_many_runs(
    devices: Devices, bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--start", "bos,none", "--device", "xpu:0,xpu:1", "--out", str(tmp_path / "out")]
    assert main(["run", str(tmp_path), "--benchmark", str(bear_folder.write()), *words]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"start-bos", "start-none"}


def test_a_run_can_be_tried_on_one_device_only(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"tried on one device only\. Name one"):
        probing.forecast("org/model", benchmark, device="cpu,cpu")


def test_what_is_no_run_takes_one_device() -> None:
    with pytest.raises(BadInput, match=r"A model is loaded on one device, not on 'cpu,cpu'\. Name one"):
        probing.surprisal("org/never-loaded", ["Oslo is in Norway."], device="cpu,cpu")
