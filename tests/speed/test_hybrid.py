"""The comparison with hybrid networks: each can be built with its sizes, and both systems score it."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.benchmark import Benchmark, Item, Relation
from speed import hybrid
from speed.networks import LoadedNetwork
from tests.tiny_models import build_gpt2

CONTINENTS = Relation("P30", ("[X] is in [Y].",), ("Africa", "Asia", "Europe"), (Item(0, "Chad", (0,)),))
WORK = Benchmark("starter", "1", "", (CONTINENTS,))


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> LoadedNetwork:
    folder = build_gpt2(tmp_path_factory.mktemp("words"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return LoadedNetwork("tiny", "causal", AutoModelForCausalLM.from_pretrained(folder), tokenizer, {})


@pytest.mark.parametrize("name", hybrid.NETWORKS)
def test_networks_have_the_width_that_is_stated(words: LoadedNetwork, name: str) -> None:
    kind, sizes = hybrid.NETWORKS[name]
    with torch.device("meta"):
        network = hybrid.random_network(name, kind, sizes, words).network
    assert network.config.hidden_size >= 1024
    assert network.num_parameters() > 20_000_000


@pytest.mark.slow
def test_both_systems_are_compared(words: LoadedNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "ROUNDS", 1)
    kind, sizes = hybrid.NETWORKS["Falcon-H1"]
    small = {"hidden_size": 64, "intermediate_size": 64, "head_dim": 8, "mamba_d_ssm": 64, "mamba_n_heads": 8}
    sizes = sizes | small | {"mamba_d_head": 8, "mamba_d_state": 8}
    row = hybrid.measure(hybrid.random_network("Falcon-H1", kind, sizes, words), WORK)
    systems = {system["system"]: system for system in row["systems"]}
    assert list(systems) == ["full", "lm-evaluation-harness"], row["not_measured"]
    assert systems["lm-evaluation-harness"]["largest_difference"] < 1e-3
    assert row["ratios"][0]["required"] == 2.0
    assert row["distinct_prefixes"] > 0
    assert hybrid.repeated_prefixes(row) == []


def test_prefixes_that_are_computed_too_often_are_a_miss() -> None:
    systems = [{"system": "full", "own": True, "positions": 131}, {"system": "peer", "own": False, "positions": 900}]
    assert hybrid.repeated_prefixes({"distinct_prefixes": 101, "systems": systems}) == []
    sentence = "full computes 1.31 positions for each distinct prefix; at most 1.3 are allowed."
    assert hybrid.repeated_prefixes({"distinct_prefixes": 100, "systems": systems}) == [sentence]
