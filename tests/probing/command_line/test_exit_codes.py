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
