"""docs/papers.md names what exists: files, tests, commands with their options, and pages."""

import argparse
import re
from pathlib import Path

import pytest
from django.urls import resolve

from probing.__main__ import parser
from probing.known_benchmarks import CATALOG
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.results.result import Result

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
# The rows of the tables, without their heads: what is in the paper, where it is here, what shows it, what differs.
ROWS = [row for row in re.findall(r"^\| (.+) \|$", TEXT, re.MULTILINE) if not row.startswith("In the paper")]
FOLDERS = ("probing/", "leaderboard/", "examples/", "fixtures/", "tests/", "docs/")
NAMES = sorted(set(re.findall(r"`([^`]+)`", "\n".join(ROWS))))
OPTIONS = {option for probe in PROBES.values() for option in declared_options(probe)}


def subcommands(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands below a command by their names."""
    groups = [action.choices for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: below for group in groups for name, below in group.items()}


def check_command(text: str) -> None:
    """Check that the commands, flags, options, probes and benchmarks of a text such as `run --pll` exist."""
    command: argparse.ArgumentParser = parser()
    words = text.split()
    while words and not words[0].startswith("--") and (below := subcommands(command)):
        command = below[words.pop(0)]
    assert set(re.findall(r"--[\w-]+", text)) <= set(command._option_string_actions)
    assert set(re.findall(r"--set (\w+)=", text)) <= OPTIONS
    assert set(re.findall(r"--probe (\w+)", text)) <= set(PROBES)
    assert set(re.findall(r"download ([\w-]+)", text)) <= set(CATALOG)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_document_names_exists(name: str) -> None:
    path, _, test = name.partition("::")
    if name.startswith(FOLDERS):
        assert (ROOT / path).exists()
        assert not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8")
    elif name.startswith("/"):
        assert resolve(name)
    elif name.startswith("result."):
        assert hasattr(Result, name.removeprefix("result."))
    else:
        check_command(name)


@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_shown_by_a_test_or_says_what_is_missing(row: str) -> None:
    _, here, shown, difference = row.split(" | ")
    assert "`tests/" in shown or (shown == "–" and "Missing" in difference)
    assert here != "–" or "Missing" in difference
