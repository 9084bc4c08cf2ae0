"""The measurement of comparing samples: what it writes can be compared, and what it says."""

import re
from pathlib import Path

import pytest

from probing.__main__ import main as clozeboard
from speed import sample_files


def test_its_samples_can_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / side for side in "ab"]
    for seed, folder in enumerate(folders):
        sample_files.write_samples(folder, seed, tasks=2, questions=20)
    assert clozeboard(["compare", *map(str, folders)]) == 0
    (overall,) = [
        line.split() for line in capsys.readouterr().out.splitlines() if line.split()[:2] == ["overall", "all"]
    ]
    assert overall[2] == "40"


def test_the_limit_decides_about_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for own, code in ((0.5, 0), (2.0, 1), (4.0, 1)):
        monkeypatch.setattr(sample_files, "seconds", lambda first, *_, own=own: own if first == "-m" else 1.0)
        assert sample_files.main(tasks=1, questions=2) == code
        assert re.match(rf"4 samples: compared in {own} s \(limit 3 s\), read in 1\.0 s", capsys.readouterr().out)
