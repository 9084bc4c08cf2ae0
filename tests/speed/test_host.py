"""The measurement of host time: every step is counted, and the answer depends on the limit alone."""

import re
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.catalog import open_benchmark
from speed import host
from speed.networks import LoadedNetwork
from tests.tiny_models import build_gpt2


def test_every_step_is_counted_and_more_than_the_limit_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_gpt2(tmp_path / "tiny")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = LoadedNetwork("tiny", "causal", AutoModelForCausalLM.from_pretrained(folder), tokenizer, {})
    monkeypatch.setattr(host, "ROUNDS", 1)
    benchmark = open_benchmark("starter").select(["country_continent", "country_capital"], limit=5)
    monkeypatch.setattr(host, "MOST", 0.0)
    assert host.main(benchmark, network) == 1
    figures = dict(re.findall(r"^  ([a-z]+): ([0-9.]+)", capsys.readouterr().out, re.MULTILINE))
    assert list(figures) == ["floor", *host.STEPS, "rows", "all"]
    assert min(map(float, figures.values())) > 0
    monkeypatch.setattr(host, "MOST", float("inf"))
    assert host.main(benchmark, network) == 0
