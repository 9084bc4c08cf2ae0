"""The command show: the scores of a result."""

from collections.abc import Callable
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


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)


@pytest.mark.parametrize(("flag", "words"), [("--limit", "This is no fair sample"), ("--sample", "spread evenly")])
def test_show_says_which_items_were_asked(
    flag: str, words: str, ask: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = ask("vanilla", flag, "5")
    capsys.readouterr()
    assert main(["show", out]) == 0
    (note,) = [line for line in capsys.readouterr().out.splitlines() if "At most 5" in line or "at most 5" in line]
    assert words in note


def test_show_of_the_whole_benchmark_has_no_such_note(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["show", results[0]])
    assert "at most" not in capsys.readouterr().out.lower()


def test_show_counts_ties(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["show", results[0]])
    assert "Ties: of 0 of 6 items (0.00%) several options share the best score" in capsys.readouterr().out
