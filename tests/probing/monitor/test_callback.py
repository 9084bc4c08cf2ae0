"""The callback: a training is probed and logged at its cadence, and is the same training as without it."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from accelerate.state import AcceleratorState, PartialState
from peft import LoraConfig, get_peft_model
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers import (
    AutoModelForCausalLM,
    EarlyStoppingCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
)

import probing
from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.measuring import child
from probing.measuring.messages import BenchmarkFiles, Task
from probing.monitor import KnowledgeCallback, Monitor
from probing.plan import plan_of
from probing.results.result import Result
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.probing.monitor.helpers import STEPS, losses, measured, trainer_of, weights


@pytest.fixture(autouse=True)
def fresh_accelerator() -> Iterator[None]:
    """Let each test train with settings of its own, such as mixed precision."""
    yield
    AcceleratorState._reset_state(True)
    PartialState._reset_state()


def train(trainer: Trainer, benchmark: Benchmark | Path, **cadence: Any) -> None:
    """Train with a callback that probes on the benchmark."""
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, **cadence))
    trainer.train()


@pytest.mark.slow
def test_the_training_is_bit_for_bit_the_one_without_the_callback(
    folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    arguments = {"gradient_accumulation_steps": 2, "max_steps": 4}
    plain = trainer_of(folder, tmp_path / "plain", **arguments)
    assert plain.model.config.resid_pdrop > 0, "there is something to disturb"
    plain.train()
    watched = trainer_of(folder, tmp_path / "watched", **arguments)
    train(watched, benchmark, every_steps=3, save_to=tmp_path / "knowledge", sample=1)
    assert losses(watched) == losses(plain)
    after, expected = weights(watched.model), weights(plain.model)
    assert all(torch.equal(after[name], expected[name]) for name in expected)
    assert list(measured(watched)) == [0, 3, 4]


@pytest.mark.slow
def test_tensorboard_shows_overall_scores_breakdowns_and_costs(
    folder: Path, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "logs"))
    trainer = trainer_of(folder, tmp_path / "out", report_to="tensorboard", max_steps=4)
    train(trainer, benchmark, every_steps=2, breakdowns=["domain"])
    events = EventAccumulator(str(tmp_path / "logs"))
    events.Reload()
    shown = {tag: {event.step: event.value for event in events.Scalars(tag)} for tag in events.Tags()["scalars"]}
    assert list(shown["eval/small_multiple_choice_accuracy"]) == [0, 2, 4]
    assert shown["eval/small_multiple_choice_accuracy"] == pytest.approx(measured(trainer))
    assert {
        "eval/small_multiple_choice_domain_Geographic",
        "eval/small_multiple_choice_domain_Political",
        "eval/small_multiple_choice_seconds",
    } <= shown.keys()
    assert all(0 < share <= 1 for share in shown["eval/small_multiple_choice_share_of_time"].values())
    assert list(shown["train/loss"]) == [1, 2, 3, 4], "no loss is missing where the model is probed"


@pytest.mark.slow
def test_callback_command_function_and_worker_give_the_same_rows(
    folder: Path, bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bear_folder.write()
    trainer = trainer_of(folder, tmp_path / "out", max_steps=4)
    train(trainer, path, every_steps=4, at_start=False, save_to=tmp_path / "saved")
    trainer.save_model(tmp_path / "trained")

    ours = Result.load(tmp_path / "saved" / "step-4")
    function = probing.run(trainer.model, path, tokenizer=trainer.processing_class, progress=False)
    command = ["run", str(tmp_path / "trained"), "--benchmark", str(path), "--out", str(tmp_path / "command")]
    assert main(command) == 0
    everywhere = [function.items, Result.load(tmp_path / "command").items, worker_rows(tmp_path, path, monkeypatch)]
    for rows in everywhere:
        columns = [name for name in rows.columns if name in ours.items.columns]
        assert {"prediction", "scores", "correct"} <= set(columns)
        assert rows[columns].to_json() == ours.items[columns].to_json()
    assert measured(trainer) == {4: ours.items["correct"].mean()}
    assert ours.record["training"] == {"step": 4, "epoch": trainer.state.epoch}


def worker_rows(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Return the rows that a worker of a site measures of the trained model."""
    monkeypatch.setattr(child, "set_limits", lambda memory, disk, device: None)
    content = probing.open_benchmark(path)
    files = BenchmarkFiles("bear", path, content.slug, content.digest)
    task = Task(tmp_path / "trained", "org/model", "c0ffee", files, Settings(), device="cpu")
    tables = []
    for part in plan_of(content, Settings()).parts:
        orders = [{"task": task.to_json(), "memory": 10**10, "disk": 10**9}, {"part": part._asdict()}]
        stream = io.BytesIO(b"".join(json.dumps(order).encode() + b"\n" for order in orders))
        child.measure(stream, lambda event, **content: None, tmp_path)
        tables.append(pd.read_parquet(tmp_path / "rows.parquet"))
    return pd.concat(tables, ignore_index=True)


CADENCES = {
    "epochs": ({"every_epochs": 1}, [0, 4, 7]),
    "seconds": ({"every_seconds": 1e-9}, list(range(8))),
    "steps and evaluations": ({"every_steps": 3, "every_evaluations": 2}, [0, 3, 4, 6, 7]),
    "neither end": ({"every_steps": 3, "at_start": False, "at_end": False}, [3, 6]),
}


@pytest.mark.slow
@pytest.mark.parametrize("cadence", CADENCES)
def test_it_probes_at_the_chosen_cadence(folder: Path, benchmark: Benchmark, tmp_path: Path, cadence: str) -> None:
    arguments, steps = CADENCES[cadence]
    trainer = trainer_of(folder, tmp_path, max_steps=7, eval_strategy="steps", eval_steps=2)
    train(trainer, benchmark, sample=1, **arguments)
    assert list(measured(trainer)) == steps


def test_two_probes_of_one_benchmark_are_logged_apart_from_step_0(
    folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    trainer = trainer_of(folder, tmp_path, max_steps=4)
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=2))
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, probe="similarity", every_steps=3))
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, sample=1, every_steps=4, name="small_sample"))
    trainer.train()
    assert list(measured(trainer)) == [0, 2, 4]
    assert list(measured(trainer, "eval_small_similarity_seconds")) == [0, 3, 4]
    assert list(measured(trainer, "eval_small_sample_accuracy")) == [0, 4]


@pytest.mark.parametrize("second", [{}, {"name": "other", "save_to": "knowledge"}], ids=["name", "folder"])
def test_two_callbacks_that_would_be_confused_are_refused(
    folder: Path, benchmark: Benchmark, tmp_path: Path, second: dict[str, Any]
) -> None:
    trainer = trainer_of(folder, tmp_path, max_steps=4)
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=2, save_to="knowledge"))
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=2, **second))
    with pytest.raises(BadInput, match="Two callbacks"):
        trainer.train()
    assert not trainer.state.log_history


class StopAt(TrainerCallback):
    """Stop the training after an evaluation, as early stopping does."""

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        control.should_training_stop = state.global_step >= 10


def test_a_training_that_is_stopped_is_probed_at_its_end(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer = trainer_of(folder, tmp_path, eval_strategy="steps", eval_steps=5)
    trainer.add_callback(StopAt())
    train(trainer, benchmark, every_steps=7)
    assert list(measured(trainer)) == [0, 7, 10]


@pytest.mark.slow
def test_a_resumed_training_goes_on_with_its_scores(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    def train_until(steps: int, resume: bool) -> dict[int, float]:
        trainer = trainer_of(folder, tmp_path / "out", max_steps=STEPS, save_strategy="steps", save_steps=8)
        trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=4, save_to=tmp_path / "saved"))
        if steps < STEPS:
            trainer.add_callback(StopAfter(steps))
        trainer.train(resume_from_checkpoint=resume)
        return measured(trainer)

    assert list(train_until(14, resume=False)) == [0, 4, 8, 12, 14]
    first = Result.load(tmp_path / "saved" / "step-12").scores
    assert list(train_until(STEPS, resume=True)) == [0, 4, 8, 12, 16, 20], "it goes on from the checkpoint of step 8"
    pd.testing.assert_frame_equal(Result.load(tmp_path / "saved" / "step-12").scores, first)


class StopAfter(TrainerCallback):
    """Stop the training after a step, as a machine that is switched off does."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        control.should_training_stop = state.global_step >= self.step


def test_mixed_precision_gives_the_scores_of_the_weights(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer = trainer_of(folder, tmp_path / "out", max_steps=2, bf16=True)
    train(trainer, benchmark, every_steps=2, save_to=tmp_path / "saved")
    trainer.save_model(tmp_path / "trained")
    expected = probing.run(tmp_path / "trained", benchmark, progress=False).items
    ours = Result.load(tmp_path / "saved" / "step-2").items
    assert ours["scores"].map(list).to_list() == expected["scores"].map(list).to_list()


def test_adapters_under_training_are_probed(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    network = get_peft_model(AutoModelForCausalLM.from_pretrained(folder), LoraConfig(r=4, fan_in_fan_out=True))
    trainer = trainer_of(folder, tmp_path / "out", network, max_steps=3, learning_rate=0.1)
    train(trainer, benchmark, every_steps=3, save_to=tmp_path / "saved")
    before, after = (Result.load(tmp_path / "saved" / f"step-{step}") for step in (0, 3))
    assert after.record["model"]["id"].endswith("+default")
    assert (before.items["scores"].map(list) != after.items["scores"].map(list)).all()


def test_weights_that_are_no_numbers_do_not_end_the_training(
    folder: Path, benchmark: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trainer_of(folder, tmp_path, max_steps=4)
    trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=2))
    trainer.add_callback(Diverge())
    trainer.train()
    assert list(measured(trainer)) == [0]
    assert trainer.state.global_step == 4


class Diverge(TrainerCallback):
    """Spoil the weights before they are probed, after the first step or a later one."""

    def __init__(self, after: int = 1) -> None:
        self.after = after

    def on_step_begin(self, args: Any, state: Any, control: Any, model: Any, **others: Any) -> None:
        if state.global_step == self.after:
            with torch.no_grad():
                model.transformer.wte.weight.fill_(torch.nan)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "Nothing says when to probe. Give one or more of: every_steps, every_epochs"),
    ({"every_steps": 0}, "every_steps cannot be 0. Give a number above 0"),
    ({"every_steps": "ten"}, "every_steps cannot be 'ten'."),
    ({"every_epochs": 0.5}, "every_epochs cannot be 0.5."),
    ({"every_seconds": True}, "every_seconds cannot be True."),
    (
        {"every_steps": 5, "breakdowns": ["domains"]},
        "small has no dimension 'domains'. Choose from: relation, template",
    ),
    (
        {"every_steps": 5, "breakdowns": ["relatoin"]},
        "Did you mean 'relation'?",
    ),
    ({"every_steps": 5, "breakdowns": 3}, "breakdowns cannot be 3. Give a list of texts."),
    ({"every_steps": 5, "limit": "3"}, "limit cannot be '3'."),
    ({"every_steps": 5, "batch_tokens": 0}, "Batches cannot hold 0 tokens."),
    ({"every_steps": 5, "trainer": "mine"}, "'mine' is no Trainer. Make the Trainer first"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD, ids=str)
def test_bad_arguments_are_refused_before_the_training(
    folder: Path, benchmark: Benchmark, tmp_path: Path, arguments: dict[str, Any], sentence: str
) -> None:
    arguments = {"trainer": trainer_of(folder, tmp_path)} | arguments
    with pytest.raises(BadInput) as raised:
        KnowledgeCallback(benchmark=benchmark, **arguments)
    assert sentence in str(raised.value)


def test_an_unknown_metric_is_refused_at_the_first_step(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no metric 'bleu'\. Choose metrics from: accuracy"):
        train(trainer_of(folder, tmp_path), benchmark, every_steps=5, metrics=["bleu"])


def test_a_metric_that_is_missing_later_ends_no_training(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer = trainer_of(folder, tmp_path, max_steps=3)
    train(trainer, benchmark, every_steps=2, at_start=False, metrics=["bleu"])
    assert trainer.state.global_step == 3
    assert not measured(trainer)


def test_a_cadence_of_evaluations_needs_evaluations(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="This training never evaluates"):
        train(trainer_of(folder, tmp_path), benchmark, every_evaluations=1)


ACCURACY = "eval_small_multiple_choice_accuracy"
EVALUATED: dict[str, Any] = {"max_steps": 7, "eval_strategy": "steps", "eval_steps": 2}
BEST: dict[str, Any] = EVALUATED | {
    "save_strategy": "steps",
    "save_steps": 2,
    "load_best_model_at_end": True,
    "metric_for_best_model": ACCURACY,
}
EVALUATIONS = [2, 4, 6, 7]


class Reader(TrainerCallback):
    """Keep the metrics of each evaluation as a callback finds them that was added first."""

    def __init__(self) -> None:
        self.metrics: dict[int, dict[str, float]] = {}

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any, **others: Any) -> None:
        self.metrics.setdefault(state.global_step, {}).update(metrics)


@pytest.mark.parametrize(
    "cadence",
    [
        {"every_evaluations": 1},
        pytest.param({"every_evaluations": 3, "at_start": False, "at_end": False}, marks=pytest.mark.slow),
        pytest.param({"every_seconds": 1e9}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_best_model_is_chosen_by_a_figure_whatever_the_cadence(
    folder: Path, benchmark: Benchmark, tmp_path: Path, cadence: dict[str, Any]
) -> None:
    trainer, reader = trainer_of(folder, tmp_path, **BEST), Reader()
    trainer.add_callback(reader)
    train(trainer, benchmark, breakdowns=["domain"], **cadence)
    figures = measured(trainer)
    assert {step: metrics[ACCURACY] for step, metrics in reader.metrics.items()} == {
        step: figures[step] for step in EVALUATIONS
    }
    assert all("eval_small_multiple_choice_domain_Political" in metrics for metrics in reader.metrics.values())
    assert trainer.state.best_metric == max(figures[step] for step in EVALUATIONS)
    best = trainer.state.best_global_step
    assert figures[best] == trainer.state.best_metric
    assert trainer.state.best_model_checkpoint.endswith(f"-{best}")
    assert ACCURACY not in trainer.evaluate(), "the model is the best one now, not that of the last step"


def test_figures_of_the_same_step_are_among_the_metrics_of_an_evaluation(
    folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    trainer, reader = trainer_of(folder, tmp_path, **EVALUATED), Reader()
    trainer.add_callback(reader)
    train(trainer, benchmark, every_steps=4)
    assert [step for step, metrics in reader.metrics.items() if ACCURACY in metrics] == [4, 7]
    assert list(measured(trainer)) == [0, 4, 7], "nothing is measured that was not asked for"


@pytest.mark.slow
def test_early_stopping_that_was_added_first_sees_a_figure_once_an_evaluation_of_several_data_sets(
    folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    trainer = trainer_of(folder, tmp_path, **BEST | {"max_steps": 20}, learning_rate=0.0)
    trainer.eval_dataset = {"one": trainer.eval_dataset, "two": trainer.eval_dataset}
    trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=3))
    train(trainer, benchmark, every_evaluations=1, sample=1)
    assert trainer.state.global_step == 8, "the first evaluation is the best, and three are not better"


def test_a_model_that_cannot_be_probed_is_not_the_best_one(
    folder: Path, benchmark: Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trainer_of(folder, tmp_path, **BEST)
    trainer.add_callback(Diverge(after=3))
    train(trainer, benchmark, every_evaluations=1)
    assert (trainer.state.global_step, trainer.state.best_global_step) == (7, 2)


@pytest.mark.parametrize(
    "metric", [ACCURACY.replace("accuracy", "acuracy"), "small_multiple_choice_domain_Arts", "accuracy"]
)
def test_a_best_model_by_a_figure_that_nothing_measures_is_refused_before_the_training(
    folder: Path, benchmark: Benchmark, tmp_path: Path, metric: str
) -> None:
    trainer = trainer_of(folder, tmp_path, **BEST | {"metric_for_best_model": metric})
    with pytest.raises(BadInput, match=f"metric_for_best_model is '.*{metric}', .* Choose one of: .*{ACCURACY}"):
        train(trainer, benchmark, every_evaluations=1, at_start=False)
    assert trainer.state.global_step == 0


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["eval_runtime", "eval_one_loss", "rows", "small_sample_accuracy"])
def test_a_best_model_by_a_figure_of_others_is_chosen_as_without_the_callback(
    folder: Path, benchmark: Benchmark, tmp_path: Path, metric: str
) -> None:
    trainer = trainer_of(folder, tmp_path, **BEST | {"metric_for_best_model": metric})
    if "one" in metric:
        trainer.eval_dataset = {"one": trainer.eval_dataset}
    if metric == "rows":
        trainer.compute_metrics = lambda predicted: {"rows": len(predicted.label_ids)}
    if "sample" in metric:
        trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=3, sample=1, name="small_sample"))
    train(trainer, benchmark, every_steps=6, at_start=False, at_end=False, name="small")
    assert trainer.state.best_metric is not None
    assert list(measured(trainer, "eval_small_accuracy")) == [6]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["brier_score", "calibration_error"])
def test_the_worst_model_is_never_taken_for_the_best_one(
    folder: Path, benchmark: Benchmark, tmp_path: Path, metric: str
) -> None:
    figure = ACCURACY.replace("accuracy", metric)
    for greater in (None, True, False):
        trainer = trainer_of(folder, tmp_path, **BEST | {"metric_for_best_model": figure, "greater_is_better": greater})
        trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_steps=2, metrics=[metric]))
        if greater is False:
            trainer.train()
            figures = [entry[figure] for entry in trainer.state.log_history if figure in entry and entry["step"]]
            assert trainer.state.best_metric == min(figures)
        else:
            with pytest.raises(BadInput, match="of which less is better"):
                trainer.train()


def test_a_resumed_training_goes_on_choosing_its_best_model(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    for resume in (False, True):
        trainer = trainer_of(folder, tmp_path, **BEST | {"max_steps": 8})
        trainer.add_callback(KnowledgeCallback(trainer, benchmark, every_evaluations=1))
        if not resume:
            trainer.add_callback(StopAfter(4))
        trainer.train(resume_from_checkpoint=resume)
    assert list(measured(trainer)) == [0, 2, 4, 6, 8]
    assert trainer.state.best_metric == max(value for step, value in measured(trainer).items() if step)


def test_only_the_first_process_saves(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer, saved = trainer_of(folder, tmp_path / "out"), tmp_path / "saved"
    callback = KnowledgeCallback(trainer, benchmark, every_steps=2, save_to=saved, sample=1)
    for is_first in (False, True):
        state = TrainerState(is_world_process_zero=is_first)
        callback.on_train_begin(trainer.args, state, TrainerControl())
        assert saved.exists() == is_first


def test_a_measurement_names_the_step_as_its_revision(folder: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    trainer = trainer_of(folder, tmp_path)
    monitor = Monitor(benchmark, sample=1)
    assert monitor.measure(trainer.model, step=7).result.record["model"]["revision"] == "step7"
    assert monitor.measure(trainer.model).result.record["model"]["revision"] == ""
