"""The page of the papers names what exists: files, tests, commands with their options, and pages."""

import argparse
import re
from dataclasses import fields
from pathlib import Path

from django.urls import Resolver404, resolve

from docs.site.papers import papers_page
from probing.__main__ import parser
from probing.catalog import CATALOG
from probing.curation.plan_file import KINDS
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.results.result import Result

ROOT = Path(__file__).parent.parent
TEXT = papers_page()
# The rows of the tables, without their heads: what is in the paper, where it is here, what shows it, what differs.
ROWS = [row for row in re.findall(r"^\| (.+) \|$", TEXT, re.MULTILINE) if not row.startswith(("In the paper", "---"))]
FOLDERS = ("probing/", "leaderboard/", "examples/", "fixtures/", "tests/", "docs/")
NAMES = sorted(set(re.findall(r"`([^`]+)`", "\n".join(ROWS))))
# The kinds of curations, and the keys of their files.
OF_CURATIONS = {*KINDS, *(entry.name for kind in KINDS.values() for entry in fields(kind.plan))}
OPTIONS = {option for probe in PROBES.values() for option in declared_options(probe)}


def subcommands(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands below a command by their names."""
    groups = [action.choices for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: below for group in groups for name, below in group.items()}


def is_command(text: str) -> bool:
    """Whether the commands, flags, options, probes and benchmarks of a text such as `run --pll` exist."""
    command: argparse.ArgumentParser = parser()
    words = text.split()
    while words and not words[0].startswith("--") and (below := subcommands(command)):
        if words[0] not in below:
            return False
        command = below[words.pop(0)]
    return (
        set(re.findall(r"--[\w-]+", text)) <= set(command._option_string_actions)
        and set(re.findall(r"--set (\w+)=", text)) <= OPTIONS
        and set(re.findall(r"--probe (\w+)", text)) <= set(PROBES)
        and set(re.findall(r"download ([\w-]+)", text)) <= set(CATALOG)
    )


def is_page(address: str) -> bool:
    try:
        return bool(resolve(address))
    except Resolver404:
        return False


def exists(name: str) -> bool:
    """Whether there is what a name of the document stands for: a file, test, page, attribute, command or key."""
    path, _, test = name.partition("::")
    if name.startswith(FOLDERS):
        file = ROOT / path
        return file.exists() and (not test or f"\ndef {test}(" in file.read_text(encoding="utf-8"))
    if name.startswith("/"):
        return is_page(name)
    if name.startswith("result."):
        return hasattr(Result, name.removeprefix("result."))
    return name.partition(":")[0] in OF_CURATIONS or is_command(name)


def is_shown(row: str) -> bool:
    _, here, shown, difference = row.split(" | ")
    missing = "Missing" in difference
    return ("`tests/" in shown or (shown == "–" and missing)) and (here != "–" or missing)


def test_what_the_document_names_exists() -> None:
    assert len(NAMES) > 100
    assert [name for name in NAMES if not exists(name)] == []


def test_each_row_is_shown_by_a_test_or_says_what_is_missing() -> None:
    assert len(ROWS) > 50
    assert [row for row in ROWS if not is_shown(row)] == []
