"""The shell is told which commands, arguments and names can follow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from probing import extras
from probing.command_line import completion
from probing.errors import MissingPackage


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("clozeboard com", {"compare"}),
        ("clozeboard run x --benchmark star", {"starter"}),
        ("clozeboard download simple", {"simpleqa", "simpleqa-verified"}),
        ("clozeboard run x --probe clo", {"cloze"}),
        ("clozeboard baselines starter --probe clo", {"cloze"}),
        ("clozeboard compare a b --it", {"--items"}),
    ],
)
def test_what_can_follow_is_completed(line: str, expected: set[str], tmp_path: Path) -> None:
    assert completed(line, tmp_path) == expected


def test_a_file_is_left_to_the_shell(tmp_path: Path) -> None:
    assert completed("clozeboard run x --benchmark ./ques", tmp_path) == set()


def completed(line: str, folder: Path) -> set[str]:
    """Return the completions of a line, as the shell asks for them."""
    answer = folder / "completions"
    question = {
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
    }
    environment = {**os.environ, **question, "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    subprocess.run([sys.executable, "-m", "probing"], env=environment, check=True, timeout=60)
    return {word.strip() for word in answer.read_text().split("\n") if word.strip()}


def test_without_the_package_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"needs the package argcomplete.*\[completion\]"):
        completion.complete(lambda commands: pytest.fail("no parser is made"))
