"""Keeping a network in Hugging Face format: only where it is read again as the same network with the same tokenizer."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.files.gguf_cache import GIGABYTES, GgufCache
from probing.scoring import networks
from probing.scoring.networks import keep_network
from tests.tiny_models import build_gpt2, build_llama


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GgufCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(GIGABYTES, "1")
    return GgufCache.of_user()


@pytest.mark.parametrize("build", [build_gpt2, build_llama], ids=["gpt2", "llama"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_network_is_kept_with_every_weight(
    tmp_path: Path, cache: GgufCache, build: Callable[[Path], Path], dtype: torch.dtype
) -> None:
    folder = build(tmp_path / "model")
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    keep_network("key", network, AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM)
    kept = cache.find("key")
    assert kept
    weights = AutoModelForCausalLM.from_pretrained(kept, dtype=dtype).state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in network.state_dict().items())


def test_what_is_read_again_as_another_one_or_needs_too_much_memory_twice_is_not_kept(
    tmp_path: Path, cache: GgufCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = build_gpt2(tmp_path / "model"), AutoTokenizer.from_pretrained(build_llama(tmp_path / "other"))
    network, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    changed = AutoModelForCausalLM.from_pretrained(folder)
    changed.register_buffer("more", torch.ones(3))
    keep_network("network", changed, tokenizer, AutoModelForCausalLM)
    another = AutoTokenizer.from_pretrained(folder)
    another.save_pretrained = other.save_pretrained
    keep_network("tokenizer", network, another, AutoModelForCausalLM)
    monkeypatch.setattr(networks, "MEMORY_SHARE", 0)
    keep_network("memory", network, tokenizer, AutoModelForCausalLM)
    assert [cache.find(key) for key in ("network", "tokenizer", "memory")] == [None] * 3
