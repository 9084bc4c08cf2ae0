"""The comparison on a GPU, made on the CPU here: which figures there are, and the network with random weights."""

from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.benchmark import Benchmark, Item, Relation
from speed import gpu
from speed.networks import LoadedNetwork
from tests.tiny_models import build_gpt2

COUNTRIES = ("Chad", "Mali", "Peru")
ITEMS = tuple(Item(index, country, (0,)) for index, country in enumerate(COUNTRIES))
CONTINENTS = Relation("P30", ("[X] is in [Y].",), ("Africa", "Asia", "Europe"), ITEMS)
WORK = Benchmark("starter", "1", "", (CONTINENTS,))


@pytest.mark.slow
def test_systems_are_compared_in_the_format_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "ROUNDS", 1)
    row = gpu.measure("tiny", build_gpt2(tmp_path / "model"), WORK, "cpu", "bfloat16")
    assert (row["network"], row["dtype"], row["statements"]) == ("tiny", "bfloat16", 9)
    systems = {system["system"]: system for system in row["systems"]}
    assert list(systems) == ["full", "decide", "lm-evaluation-harness"], row["not_measured"]
    assert all(system["positions_per_second"] > 0 and system["tolerance"] is None for system in systems.values())
    assert 1e-5 < systems["lm-evaluation-harness"]["largest_difference"] < 1  # float32 differs by less
    assert gpu.line(row).startswith("tiny, bfloat16: full ")


@pytest.mark.parametrize(("items", "stored"), [(gpu.ITEMS, [1, 2]), (1, [])])
def test_results_of_the_usual_items_are_stored_network_by_network(
    items: int, stored: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured is kept if a later network takes too long."""
    row = {"network": "tiny", "dtype": "float32", "decisive": "clock", "systems": [], "ratios": [], "not_measured": {}}
    rows: list[int] = []
    monkeypatch.setattr(gpu, "_rows", lambda work, device: iter([row, row]))
    monkeypatch.setattr(gpu, "store", lambda name, results: rows.append(len(results["rows"])))
    monkeypatch.setattr("sys.argv", ["speed.gpu", "--device", "cpu", "--items", str(items)])
    assert gpu.main() == 0
    assert rows == stored


def test_the_larger_network_has_the_sizes_that_are_stated_and_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "LARGER", {"n_embd": 48, "n_head": 4})
    folder = build_gpt2(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    loaded = LoadedNetwork("tiny", "causal", AutoModelForCausalLM.from_pretrained(folder).eval(), tokenizer, {})
    network = gpu.larger(loaded).network
    assert (network.config.n_embd, network.config.vocab_size) == (48, loaded.network.config.vocab_size)
    with gpu.written(gpu.larger(loaded)) as weights:
        assert AutoModelForCausalLM.from_pretrained(weights).config.n_embd == 48
