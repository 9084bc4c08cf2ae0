"""What tests of the commands share: a fake model in place of the one that is named, and complaints."""

import pytest

import probing
from probing.__main__ import main
from probing.language_model import LanguageModel
from probing.runner import run


def use(monkeypatch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    """Let `run` take this model whatever MODEL is."""
    monkeypatch.setattr(probing, "run", lambda _, *args, **options: run(model, *args, **options))


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on stderr."""
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: ")
    return captured.err


def printed_by(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what a command prints that succeeds, without what was printed before."""
    capsys.readouterr()
    assert main([*words]) == 0
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the one line with which a command refuses its words."""
    capsys.readouterr()
    assert main([*words]) == 2
    return complaint(capsys)
