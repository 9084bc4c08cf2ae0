"""Measurements without a Trainer, in one process and in two that share the work."""

import multiprocessing
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

import probing
from probing.analysis.steps import gauge
from probing.benchmark import Benchmark
from probing.errors import BadInput, Incomplete
from probing.monitor import KnowledgeCallback, Monitor, measure
from probing.monitor.measuring import shared, shares
from probing.plan import Part
from probing.results.result import Result
from tests.probing.monitor.helpers import trainer_of


@pytest.fixture
def network(folder: Path) -> PreTrainedModel:
    network: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder)
    return network


def test_a_loop_of_ones_own_gets_figures_by_name(network: PreTrainedModel, folder: Path, benchmark: Benchmark) -> None:
    figures = measure(network, benchmark, breakdowns="domain", metrics=["accuracy", "chance"])
    result = probing.run(folder, benchmark, progress=False)
    scores = result.scores.set_index(["metric", "dimension", "group"])["value"]
    assert figures == {
        "small_multiple_choice_accuracy": scores["accuracy", "overall", "all"],
        "small_multiple_choice_chance": scores["chance", "overall", "all"],
        "small_multiple_choice_domain_Geographic": scores["accuracy", "domain", "Geographic"],
        "small_multiple_choice_domain_Political": scores["accuracy", "domain", "Political"],
    }


def test_a_monitor_follows_the_weights_and_is_prepared_once(network: PreTrainedModel, benchmark: Benchmark) -> None:
    monitor = Monitor(benchmark, sample=2)
    before, model = monitor.measure(network).result, monitor._model
    with torch.no_grad():
        network.get_input_embeddings().weight.mul_(-1)
    after = monitor.measure(network, step=3).result
    assert monitor._model is model
    assert (before.items["scores"].map(list) != after.items["scores"].map(list)).any()
    assert after.record["training"] == {"step": 3}
    other = AutoModelForCausalLM.from_pretrained(network.name_or_path)
    assert monitor.measure(other).result.items.to_json() == before.items.to_json()


def test_each_figure_is_held_beside_its_noise(network: PreTrainedModel, benchmark: Benchmark) -> None:
    metrics = ["accuracy", "answer_probability", "brier_score"]
    monitor = Monitor(benchmark, metrics=metrics, sample=2, name="own")
    measured = []
    for _ in range(4):
        measured.append(monitor.measure(network).figures)
        with torch.no_grad():
            network.get_input_embeddings().weight.mul_(0.9)
    gauges = monitor.gauges(last=3)
    assert list(gauges.index) == [f"own_{metric}" for metric in metrics]
    values = [figures["own_answer_probability"] for figures in measured]
    assert gauges.loc["own_answer_probability"].to_dict() == gauge(values, last=3)
    with pytest.raises(BadInput, match="There are 4 measurements"):
        monitor.gauges()


def test_a_main_metric_without_a_value_is_told_with_what_it_needs(network: PreTrainedModel) -> None:
    """The tiny vocabulary has none of the answers as a single token."""
    with pytest.raises(BadInput, match=r"There is no metric 'specificity': it needs pairs of which both answers are"):
        measure(network, "pairs", sample=1)


def test_early_decisions_find_the_same_accuracy(network: PreTrainedModel, benchmark: Benchmark) -> None:
    assert measure(network, benchmark, decide=True) == measure(network, benchmark)


def test_parts_are_shared_by_their_work() -> None:
    work = {Part(name, 0, 1): size for name, size in {"a": 1.0, "b": 6.0, "c": 3.0, "d": 2.0}.items()}
    divided = [[part.relation for part in share] for share in shares(work, 2)]
    assert divided == [["b"], ["c", "d", "a"]]


def in_a_group(folder: Path, do: Callable[[int], None]) -> list[int | None]:
    """Run a function of the rank in two processes that form a group, and return their exit codes."""

    def process(rank: int) -> None:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=2)
        do(rank)
        distributed.destroy_process_group()

    return in_two_processes(process)


def in_two_processes(do: Callable[[int], None]) -> list[int | None]:
    processes = [multiprocessing.get_context("fork").Process(target=do, args=(rank,)) for rank in range(2)]
    for started in processes:
        started.start()
    for started in processes:
        started.join(120)
    return [started.exitcode for started in processes]


@pytest.mark.slow
def test_two_processes_give_the_scores_of_one(network: PreTrainedModel, benchmark: Benchmark, tmp_path: Path) -> None:
    alone = Monitor(benchmark, templates=(), breakdowns=["domain"]).measure(network)

    def together(rank: int) -> None:
        monitor = Monitor(benchmark, templates=(), breakdowns=["domain"])
        measured = monitor.measure(
            DistributedDataParallel(network), AutoTokenizer.from_pretrained(network.name_or_path)
        )
        measured.result.record["figures"] = measured.figures
        measured.result.record["own_statements"] = monitor._model.usage.statements if monitor._model else 0
        measured.result.save(tmp_path / str(rank))

    assert in_a_group(tmp_path, together) == [0, 0]
    first, second = (Result.load(tmp_path / str(rank)) for rank in range(2))
    assert first.items.to_json() == second.items.to_json() == alone.result.items.to_json()
    assert first.record["figures"] == second.record["figures"] == alone.figures
    own = [result.record["own_statements"] for result in (first, second)]
    assert min(own) > 0 and sum(own) == alone.result.record["statements"], "each statement is scored by one of them"


def test_an_error_in_one_process_is_raised_in_both(tmp_path: Path) -> None:
    def fail(part: Part) -> int:
        if part.relation == "a":
            raise ZeroDivisionError("broken")
        return 1

    def together(rank: int) -> None:
        with pytest.raises(Incomplete, match="Process 0 of the training failed to probe: ZeroDivisionError: broken"):
            shared({Part("a", 0, 1): 2.0, Part("b", 0, 1): 1.0}, fail)

    assert in_a_group(tmp_path, together) == [0, 0]


@pytest.mark.slow
def test_a_trainer_with_two_processes_probes_the_weights_that_it_saves(
    folder: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    """The processes are told of each other as `torchrun` tells them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(server.getsockname()[1]), "WORLD_SIZE": "2"}

    def training(rank: int) -> None:
        os.environ |= address | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        trainer = trainer_of(folder, tmp_path / "training", max_steps=4, per_device_train_batch_size=1)
        assert trainer.args.world_size == 2
        cadence = {"every_steps": 2, "every_seconds": 0.01}
        trainer.add_callback(KnowledgeCallback(trainer, benchmark, save_to=tmp_path / "saved", **cadence))
        trainer.train()
        if trainer.state.is_world_process_zero:
            trainer.save_model(tmp_path / "trained")

    assert in_two_processes(training) == [0, 0]
    ours = Result.load(tmp_path / "saved" / "step-4").items
    assert ours.to_json() == probing.run(tmp_path / "trained", benchmark, progress=False).items.to_json()
