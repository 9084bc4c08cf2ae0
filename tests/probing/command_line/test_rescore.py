"""The command rescore: results with the benchmark's present tags, rewritten whole or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.results.result import Result
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by, refusal

TODAY = {"P30": {"domains": ["Places"]}, "P36": {"domains": ["Places", "Political"]}}


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_results_get_todays_domains(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Result.load(results[0])
    bear_folder.domains = TODAY
    bear_folder.write()
    printed = printed_by(capsys, "rescore", *results, "--benchmark", folder)
    assert printed.count("New groups of domain: Places.") == 2
    assert printed.count("Groups that are gone of domain: Geographic.") == 2
    again = Result.load(results[0])
    assert again.items["domain"].map(list).tolist()[-1] == ["Places", "Political"]
    assert set(again.scores[again.scores["dimension"] == "domain"]["group"]) == {"Places", "Political"}
    pd.testing.assert_frame_equal(again.items.drop(columns="domain"), before.items.drop(columns="domain"))
    assert "Places" in printed_by(capsys, "compare", *results)


def test_a_second_time_changes_no_byte(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    bear_folder.domains = TODAY
    bear_folder.write()
    assert main(["rescore", results[0], "--benchmark", folder]) == 0
    once = contents(results[0])
    assert "Nothing has changed." in printed_by(capsys, "rescore", results[0], "--benchmark", folder)
    assert contents(results[0]) == once


def test_a_metric_that_is_new_appears(results: list[str], folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    scores = Path(results[0]) / "scores.csv"
    lines = scores.read_text().splitlines(keepends=True)
    scores.write_text("".join(line for line in lines if not line.startswith("mean_reciprocal_rank")))
    whole = contents(results[1])["scores.csv"].count(b"\n")
    assert "New metrics: mean_reciprocal_rank." in printed_by(capsys, "rescore", results[0], "--benchmark", folder)
    assert scores.read_bytes().count(b"\n") == whole


def test_rows_of_other_questions_are_refused_and_kept(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(results[0])
    bear_folder.lines["P30"][0]["sub_label"] = "Mali"
    bear_folder.write()
    assert "P30, item 0 has another subject" in refusal(capsys, "rescore", results[0], "--benchmark", folder)
    assert contents(results[0]) == before


def test_a_benchmark_that_is_not_known_must_be_named(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "small is neither a folder nor a known benchmark" in refusal(capsys, "rescore", results[0])


def test_an_older_result_without_digests_is_completed(results: list[str], folder: str) -> None:
    path = Path(results[0]) / "run.json"
    record = json.loads(path.read_text())
    digest = record.pop("questions")
    path.write_text(json.dumps(record))
    assert main(["rescore", results[0], "--benchmark", folder]) == 0
    assert json.loads(path.read_text())["questions"] == digest


def test_it_loads_no_torch(results: list[str], folder: str) -> None:
    code = (
        f"import sys; from probing.__main__ import main; main(['rescore', {results[0]!r}, '--benchmark', {folder!r}])"
    )
    command = [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.splitlines()[-1] == "False"
