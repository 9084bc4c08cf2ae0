"""The method's published implementation, lm-pub-quiz, gives the same scores on the starter benchmark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from lm_pub_quiz import Evaluator

from probing.benchmark import Benchmark
from probing.formats import bear
from probing.language_model import PLL, Reduction, Request, Scoring
from probing.scoring.hf_model import HFModel
from probing.template import prompt
from tests.probing.scoring.compare import CLOSE, answers
from tests.probing.scoring.networks import HEAD_APART, SHARING, causal_model, masked_model

STARTER = Path(__file__).parents[3] / "fixtures" / "starter"
RELATIONS = 4
VARIANTS = [pll for pll in get_args(PLL) if pll != "whole_answer"]  # which lm-pub-quiz does not have


@pytest.fixture(scope="module")
def starter() -> Benchmark:
    return bear.read(STARTER)


def causal() -> HFModel:
    model = causal_model(SHARING["llama"])
    model.tokenizer.pad_token = model.tokenizer.eos_token
    return model


def masked() -> HFModel:
    return masked_model(HEAD_APART["bert"])


def compare(model: HFModel, kind: str, benchmark: Benchmark, scoring: Scoring, **settings: Any) -> None:
    """Compare an item of some relations with every template and at most twelve options."""
    peer = Evaluator.from_model(model.network, tokenizer=model.tokenizer, model_type=kind, device="cpu", **settings)
    for relation in benchmark.relations[:: len(benchmark.relations) // RELATIONS]:
        item, options = relation.items[0], relation.answer_space[:12]
        requests: list[Request] = [(prompt(template, item.subject), options) for template in relation.templates]
        for template, scores in zip(relation.templates, answers(model, requests, scoring), strict=True):
            theirs = peer.score_answers(
                template=template, answers=options, subject=item.subject, reduction=scoring.reduction, batch_size=64
            )
            np.testing.assert_allclose(scores.reduce(scoring.reduction), theirs, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("reduction", get_args(Reduction))
@pytest.mark.parametrize(("make", "kind"), [(causal, "CLM"), (masked, "MLM")])
def test_scores_equal_those_of_lm_pub_quiz(
    make: Callable[[], HFModel], kind: str, reduction: Reduction, starter: Benchmark
) -> None:
    compare(make(), kind, starter, Scoring(reduction=reduction))


@pytest.mark.slow
@pytest.mark.parametrize("pll", VARIANTS)
def test_every_variant_equals_that_of_lm_pub_quiz(pll: PLL, starter: Benchmark) -> None:
    compare(masked(), "MLM", starter, Scoring(pll=pll), pll_metric=pll)
