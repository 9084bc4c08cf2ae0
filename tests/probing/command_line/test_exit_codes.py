"""The name of the program in its help, as it was called."""

import sys

import pytest

from probing.__main__ import main, parser


@pytest.mark.parametrize(
    ("called", "name"), [("/usr/bin/clozeboard", "clozeboard"), ("/lib/probing/__main__.py", "python -m probing")]
)
def test_help_names_the_program_as_it_was_called(called: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    assert parser().format_usage() == f"usage: {name} [-h] [--version] COMMAND ...\n"


def test_a_complaint_names_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    with pytest.raises(SystemExit):
        main(["show"])
    assert capsys.readouterr().err.endswith("(help: clozeboard show --help)\n")


def test_a_misspelt_flag_is_answered_with_the_help_of_its_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    with pytest.raises(SystemExit):
        main(["show", "result", "--detials"])
    message = "error: unrecognized arguments: --detials; did you mean --details? (help: clozeboard show --help)\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--limit", "0.1"], "--limit takes a whole number of items, not '0.1'"),
        (["--seed", "one"], "--seed takes a whole number, not 'one'"),
    ],
)
def test_a_text_that_is_no_number_is_answered_with_what_the_flag_takes(
    words: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "m", "--benchmark", "starter", *words])
    assert capsys.readouterr().err.startswith(f"error: {answer} (help:")
