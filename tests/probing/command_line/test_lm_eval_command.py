"""The command `lm-eval`, which hands its arguments to the harness."""

import sys

import pytest
from lm_eval import __main__ as harness
from lm_eval.api.registry import get_model

from probing import extras
from probing.__main__ import main
from tests.probing.command_line.helpers import complaint


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["--model", "clozeboard", "--tasks", "bear", "--", "-x"], ["run", "-h"], ["ls", "tasks"]]
)
def test_all_arguments_are_those_of_the_harness(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    monkeypatch.setattr(harness, "cli_evaluate", lambda: calls.append(sys.argv))
    assert main(["lm-eval", *words]) == 0
    assert calls == [["lm-eval", *words]]
    assert get_model("clozeboard").__name__ == "ClozeboardLM"


def test_its_own_bad_arguments_end_as_the_harness_ends_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    with pytest.raises(SystemExit) as raised:
        main(["lm-eval", "run", "--no-such-option"])
    assert raised.value.code == 2
    assert "unrecognized arguments: --no-such-option" in capsys.readouterr().err


def test_without_the_harness_one_sentence_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert main(["lm-eval", "--model", "clozeboard"]) == 2
    expected = 'The command lm-eval needs the package lm_eval, which is not installed. Install it: pip install -e ".[h'
    assert expected in complaint(capsys)
