"""The fewest positions of a workload, counted by hand, and as a limit of what this project computes."""

from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from probing.language_model import Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.scoring.tokens import Encoded
from speed.fewest_positions import fewest_positions, of_causal, of_masked
from speed.networks import LoadedNetwork, NetworkKind
from speed.work import ChoiceItem, Workload
from tests.tiny_models import build_bert, build_gpt2

WORK = Workload(
    "small",
    ("P30",),
    (
        ChoiceItem("[X] is located in [Y].", "Chad", ("Africa", "Asia"), 0),
        ChoiceItem("[X] is located in [Y].", "Norway", ("Africa", "Europe"), 1),
    ),
)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_full_scoring_computes_no_fewer_positions_than_there_must_be(kind: NetworkKind, tmp_path: Path) -> None:
    folder = build_gpt2(tmp_path / "model") if kind == "causal" else build_bert(tmp_path / "model")
    loader = AutoModelForCausalLM if kind == "causal" else AutoModelForMaskedLM
    network = loader.from_pretrained(folder).eval()
    loaded = LoadedNetwork("tiny", kind, network, AutoTokenizer.from_pretrained(folder), {})
    model = (CausalModel if kind == "causal" else MaskedModel)(network, loaded.tokenizer)
    fewest = fewest_positions(loaded, WORK)
    before, padding = model.usage.positions, model.usage.padding
    list(model.score((item.request for item in WORK), Scoring()))
    computed = model.usage.positions - before - (model.usage.padding - padding)
    assert fewest.distinct <= fewest.real
    assert computed >= fewest.distinct


def encoded(*ids: int, words: tuple[int | None, ...] = ()) -> Encoded:
    places = tuple(range(1, len(ids)))
    return Encoded(ids, places, slice(0, 1), words or (None, *range(len(places))))


def test_a_prefix_counts_once_and_only_if_something_follows() -> None:
    assert of_causal([encoded(0, 1, 2), encoded(0, 1, 3), encoded(0, 4)]) == (8, 2)


def test_a_masked_input_that_two_statements_share_counts_once() -> None:
    assert of_masked([encoded(0, 1, 2), encoded(0, 1, 3)], mask=9) == (12, 9)
