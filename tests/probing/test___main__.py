"""Exit codes of the program, and one line for each complaint."""

import gc
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.__main__ import GONE_COMMANDS, NEW_OBJECTS_BEFORE_COLLECTION, main
from probing.command_line.exit_codes import program
from probing.errors import NoSpace
from probing.extras import package_version
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import complaint, refusal, use


@pytest.fixture
def folder(bear_folder: BearFolder) -> str:
    return str(bear_folder.write())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--template", "9"], "no template 9"),
        (["--set", "k=3"], "no option 'k'"),
        (["--set", "k"], "name=value"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    use(monkeypatch, FakeModel())
    assert words in refusal(capsys, "run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out"), *arguments)


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["run", "m", "--out", "x", "--benchmark", "b", "--pll", "best"], ["go"]]
)
def test_a_wrong_command_is_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "--help" in complaint(capsys)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"Clozeboard {package_version()}\n"


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["shwo"], "show"),
        (["run", "m", "--benchmark", "b", "--out", "x", "--smaple", "3"], "--sample"),
        (["run", "m", "--benchmark", "b", "--out", "x", "--num_fewshots=3"], "--num_fewshot"),
        (["run", "m", "--benchmark", "b", "--out", "x", "--reduction", "maen"], "mean"),
        (["curate", "plan.yaml", "--dryrun"], "--dry-run"),
    ],
)
def test_a_misspelt_word_gets_the_right_one(words: list[str], right: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert f"; did you mean {right}? (help:" in complaint(capsys)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["--set", "few_shto=3"], "few_shot"),
        (["--benchmark", "startr"], "starter"),
    ],
)
def test_a_misspelt_name_gets_the_right_one(words: list[str], right: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual = [] if "--benchmark" in words else ["--benchmark", "starter"]
    assert f"Did you mean '{right}'?" in refusal(capsys, "run", "m", *usual, *words, "--out", "x")


def fails(error: BaseException, *_: Any, **__: Any) -> None:
    raise error


@pytest.mark.parametrize(("error", "code"), [(NoSpace("No space left."), 1), (PermissionError("no"), 1)])
def test_a_failure_is_one_line_and_code_1(
    error: BaseException, code: int, folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "run", partial(fails, error))
    assert main(["run", "fake", "--benchmark", folder, "--out", "x"]) == code
    complaint(capsys)


@pytest.mark.parametrize("gone", GONE_COMMANDS)
def test_a_command_that_is_gone_is_refused_with_what_takes_its_place(
    gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = GONE_COMMANDS[gone].replace("{}", program())
    assert refusal(capsys, gone, "--help") == f"error: There is no command {gone} any more. In its place: {new}.\n"


def test_a_reader_that_ends_before_the_output_does_is_no_complaint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert main(["list"]) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("arguments", "thresholds"), [(None, [NEW_OBJECTS_BEFORE_COLLECTION]), (["list"], [])])
def test_only_the_program_itself_looks_for_garbage_less_often(
    arguments: list[str] | None, thresholds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(gc, "set_threshold", chosen.append)
    monkeypatch.setattr(sys, "argv", ["clozeboard", "list"])
    assert main(arguments) == 0
    assert chosen == thresholds


def test_ctrl_c_is_code_130_and_says_that_the_run_goes_on(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel(fails_after=12))
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 130
    assert "goes on" in complaint(capsys)
    use(monkeypatch, FakeModel())
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("command", "flag", "new"),
    [
        ("compare", "--unified", "paper s-test --models"),
        ("compare", "--bias=P30", "paper bear --figure 4"),
        ("compare", "--csv", "compare A B --json FILE"),
        ("run", "--config", "study FILE"),
        ("curate", "popularity", "rescore --tags FILE"),
        ("curate", "graph", "curate PLAN.yaml"),
        ("paper", "--dry-run", "run MODEL --dry-run"),
    ],
)
def test_a_flag_that_is_gone_is_refused_with_what_takes_its_place(
    command: str, flag: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "one", "two", "three", flag]) == 2
    name = flag.partition("=")[0]
    assert capsys.readouterr().err == f"error: {command} has no {name} any more. Use {program()} {new} in its place.\n"
