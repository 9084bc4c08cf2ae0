"""The command line: exit codes, one line per error, tables."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.__main__ import main
from probing.errors import NoSpace
from probing.results.result import Result
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.tiny_models import build_bert, build_gpt2


@pytest.fixture
def folder(bear_folder: BearFolder) -> str:
    return str(bear_folder.write())


def use(monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> None:
    """Let `run` take this model whatever MODEL is."""
    monkeypatch.setattr(probing, "run", lambda _, *args, **options: run(model, *args, **options))


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: ")
    return captured.err


@pytest.fixture
def results(folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    for name, known in (("a", []), ("b", ["Chad is located in Africa.", "Egypt is located in Africa."])):
        use(monkeypatch, FakeModel(knows=known))
        assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / name)]) == 0
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_run_writes_a_result_and_prints_the_accuracy(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    given = ["--relation", "P30", "--relation", "P36", "--template", "0", "2", "--limit", "1", "--seed", "7"]
    assert main(["run", "fake", "--benchmark", folder, *given, "--out", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "accuracy" in captured.out
    assert captured.err == ""
    record = Result.load(tmp_path / "out").record
    assert record["settings"] | {"relations": ["P30", "P36"], "templates": [0, 2], "limit": 1} == record["settings"]
    assert (record["seed"], record["items_done"]) == (7, 4)


@pytest.mark.parametrize("build", [build_gpt2, build_bert])
def test_run_takes_a_model_from_its_folder(build: Callable[[Path], Path], folder: str, tmp_path: Path) -> None:
    tiny = build(tmp_path / "tiny")
    given = ["--device", "cpu", "--batch-tokens", "512", "--out", str(tmp_path / "out")]
    assert main(["run", str(tiny), "--benchmark", folder, *given]) == 0
    record = Result.load(tmp_path / "out").record
    assert (record["statements"], record["items_done"]) == (4 * 3 + 2 * 2, 6)
    weights = (tiny / "model.safetensors").read_bytes()
    assert record["model"]["files"]["model.safetensors"] == hashlib.sha256(weights).hexdigest()
    assert "tokenizer.json" in record["model"]["files"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--benchmark", "nowhere"], "neither a folder nor a known benchmark"),
        (["--relation", "P1"], "no relation 'P1'"),
        (["--template", "9"], "no template 9"),
        (["--limit", "0"], "leaves no items"),
        (["--set", "k=3"], "no option 'k'"),
        (["--set", "k"], "name=value"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    words: str,
) -> None:
    use(monkeypatch, FakeModel())
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out"), *given]) == 2
    assert words in complaint(capsys)


@pytest.mark.parametrize(
    "given", [[], ["run"], ["run", "m", "--out", "x", "--benchmark", "b", "--pll", "best"], ["go"]]
)
def test_a_wrong_command_is_code_2(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(given)
    assert caught.value.code == 2
    assert "--help" in complaint(capsys)


def fails(error: BaseException, *_: Any, **__: Any) -> None:
    raise error


@pytest.mark.parametrize(("error", "code"), [(NoSpace("No space left."), 1), (PermissionError("no"), 1)])
def test_a_failure_is_one_line_and_code_1(
    error: BaseException, code: int, folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "run", partial(fails, error))
    assert main(["run", "fake", "--benchmark", folder, "--out", "x"]) == code
    complaint(capsys)


def test_ctrl_c_is_code_130_and_says_that_the_run_goes_on(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel(fails_after=12))
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 130
    assert "goes on" in complaint(capsys)
    use(monkeypatch, FakeModel())
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 0


def test_show_prints_each_dimension(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)


def test_compare_prints_paired_differences(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", *results]) == 0
    printed = capsys.readouterr().out
    assert "difference" in printed
    assert "Geographic" in printed


def test_compare_refuses_one_result_in_two_spellings(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", results[0], f"{results[0]}/"]) == 2
    assert "two different ones" in complaint(capsys)


def test_compare_refuses_results_on_different_benchmarks(
    results: list[str], bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    bear_folder.lines["P30"].pop()
    use(monkeypatch, FakeModel())
    main(["run", "fake", "--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "c")])
    assert main(["compare", results[0], str(tmp_path / "c")]) == 2
    assert "differ in their benchmark" in complaint(capsys)


def test_download_of_an_unknown_benchmark_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["download", "nothing"]) == 2
    assert "Choose from: starter, " in complaint(capsys)
