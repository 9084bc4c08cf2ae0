"""The command download: a benchmark from its official source."""

from dataclasses import replace
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.catalog import CATALOG, open_benchmark
from probing.command_line import benchmarks as download_command
from probing.formats import bear
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by, refusal


def test_download_of_an_unknown_benchmark_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Choose from: starter, " in refusal(capsys, "download", "nothing")


def test_download_says_where_the_benchmark_is(
    bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bear_folder.path = tmp_path / "benchmarks" / "bear"
    bear_folder.path.parent.mkdir()
    digest = bear.read(bear_folder.write()).digest
    monkeypatch.setitem(CATALOG, "bear", replace(CATALOG["bear"], digest=digest))
    monkeypatch.setattr(download_command, "benchmarks_folder", lambda: tmp_path / "benchmarks")
    assert main(["download", "bear"]) == 0
    assert capsys.readouterr().out == (
        f"BEAR {digest[:12]} (6 items) is in {bear_folder.path}.\n"
        f"Its files have the digest in the catalog ({digest[:12]}).\n"
    )


def test_lama_is_another_name_of_its_part_from_t_rex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "trex"
    folder.mkdir()
    (folder / "relations.jsonl").write_text('{"relation": "P36", "template": "[X] is a city in [Y] ."}\n')
    (folder / "P36.jsonl").write_text('{"sub_label": "Oslo", "obj_label": "Norway"}\n')
    monkeypatch.setattr(download_command, "benchmarks_folder", lambda: tmp_path)
    assert f"(1 items) is in {folder}." in printed_by(capsys, "download", "lama")
    assert open_benchmark("lama", tmp_path).slug == "trex"
