"""The command sentences: a benchmark's sentences in one file."""

import json
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from tests.probing.command_line.helpers import refusal


def test_json_lines_and_parquet_hold_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"pairs.{ending}" for ending in ("jsonl", "parquet")]
    for file in files:
        assert main(["sentences", "pairs", "--test", "0.3", "--out", str(file)]) == 0
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert lines == pd.read_parquet(files[1]).to_dict("records")
    in_test = sum(line["split"] == "test" for line in lines)
    assert f"{len(lines)} sentences are in {files[1]}, {in_test} of them for the test." in capsys.readouterr().out
    assert 0.2 < in_test / len(lines) < 0.35


def test_relations_can_be_chosen(tmp_path: Path) -> None:
    out = tmp_path / "some.jsonl"
    assert main(["sentences", "pairs", "--relations", "born_in", "--out", str(out)]) == 0
    assert {json.loads(line)["relation"] for line in out.read_text().splitlines()} == {"born_in"}


def test_a_file_with_another_ending_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no known ending" in refusal(capsys, "sentences", "pairs", "--out", str(tmp_path / "pairs.txt"))
    assert not list(tmp_path.iterdir())
