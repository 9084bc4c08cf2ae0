"""Runs that keep no rows: the same scores, and a sentence wherever rows are needed."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.results.rescoring import rescored
from probing.results.result import Result
from probing.runner import run
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import printed_by

GIVEN: dict[str, Any] = {"relations": ["country_capital", "river_continent"], "templates": (0, 1), "progress": False}


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return open_benchmark("starter")


@pytest.fixture(scope="module")
def folder(benchmark: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    run(FakeModel(), benchmark, out=out, keep_rows=False, **GIVEN)
    return out


def test_the_scores_are_those_of_a_run_with_rows(benchmark: Benchmark, folder: Path) -> None:
    stored, whole = Result.load(folder), run(FakeModel(), benchmark, **GIVEN)
    pd.testing.assert_frame_equal(stored.scores, whole.scores)
    assert len(stored.items) == 0 < len(whole.items)
    assert stored.options == whole.options
    assert any("without keeping its rows" in note for note in stored.notes)
    assert json.loads((folder / "run.json").read_text())["rows_kept"] is False
    assert "rows_kept" not in whole.record


def test_show_prints_the_scores_and_says_that_rows_are_not_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, "show", "--details", str(folder))
    assert "without keeping its rows" in printed
    assert "accuracy" in printed


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        (["show", "--k", "1,3"], "Precision at k"),
        (["show", "--predictions"], "Computing scores again"),
    ],
)
def test_commands_that_need_rows_say_so(
    command: list[str], purpose: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, str(folder)]) == 2
    assert f"{purpose} needs rows" in capsys.readouterr().err


def test_comparing_and_rescoring_in_python_say_so(benchmark: Benchmark, folder: Path) -> None:
    result = Result.load(folder)
    for work in (lambda: result.compare(run(FakeModel(), benchmark, **GIVEN)), lambda: rescored(result, benchmark)):
        with pytest.raises(BadInput, match="needs rows, and this result was measured without keeping them"):
            work()


def test_a_result_without_rows_is_not_taken_for_one_with_rows_and_has_no_tokens(
    benchmark: Benchmark, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="exists already, without its rows"):
        run(FakeModel(), benchmark, out=folder, **GIVEN)
    with pytest.raises(BadInput, match="belong to rows, which are not kept"):
        run(FakeModel(), benchmark, out=tmp_path / "out", keep_tokens=True, keep_rows=False, **GIVEN)


def test_precision_at_any_k_is_a_share_of_the_stored_ranks(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(FakeModel(), benchmark, out=tmp_path / "out", **GIVEN)
    assert main(["show", str(tmp_path / "out"), "--k", "5,1,3"]) == 0
    table = capsys.readouterr().out.split("precision at k\n")[1].split("\n\n")[0].splitlines()
    values = {line.split()[0]: float(line.split()[1]) for line in table if line.startswith("precision_at_")}
    ranks = result.items["rank"].astype(int)
    assert list(values) == ["precision_at_1", "precision_at_3", "precision_at_5"]
    for k in (1, 3, 5):
        assert values[f"precision_at_{k}"] == pytest.approx((ranks <= k).mean(), abs=1e-3)
    assert 0 < values["precision_at_1"] < values["precision_at_3"] < values["precision_at_5"]


@pytest.mark.parametrize("text", ["", "0", "1,two", "1;5"])
def test_numbers_of_k_that_are_none_are_refused(
    text: str, benchmark: Benchmark, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(folder), f"--k={text}"]) == 2
    assert "no list of numbers" in capsys.readouterr().err


def test_ranks_that_an_early_decision_left_open_are_refused(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(FakeModel(), benchmark, out=tmp_path / "out", decide=True, **GIVEN)
    stored = Result.load(tmp_path / "out")
    stored.items["rank"] = pd.array([pd.NA] * len(stored.items), dtype="Int64")
    stored.replace(tmp_path / "out")
    assert main(["show", str(tmp_path / "out"), "--k", "5"]) == 2
    assert "decided early" in capsys.readouterr().err
