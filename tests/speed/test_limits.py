"""The limits of a tiny network: the fewest positions, what is counted, and the rates that follow from given times."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probing.scoring.products import linear
from probing.scoring.tokens import Encoded
from speed import limits as limits_module
from speed.limits import SIZES, _one_item, accuracy, causal_bounds, limits, masked_bounds, observe_operations
from speed.networks import LoadedNetwork, OptionScores, Ours
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


@pytest.mark.parametrize("size", SIZES)
def test_an_answer_space_has_exactly_the_stated_size_without_repetition(size: int) -> None:
    work = _one_item(size)
    (item,) = work.items
    assert work.statements == len(set(item.options)) == size


def test_a_larger_answer_space_contains_the_smaller_one() -> None:
    small, large = (_one_item(size).items[0].options for size in SIZES[:2])
    assert large[: len(small)] == small


def encoded(*ids: int, words: tuple[int | None, ...] = ()) -> Encoded:
    places = tuple(range(1, len(ids)))
    return Encoded(ids, places, slice(0, 1), words or (None, *range(len(places))))


def test_a_prefix_counts_once_and_only_if_something_follows() -> None:
    assert causal_bounds([encoded(0, 1, 2), encoded(0, 1, 3), encoded(0, 4)]) == (8, 2)


def test_a_masked_input_that_two_statements_share_counts_once() -> None:
    assert masked_bounds([encoded(0, 1, 2), encoded(0, 1, 3)], mask=9) == (12, 9)


WORK = Workload("starter", (), (ChoiceItem("[X] is in [Y].", "Chad", ("Asia", "Africa"), 1),) * 2)


def test_accuracy_is_the_share_of_items_whose_right_option_is_best() -> None:
    exact = np.array([True, True])
    scores = [OptionScores(np.array([-2.0, -1.0]), exact), OptionScores(np.array([-1.0, -2.0]), exact)]
    assert accuracy(scores, WORK) == 0.5


def test_products_by_onednn_are_counted() -> None:
    class Product:
        def observe(self, workload: Workload) -> float:
            outputs = linear(torch.rand(2, 3, 5), torch.rand(7, 5))
            return float(outputs.sum())

    _, gflop = observe_operations(cast(Ours, Product()), WORK)
    assert gflop == pytest.approx(2e-9 * 2 * 3 * 5 * 7)
