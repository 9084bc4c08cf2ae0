"""Files of results: they name the scoring core that they were measured with."""

from pathlib import Path

import pytest

from speed import stored_results
from speed.stored_results import core_digest, older_than_the_core, show, store, stored


@pytest.fixture(autouse=True)
def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one module of a scoring core, beside a folder for results."""
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    monkeypatch.setattr(stored_results, "CORE", tmp_path)
    file = tmp_path / "scoring.py"
    file.write_text("def score(text):\n    return len(text)\n")
    return file


def test_results_are_read_and_printed_as_they_were_stored(capsys: pytest.CaptureFixture[str]) -> None:
    assert stored("made-up") == {}
    store("made-up", {"ratio": 1.5})
    assert stored("made-up") == {"scoring_core": core_digest(), "ratio": 1.5}
    show({"ratio": 1.5})
    assert capsys.readouterr().out == '{\n "ratio": 1.5\n}\n'


def test_results_are_older_than_a_core_that_computes_something_else(core: Path) -> None:
    store("made-up", {"ratio": 1.5})
    store("of the site", {"megabytes": 351}, of_core=False)
    assert older_than_the_core() == []
    core.write_text("def score(text):\n    return 2 * len(text)\n")
    assert older_than_the_core() == ["made-up"]


def test_words_about_the_core_make_no_results_older(core: Path) -> None:
    store("made-up", {"ratio": 1.5})
    core.write_text('"""Scores."""\n\n\ndef score(text):\n    """Score."""\n    return len(text)  # its letters\n')
    assert older_than_the_core() == []


def test_results_in_parts_are_older_if_one_part_is() -> None:
    store("made-up", {"scoring_core": {"causal": core_digest(), "masked": core_digest()}})
    assert older_than_the_core() == []
    store("made-up", {"scoring_core": {"causal": "", "masked": core_digest()}})
    assert older_than_the_core() == ["made-up"]


def test_results_that_name_no_core_are_older(tmp_path: Path) -> None:
    (tmp_path / "made-up.json").write_text("{}")
    assert older_than_the_core() == ["made-up"]
