"""Verbs beside scoring: both kinds of model fill and embed, and only causal ones write."""

from pathlib import Path

import numpy as np
import pytest

from probing.errors import UnsupportedModel
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.tiny_models import build_bert, build_gpt2

BUILDERS = {"causal": build_gpt2, "masked": build_bert}


@pytest.fixture(params=BUILDERS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> AnsweringModel:
    return load(str(BUILDERS[request.param](tmp_path)), device="cpu")


def test_both_kinds_of_model_fill_and_embed(model: AnsweringModel) -> None:
    (blank,) = model.fill([(prompt("The capital of [X] is [Y].", "Norway"), ["Oslo"])], k=3)
    assert len(blank.tokens) == 3
    assert (np.diff(blank.log_probs) <= 0).all()
    (first, second) = model.embed(["Oslo", "Norway"])
    assert first.shape == second.shape == (model.network.config.hidden_size,)
    assert (model.usage.by_verb["fill"], model.usage.by_verb["embed"]) == (1, 2)


def test_a_masked_model_writes_no_text(tmp_path: Path) -> None:
    model = load(str(build_bert(tmp_path)), device="cpu")
    with pytest.raises(UnsupportedModel, match=r"is a masked model and writes no text\. Choose a causal model"):
        model.generate(["The capital of Norway is"], 3)


def test_a_causal_model_writes_as_many_tokens_as_asked_for(tmp_path: Path) -> None:
    model = load(str(build_gpt2(tmp_path)), device="cpu")
    (continuation,) = model.generate(["The capital of Norway is"], 3)
    assert 1 <= len(continuation.ends) <= 3
