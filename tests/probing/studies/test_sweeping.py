"""Sweeps: every checkpoint as a run measures it, one after the other, resumed where the sweep stopped."""

import gc
import re
import shutil
import weakref
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd
import pytest
from transformers import GPT2LMHeadModel

import probing
from probing import runner, time_left
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.results.result import Result
from probing.runner import PreparedRun
from probing.scoring.tokens import Encoder
from probing.studies import study_runs
from probing.studies.arguments import checked_arguments
from probing.studies.study import _print_revisions
from probing.studies.study_results import POINT_COLUMNS, Pair, Sweep
from probing.studies.study_runs import Reporter
from tests.conftest import BearFolder
from tests.hub.local_hub import Hub
from tests.probing.studies.conftest import QUIET
from tests.tiny_models import set_keys


def test_each_checkpoint_of_a_folder_has_the_result_of_a_run(saved: Path, benchmark: Benchmark, swept: Sweep) -> None:
    assert swept.revisions == ["checkpoint-0", "checkpoint-500", "checkpoint-1000"], "in the order of the steps"
    single = probing.run(saved / "checkpoint-500", benchmark, tokenizer=saved, **QUIET)
    stored = swept.result("checkpoint-500")
    assert stored.items["scores"].map(list).tolist() == single.items["scores"].map(list).tolist()
    assert stored.record["model"]["revision"] == "checkpoint-500"
    assert "tokenizer.json" in stored.record["model"]["files"], "that of the folder around it"
    scores = swept.scores[swept.scores["revision"] == "checkpoint-500"].reset_index(drop=True)
    pd.testing.assert_frame_equal(scores.drop(columns=POINT_COLUMNS), single.scores, check_dtype=False)


@pytest.mark.slow
def test_a_sweep_calls_the_network_no_more_often_than_runs_of_its_checkpoints(
    saved: Path, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    forward = GPT2LMHeadModel.forward

    @wraps(forward)  # what the network accepts is read from its signature
    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        return forward(*arguments, **options)

    monkeypatch.setattr(GPT2LMHeadModel, "forward", counted)
    for step in (0, 500, 1000):
        probing.run(saved / f"checkpoint-{step}", benchmark, tokenizer=saved, **QUIET)
    apart, calls = calls, 0
    probing.sweep(saved, benchmark, revisions="all", out=tmp_path / "out", **QUIET)
    assert 0 < calls <= apart


def test_the_table_has_the_scores_of_all_checkpoints(swept: Sweep, benchmark: Benchmark) -> None:
    assert list(swept.scores.columns[:4]) == POINT_COLUMNS
    assert swept.scores["step"].unique().tolist() == [0, 500, 1000]
    table = pd.read_parquet(swept.folders["checkpoint-0"].parent / "sweep.parquet")
    pd.testing.assert_frame_equal(table, swept.scores, check_dtype=False)
    assert len(swept.items) == 3 * sum(len(relation.items) for relation in benchmark.relations)


def test_revisions_of_a_hub_model_are_measured_with_their_commits_and_tokens(
    hub: Hub, benchmark: Benchmark, tmp_path: Path
) -> None:
    names = "step2000-tokens4B,step1000"
    swept = probing.sweep("org/model", benchmark, revisions=names, out=tmp_path / "out", **QUIET)
    points = swept.scores.drop_duplicates("revision").set_index("revision")
    assert points["step"].to_dict() == {"step1000": 1000, "step2000-tokens4B": 2000}
    assert points["tokens"].isna().tolist() == [True, False]
    assert points.loc["step2000-tokens4B", "tokens"] == 4 * 10**9
    commits = {name: at.commit for name, at in hub.repositories["org/model"].revisions.items()}
    assert points["commit"].to_dict() == commits
    assert {swept.result(name).record["model"]["revision"] for name in swept.revisions} == set(commits)


@pytest.mark.slow
def test_the_next_revision_is_downloaded_while_the_present_one_is_measured(
    hub: Hub, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, measure, second_is_here = study_runs.fetch, PreparedRun.measure, Event()

    def fetched(source: Any, revision: str) -> None:
        fetch(source, revision)
        if revision != "step1000":
            second_is_here.set()

    def measured(run: PreparedRun, **options: Any) -> Result:
        assert second_is_here.wait(20), f"the second download waits for the measurement of {run.source.commit}"
        return measure(run, **options)

    monkeypatch.setattr(study_runs, "fetch", fetched)
    monkeypatch.setattr(PreparedRun, "measure", measured)
    names = ["step1000", "step2000-tokens4B"]
    assert not probing.sweep("org/model", benchmark, revisions=names, out=tmp_path / "out", **QUIET).failures


def test_the_benchmark_is_prepared_once_and_memory_holds_one_network_at_a_time(
    training: Path, bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, estimate = probing.load, time_left.estimate_work
    networks: list[weakref.ref[Any]] = []
    calls: list[str] = []

    def loaded(*arguments: Any, **options: Any) -> Any:
        assert not [network for network in networks if network() is not None], "the one before is still there"
        model = load(*arguments, **options)
        networks.append(weakref.ref(model.network))
        return model

    def read(name: Any) -> Benchmark:
        calls.append("read")
        return open_benchmark(name)

    def estimated(*arguments: Any) -> time_left.WorkEstimate:
        calls.append("estimated")
        return estimate(*arguments)

    monkeypatch.setattr(probing, "load", loaded)
    monkeypatch.setattr("probing.studies.study.open_benchmark", read)
    monkeypatch.setattr(time_left, "estimate_work", estimated)
    names = ["checkpoint-0", "checkpoint-500"]
    gc.disable()
    try:
        probing.sweep(training, bear_folder.write(), revisions=names, out=tmp_path / "out", **QUIET)
    finally:
        gc.enable()
    assert len(networks) == 2
    assert calls == ["read", "estimated", "estimated"], "one estimate for each of the two relations"


def test_a_sweep_goes_on_where_it_was_interrupted(
    training: Path, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    probe_part = runner.probe_part
    parts: list[tuple[str, str]] = []

    def interrupted(model: Any, plan: Any, part: Any, **options: Any) -> Any:
        if len(parts) == 3:
            raise KeyboardInterrupt
        parts.append((Path(model.card.id).name, part.relation))
        return probe_part(model, plan, part, **options)

    monkeypatch.setattr(runner, "probe_part", interrupted)
    arguments: dict[str, Any] = {"revisions": ["checkpoint-500", "checkpoint-0"], "out": tmp_path / "out", **QUIET}
    with pytest.raises(KeyboardInterrupt):
        probing.sweep(training, benchmark, **arguments)
    parts.insert(0, ("before", ""))
    swept = probing.sweep(training, benchmark, **arguments | {"progress": True})
    assert parts[1:4] == [("checkpoint-0", "P30"), ("checkpoint-0", "P36"), ("checkpoint-500", "P30")]
    assert parts[4:] == [("checkpoint-500", "P36")]
    assert swept.revisions == ["checkpoint-0", "checkpoint-500"]
    first, second = capsys.readouterr().err.splitlines()
    assert first == "1 of 2 revisions are measured already."
    assert second.startswith("checkpoint-500: accuracy 0.")
    assert second.endswith("(2 of 2)")


def test_a_failed_checkpoint_is_named_at_the_end_and_the_others_are_measured(
    training: Path, bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (training / "checkpoint-500" / "model.safetensors").write_bytes(b"broken")
    path, out = str(bear_folder.write()), tmp_path / "out"
    names = "checkpoint-0,checkpoint-500,checkpoint-9"
    command = ["run", str(training), "--revisions", names, "--benchmark", path, "--device", "cpu", "--out", str(out)]
    assert main(command) == 1
    captured = capsys.readouterr()
    error = captured.err.splitlines()[-1]
    assert error.startswith("error: 2 of 3 revisions are not measured: checkpoint-9 (There is no folder ")
    assert "checkpoint-500 (" in error
    assert captured.out.splitlines()[0].split()[:4] == ["revision", "step", "metric", "value"]
    assert (out / "sweep.html").is_file()
    shutil.copy(training / "checkpoint-0" / "model.safetensors", training / "checkpoint-500")
    assert main([*command[:3], "checkpoint-0,checkpoint-500", *command[4:]]) == 0
    assert len(pd.read_parquet(out / "sweep.parquet")["revision"].unique()) == 2


def test_a_hub_that_fails_on_one_revision_ends_no_sweep(hub: Hub, benchmark: Benchmark, tmp_path: Path) -> None:
    names = ["step1000", "step3000"]
    swept = probing.sweep("org/model", benchmark, revisions=names, out=tmp_path / "out", **QUIET)
    assert swept.revisions == ["step1000"]
    assert "There is no public model org/model" in swept.failures["step3000"]


def test_results_of_another_run_in_the_folder_are_refused(training: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "out"
    probing.sweep(training, benchmark, revisions=["checkpoint-0"], out=out, **QUIET)
    with pytest.raises(BadInput, match=r"checkpoint-0 exists already and holds another run \(sample: not set and 1\)"):
        probing.sweep(training, benchmark, revisions="all", out=out, sample=1, **QUIET)
    other = Path(shutil.copytree(training, tmp_path / "other"))
    with pytest.raises(BadInput, match="another model"):
        probing.sweep(other, benchmark, revisions="all", out=out, **QUIET)


def test_a_tokenizer_from_elsewhere_is_taken(training: Path, benchmark: Benchmark, tmp_path: Path, hub: Hub) -> None:
    for path in training.glob("tokenizer*"):
        path.unlink()
    without = probing.sweep(training, benchmark, revisions="checkpoint-0", out=tmp_path / "without", **QUIET)
    assert "has no fast tokenizer" in without.failures["checkpoint-0"]
    for number, tokenizer in enumerate([tmp_path / "main", "org/model"]):
        out = tmp_path / str(number)
        swept = probing.sweep(training, benchmark, revisions="checkpoint-0", out=out, tokenizer=tokenizer, **QUIET)
        assert not swept.failures
    assert not hub.downloaded("model.safetensors"), "only the tokenizer is downloaded"


def test_all_revisions_of_a_hub_model_are_those_whose_names_state_a_step_and_are_counted_first(
    hub: Hub, benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.repositories["org/model"].add_revision("notes", tmp_path / "1000")
    arguments = {**QUIET, "progress": True, "sample": 1}
    swept = probing.sweep("org/model", benchmark, revisions="all", out=tmp_path / "out", **arguments)
    assert swept.revisions == ["step1000", "step2000-tokens4B"]
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "org/model: 2 checkpoints, from step1000 to step2000-tokens4B."


def test_a_single_checkpoint_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    checked = checked_arguments({"models": ["org/x"], "benchmarks": ["starter"], "revisions": "all"})
    _print_revisions(checked, [Pair("org/x", "starter", "step1")])
    assert capsys.readouterr().err == "org/x: one checkpoint, step1.\n"


def test_a_hub_model_without_steps_has_no_sweep_of_all(hub: Hub, benchmark: Benchmark, tmp_path: Path) -> None:
    hub.repositories["org/model"].revisions.clear()
    with pytest.raises(BadInput, match="No branch or tag of org/model states a step"):
        probing.sweep("org/model", benchmark, revisions="all", out=tmp_path / "out", **QUIET)


@pytest.mark.slow
def test_statements_are_tokenized_once_for_checkpoints_with_the_same_tokenizer(
    training: Path, benchmark: Benchmark, tmp_path: Path, swept: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    encode = Encoder.encode

    def counted(encoder: Encoder, statements: Any, span: Any = "statement") -> Any:
        calls.append(len(statements))
        return encode(encoder, statements, span)

    monkeypatch.setattr(Encoder, "encode", counted)
    probing.run(training / "checkpoint-0", benchmark, **QUIET)
    single = sum(calls)
    calls.clear()
    again = probing.sweep(training, benchmark, revisions="all", out=tmp_path / "out", **QUIET)
    checks = single - sum(len(scores) for scores in again.result("checkpoint-0").items["scores"])
    assert sum(calls) == single + 2 * checks, "of the other two, only the self-check tokenizes"
    pd.testing.assert_frame_equal(again.scores, swept.scores)
    calls.clear()
    path = training / "checkpoint-500"
    for file in training.glob("tokenizer*"):
        shutil.copy(file, path)
    set_keys(path, "tokenizer_config.json", model_max_length=100)
    probing.sweep(training, benchmark, revisions="all", out=tmp_path / "other", **QUIET)
    assert sum(calls) > single + 2 * checks, "another tokenizer shares nothing"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"revisions": ""}, "No revision is named."),
    ({"revisions": 5}, "revisions cannot be 5."),
    ({"revisions": ["../other"]}, "'../other' is no name of a revision."),
    ({"revisions": ["a/b", "a--b"]}, "Two revisions would have the same folder."),
    ({"revisions": "step1", "model": "org/model", "tokenizer": "gpt2"}, "This model has its own tokenizer."),
    ({"revisions": "step1", "model": object()}, "Give a hub id, or a folder with checkpoints."),
    ({"revisions": "step1", "tokenizer": object()}, "Give the folder or hub id of the tokenizer."),
    ({"revisions": "step1", "limit": "3"}, "limit cannot be '3'."),
    ({"revisions": "step1", "out": 5}, "5 is no folder."),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_arguments_are_answered_by_a_sentence(
    training: Path, benchmark: Benchmark, tmp_path: Path, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput) as raised:
        probing.sweep(**{"model": training, "benchmark": benchmark, "out": tmp_path / "out"} | QUIET | arguments)
    assert sentence in str(raised.value)


def test_a_folder_without_checkpoints_is_told(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no checkpoints"):
        probing.sweep(tmp_path, benchmark, revisions="all", out=tmp_path / "out", **QUIET)


def test_a_commit_does_not_fit_a_sweep(
    bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "org/model", "--revisions", "step1", "--commit", "abc", "--benchmark", str(bear_folder.write())]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    assert "sweep" in capsys.readouterr().err


def test_the_time_left_is_told_after_each_revision(capsys: pytest.CaptureFixture[str], swept: Sweep) -> None:
    reporter = Reporter(3, 3, of_sweep=True, is_loud=True)
    reporter.end(Pair("org/model", "starter", "step1"), swept.result("checkpoint-0"), "")
    reporter.end(Pair("org/model", "starter", "step2"), None, "It is\nbroken. Mend it.")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("step1: accuracy 0.")
    assert re.search(r"\(1 of 3, about 0:00:0\d left\)$", first)
    assert re.fullmatch(r"step2: not measured\. It is broken\. Mend it\. \(2 of 3, about 0:00:0\d left\)", second)


@pytest.mark.parametrize("name", ["models", "benchmarks"])
def test_a_sweep_takes_one_model_and_one_benchmark(name: str, benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"A sweep takes no {name}"):
        probing.sweep("org/model", benchmark, revisions="all", out=tmp_path / "out", **{name: ["other"]}, **QUIET)
