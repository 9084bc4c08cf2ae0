"""This project's systems on a tiny network: the positions that they compute, and the best options."""

from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from speed.lower_bounds import lower_bounds
from speed.networks import LoadedNetwork, NetworkKind
from speed.systems import Ours
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


@pytest.fixture(params=["causal", "masked"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> LoadedNetwork:
    kind: NetworkKind = request.param
    folder = build_gpt2(tmp_path / "model") if kind == "causal" else build_bert(tmp_path / "model")
    loader = AutoModelForCausalLM if kind == "causal" else AutoModelForMaskedLM
    network = loader.from_pretrained(folder).eval()
    return LoadedNetwork("tiny", kind, network, AutoTokenizer.from_pretrained(folder), {})


def test_full_scoring_computes_no_fewer_positions_than_there_must_be(loaded: LoadedNetwork) -> None:
    own, bounds = Ours("full", loaded.ours()).observe(WORK), lower_bounds(loaded, WORK)
    assert all(scores.exact.all() for scores in own.scores)
    assert bounds.distinct <= bounds.real
    assert own.positions - own.padding >= bounds.distinct


def test_positions_of_earlier_work_are_not_counted_again(loaded: LoadedNetwork) -> None:
    ours = Ours("full", loaded.ours())
    first = ours.observe(WORK)
    assert ours.observe(WORK).positions <= first.positions
    assert ours.model.usage.positions >= 2 * ours.observe(WORK).positions


def test_early_decision_keeps_the_best_option(loaded: LoadedNetwork) -> None:
    model = loaded.ours()
    full, decided = Ours("full", model)(WORK), Ours("decide", model, decide=1)(WORK)
    assert [scores.scores.argmax() for scores in full] == [scores.scores.argmax() for scores in decided]
