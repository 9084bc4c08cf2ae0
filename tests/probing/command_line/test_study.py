"""The command `run` with several models or benchmarks, and the commands `study` and `sweep`."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from probing.__main__ import main
from probing.results.result import Result
from tests.probing.command_line.helpers import refusal
from tests.probing.studies.conftest import folders, loaded, saved, training

__all__ = ["folders", "loaded", "saved", "training"]

STARTS = ("bos", "eos")


def words(*models: str, benchmarks: list[str], out: Path) -> list[str]:
    return ["run", *models, *(word for name in benchmarks for word in ("--benchmark", name)), "--out", str(out)]


def test_several_models_and_benchmarks_have_a_folder_each_and_a_table_of_all(
    loaded: list[str], folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*words("org/plain", "org/clever", benchmarks=folders, out=out), "--limit", "1"]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split() == ["model", "benchmark", "metric", "value", "low", "high", "n"]
    pairs = [[model, name] for model in ("org/plain", "org/clever") for name in ("small", "other")]
    assert [row.split()[:2] for row in rows[:4]] == pairs
    assert rows[-1] == f"All scores: {out / 'study.parquet'}, {out / 'study.csv'}"
    assert Result.load(out / "org--clever" / "other").record["settings"]["limit"] == 1


def test_a_model_that_fails_is_named_at_the_end_and_the_exit_code_says_so(
    loaded: list[str], folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = words("no/such", "org/plain", benchmarks=folders[:1], out=tmp_path / "out")
    assert main(command) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == (
        "error: 1 of 2 pairs are not measured: no/such on small (There is no public model no/such. Check the name.) "
        "The same command tries them again, and no others."
    )
    assert "org/plain" in captured.out


def test_flags_come_before_what_a_file_says(loaded: list[str], folders: list[str], tmp_path: Path) -> None:
    config = tmp_path / "study.yaml"
    entry = {"model": "org/plain", "dtype": "float16", "sample": 1}
    config.write_text(yaml.safe_dump({"models": [entry], "benchmarks": folders, "seed": 2}))
    out = tmp_path / "out"
    flags = ["--dtype", "bfloat16", "--set", "prompting=cascade", "--benchmark", "pairs", "--device", "cpu"]
    assert main(["run", "--config", str(config), "--out", str(out), *flags]) == 0
    settings = Result.load(out / "org--plain" / "pairs").record["settings"]
    chosen = {"dtype": "bfloat16", "sample": 1, "seed": 2, "options": {"prompting": "cascade"}}
    assert settings | chosen == settings
    assert not (out / "org--plain" / "small").exists(), "the benchmarks of the command replace those of the file"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--start", "bos,cls"], "The start token cannot be 'cls'"),
        (["--revisions", "../a"], "is no name of a revision"),
        (["--set", "promting=cascade"], "A probe of this study has no option 'promting'"),
        (["--config", "nothing.yaml"], "There is no file nothing.yaml"),
        (["--limit", "-3"], "-3"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    flags: list[str],
    reason: str,
    loaded: list[str],
    folders: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert reason in refusal(capsys, *words("a", "b", benchmarks=folders, out=tmp_path / "out"), *flags)
    assert not loaded


def test_the_command_study_takes_its_models_from_a_file_and_asks_each_with_every_start_token(
    loaded: list[str], folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = tmp_path / "study.yaml", tmp_path / "out"
    config.write_text(yaml.safe_dump({"models": ["org/plain"], "benchmarks": folders[0], "start": ["bos", "EOS"]}))
    assert main(["study", str(config), "--out", str(out), "--limit", "1"]) == 0
    assert loaded == ["org/plain"]
    settings = {start: Result.load(out / f"org--plain-start-{start}" / "small").record["settings"] for start in STARTS}
    assert {start: chosen["start"] for start, chosen in settings.items()} == {"bos": "bos", "eos": "eos"}
    assert "org/plain-start-eos" in capsys.readouterr().out
    assert main(["study", str(tmp_path / "no.yaml")]) == 2


@pytest.mark.slow
def test_the_command_sweep_asks_all_checkpoints_of_a_training(
    training: Path, folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--benchmark", folders[0], "--limit", "1", "--device", "cpu"]
    assert main(["sweep", str(training), *few, "--out", str(tmp_path / "curve")]) == 0
    assert (tmp_path / "curve" / "checkpoint-500" / "run.json").is_file()
    assert f"Chart: {tmp_path / 'curve' / 'sweep.html'}" in capsys.readouterr().out
    assert main(["sweep", str(training), *few, "--benchmark", folders[1], "--out", str(tmp_path / "both")]) == 0
    table = pd.read_csv(tmp_path / "both" / "study.csv")
    assert set(table["benchmark"]) == {"small", "other"} and sorted(set(table["step"])) == [0, 500, 1000]
    assert (tmp_path / "both" / "training@checkpoint-500" / "other" / "run.json").is_file()


def test_a_dry_run_says_for_each_pair_how_long_it_will_take(
    loaded: list[str], folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = words("org/plain", "no/such", benchmarks=folders[:1], out=tmp_path / "out")
    assert main([*command, "--dry-run"]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("org/plain on small: 6 rows, about ")
    assert "1 of 2 pairs are not tried: no/such on small" in captured.err
    assert not (tmp_path / "out").exists()
