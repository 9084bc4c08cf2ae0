"""The commands `run` and `study`: exit codes, one line per error, tables."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

import probing
from probing.__main__ import main, parser
from probing.catalog import open_benchmark
from probing.command_line.run import _refuse_failures
from probing.errors import Incomplete
from probing.results.result import Result
from probing.start_token import StartToken, TokenizerFacts
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.command_line.helpers import complaint, refusal, use
from tests.probing.studies.conftest import folders, loaded, saved, training
from tests.tiny_models import build_bert, build_gpt2

__all__ = ["folders", "loaded", "saved", "training"]

STARTS = ("bos", "eos")


def words(*models: str, benchmarks: list[str], out: Path) -> list[str]:
    return ["run", *models, "--benchmark", *benchmarks, "--out", str(out)]


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


def test_what_is_odd_about_a_model_is_printed(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeModel()
    model.usage.notes.append("Its weights may be zero.")
    use(monkeypatch, model)
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 0
    result = Result.load(tmp_path / "out")
    assert "Its weights may be zero." in result.notes
    assert "\n".join(["\nNotes", *result.notes, ""]) in capsys.readouterr().out


def test_run_says_which_token_stands_before_every_text(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = TokenizerFacts("BPE", 300, False, False, start=StartToken("none"))
    use(monkeypatch, FakeModel(replace(FAKE_CARD, tokenizer=facts)))
    assert main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]) == 0
    assert "\nTokens\nNo start token stands before a text, as chosen" in capsys.readouterr().out


def test_a_finished_run_is_printed_and_not_measured_again(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")]
    use(monkeypatch, FakeModel())
    assert main(words) == 0
    measured = capsys.readouterr().out
    use(monkeypatch, FakeModel(fails_after=0))
    assert main(words) == 0
    assert (
        capsys.readouterr().out
        == f"{tmp_path / 'out'} holds this very run already; nothing was measured again.\n{measured}"
    )
    assert main([*words, "--limit", "1"]) == 2
    assert "holds another run (limit: not set and 1)" in complaint(capsys)


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


@pytest.mark.parametrize("prompting", ["vanilla", "few-shot", "cascade"])
def test_run_asks_every_pair_with_the_prompting_given(ask, prompting: str) -> None:
    result = Result.load(ask(prompting))
    assert len(result.items) == open_benchmark("pairs").size
    assert set(result.items["prompting"]) == {prompting}
    assert {"specificity", "naturalness", "relatedness", "acc_at_10_either"} <= set(result.scores["metric"])
    assert set(result.scores["dimension"]) == {"relation", "overall"}


def test_the_seed_enters_the_demonstrations(ask) -> None:
    one, other = (Result.load(ask("few-shot", *more)).items["demonstrations"] for more in ([], ["--seed", "1"]))
    assert [list(shown) for shown in one] != [list(shown) for shown in other]


def test_several_start_tokens_are_those_of_a_study_that_loads_the_model_once(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = []

    def load(*given: object, **options: object) -> FakeModel:
        loaded.append((given, options))
        return FakeModel()

    monkeypatch.setattr(probing, "load", load, raising=False)
    monkeypatch.setattr("probing.studies.checkpoints.locate", lambda model, commit: None)
    out = tmp_path / "out"
    assert main(["run", "fake", "--benchmark", folder, "--start", "bos,eos,BOS", "--out", str(out)]) == 0
    options = {"commit": "", "tokenizer": "", "device": "auto", "batch_tokens": None, "attn_implementation": ""}
    options["device_map"] = None
    assert loaded == [(("fake",), {**options, "dtype": "float32", "quantization": "none"})]
    slug = open_benchmark(folder).slug
    results = {start: Result.load(out / f"fake-start-{start}" / slug) for start in ("bos", "eos")}
    assert {start: result.record["settings"]["start"] for start, result in results.items()} == {
        "bos": "bos",
        "eos": "eos",
    }
    assert "fake-start-eos" in capsys.readouterr().out


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
    assert main(["study", str(config), "--out", str(out), *flags]) == 0
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


def test_names_of_the_harness_are_those_of_here(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    few = ["--num_fewshot", "1", "--limit", "2", "--batch_size", "auto"]
    assert main(["run", "fake", "--tasks", folder, *few, "--output_path", str(tmp_path / "out")]) == 0
    settings = Result.load(tmp_path / "out").record["settings"]
    assert (settings["options"]["few_shot"], settings["limit"]) == (1, 2)
    parsed = parser(["run"]).parse_args(["run", "m", "--tasks", "starter,pairs", "--apply_chat_template"])
    assert (parsed.benchmark, parsed.chat) == (["starter", "pairs"], True)
    with pytest.raises(SystemExit):
        main(["run", "fake", "--tasks", folder, "--batch_size", "8", "--out", str(tmp_path / "other")])
    assert "give --batch-tokens, the token positions of a batch" in complaint(capsys)


def test_the_help_of_run_states_the_names_of_the_harness(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    _, _, shown = capsys.readouterr().out.partition("names that lm-evaluation-harness has for these arguments")
    names = ("--tasks", "--num_fewshot", "--apply_chat_template", "--batch_size", "--output_path")
    assert [name for name in names if name not in shown] == []


@pytest.mark.slow
def test_run_asks_all_checkpoints_of_a_training(
    training: Path, folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--benchmark", folders[0], "--limit", "1", "--device", "cpu"]
    every = ["run", str(training), "--revisions", "all"]
    assert main([*every, *few, "--out", str(tmp_path / "curve")]) == 0
    assert (tmp_path / "curve" / "checkpoint-500" / "run.json").is_file()
    assert f"Chart: {tmp_path / 'curve' / 'sweep.html'}" in capsys.readouterr().out
    both = ["--benchmark", folders[1], "--out", str(tmp_path / "both")]
    assert main([*every, *few, *both]) == 0
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


def test_one_reason_for_several_pairs_is_said_once() -> None:
    with pytest.raises(Incomplete, match=r"3 of 4 pairs are not measured: a, b \(no weights\); c \(no network\)"):
        _refuse_failures({"a": "no weights", "b": "no weights", "c": "no network"}, 1, "pairs are not measured")
