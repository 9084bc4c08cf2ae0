"""The command show: the scores of a result."""

from pathlib import Path

import pytest

from probing.__main__ import main
from tests.probing.command_line.helpers import complaint


def test_show_prints_each_dimension(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))


def test_show_prints_both_intervals_and_says_which_is_which(
    results: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert "cluster_low  cluster_high" in printed
    assert "cluster_low and cluster_high on other relations like these" in printed


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)
