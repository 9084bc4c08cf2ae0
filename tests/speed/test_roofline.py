"""The roofline: the multiplications are those of the distinct prefixes, and the answer depends on the share."""

import pytest
from torch import nn

from probing.benchmark import Benchmark, Item, Relation
from speed import roofline
from speed.networks import LoadedNetwork
from tests.probing.scoring.networks import SHARING, causal_model

CONTINENTS = Relation("P30", ("[X] is in [Y].",), ("Africa", "Asia"), (Item(0, "Chad", (0,)), Item(1, "Iran", (1,))))
WORK = Benchmark("starter", "1", "", (CONTINENTS,))


@pytest.fixture(scope="module")
def tiny() -> LoadedNetwork:
    model = causal_model(SHARING["llama"])
    return LoadedNetwork("tiny", "causal", model.network, model.tokenizer, {})


def test_what_is_needed_are_the_weights_that_each_distinct_prefix_meets(tiny: LoadedNetwork) -> None:
    needed, seconds = roofline.measure(tiny, WORK)
    start = tiny.tokenizer.bos_token_id
    texts = [f"{subject} is in {answer}." for subject in ("Chad", "Iran") for answer in ("Africa", "Asia")]
    sequences = [
        ([] if start is None else [start]) + tiny.tokenizer(text, add_special_tokens=False).input_ids for text in texts
    ]
    prefixes = {tuple(ids[:length]) for ids in sequences for length in range(1, len(ids))}
    weights = {
        id(module.weight): module.weight.numel() for module in tiny.network.modules() if type(module) is nn.Linear
    }
    assert needed == len(prefixes) * sum(weights.values())  # a token follows each prefix, so that it meets the head
    assert seconds > 0


@pytest.mark.parametrize(("least", "code"), [(0.0, 0), (1e9, 1)])
def test_a_share_below_the_limit_fails(
    tiny: LoadedNetwork, least: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["roofline"])
    monkeypatch.setattr(roofline, "SIZE", 64)
    monkeypatch.setattr(roofline, "_networks", lambda: [("causal", tiny)])
    monkeypatch.setattr(roofline, "workload", lambda items: WORK)
    monkeypatch.setitem(roofline.LEAST, "causal", least)
    assert roofline.main() == code
    assert "tiny: " in capsys.readouterr().out
