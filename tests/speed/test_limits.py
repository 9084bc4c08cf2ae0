"""The limits of a tiny network: what is counted, and the rates that follow from given times."""

from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from speed import limits as limits_module
from speed.limits import limits
from speed.networks import LoadedNetwork
from speed.work import ChoiceItem, Workload
from tests.tiny_models import build_gpt2

ITEMS = tuple(ChoiceItem("[X] is located in [Y].", country, ("Africa", "Asia"), 0) for country in ("Chad", "Mali"))


def test_rates_follow_from_the_times_of_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "peak_memory", lambda kind, system, work: 1024)
    monkeypatch.setattr(limits_module, "shapes_rate", lambda network, rows: 1e-9)
    folder = build_gpt2(tmp_path / "model")
    network = AutoModelForCausalLM.from_pretrained(folder).eval()
    loaded = LoadedNetwork("tiny", "causal", network, AutoTokenizer.from_pretrained(folder), {})
    systems = [{"system": name, "seconds": {"clock": [1.0, 2.0, 9.0]}} for name in ("full", "decide")]
    slower = [{"system": name, "seconds": {"clock": [1.0, 4.0, 9.0]}} for name in ("full", "decide")]
    work = Workload("starter", ("P30",), ITEMS)
    once, twice = (limits(loaded, work, {"systems": rows}, 60) for rows in (systems, slower))
    assert once["positions_at_least"]["distinct"] <= once["positions_at_least"]["real"]
    assert once["of_shapes_rate"]["full"] == pytest.approx(2 * twice["of_shapes_rate"]["full"], rel=1e-6)
    assert once["of_shapes_rate"]["full"] > once["of_shapes_rate"]["decide"] > 0
    assert 0 < once["memory"]["statements"] <= 60 and once["memory"]["full"] == 1024
