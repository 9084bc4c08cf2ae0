"""The command show: the scores of a result."""

from pathlib import Path

import pytest

from probing.__main__ import main
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import complaint, use


@pytest.fixture
def several(folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A result with three templates."""
    use(monkeypatch, FakeModel())
    out = str(tmp_path / "several")
    assert main(["run", "fake", "--benchmark", folder, "--template", "0", "1", "2", "--out", out]) == 0
    capsys.readouterr()
    return out


def test_show_prints_each_dimension(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))


def test_show_prints_what_the_figure_hides(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", several]) == 0
    printed = capsys.readouterr().out
    assert "template_flips" not in printed.split("\ntemplate sensitivity\n")[0]
    assert "accuracy by relation and template" not in printed


def test_show_prints_the_long_tables_where_they_are_asked_for(several: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", several, "--details"]) == 0
    assert "\naccuracy by relation and template\n" in capsys.readouterr().out


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)
