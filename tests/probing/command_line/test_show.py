"""The command show: the scores of a result."""

from pathlib import Path

import pytest

from probing.__main__ import main
from probing.analysis.perplexity import TOKENIZER_NOTE
from probing.results.result import Result
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import complaint, use


def test_show_prints_each_dimension(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))


def test_show_of_a_perplexity_result_says_what_can_be_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    folder = str(tmp_path / "result")
    assert main(["run", "fake", "--benchmark", "graph", "--out", folder]) == 0
    capsys.readouterr()
    assert main(["show", folder]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == TOKENIZER_NOTE
    scores = Result.load(folder).scores.set_index(["dimension", "group", "metric"])["value"]
    for dimension, groups in (("repetition", "12345"), ("truth", ("true", "false"))):
        head, *rows = lines[lines.index(dimension) + 1 :][: len(groups) + 1]
        for group, row in zip(groups, rows, strict=True):
            shown = dict(zip(head.split(), row.split(), strict=True))
            assert shown["group"] == group
            for metric in list(shown)[2:]:
                assert float(shown[metric]) == pytest.approx(scores[dimension, group, metric], rel=1e-3)


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)
