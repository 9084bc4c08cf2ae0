"""The perplexity probe on a real model and a real graph."""

from math import exp
from pathlib import Path

import pandas as pd
import pytest
import torch

from probing.formats.knowledge_graph import read_graph
from probing.probes.perplexity import Perplexity
from probing.scoring.load import load
from probing.statements.graph_statements import Graph, Sampling, draw
from tests.real_data import real_data


@pytest.fixture(scope="module")
def wn18rr() -> Graph:
    return read_graph(real_data("kg/wn18rr"))


@pytest.mark.slow
def test_smollm2_tells_50_true_from_50_false_statements_of_wn18rr(smollm2: Path, wn18rr: Graph) -> None:
    sentences = draw(wn18rr, Sampling(samples=50, repetitions=1))
    model = load(str(smollm2), device="cpu")
    measured = list(Perplexity().measure(model, [sentence.texts[0] for sentence in sentences]))
    rows = pd.DataFrame(
        {
            "relation": [sentence.triple.relation for sentence in sentences],
            "template": 0,
            "true": [sentence.true for sentence in sentences],
            "repetitions": [list(sentence.repetitions) for sentence in sentences],
            "perplexity": [one.perplexity for one in measured],
            "log_prob": [one.log_prob for one in measured],
            "tokens": [one.tokens for one in measured],
            "words": [len(one.text.split()) for one in measured],
            "statement": [one.text for one in measured],
        }
    )
    scores = Perplexity().scores(rows).set_index(["metric", "dimension", "group"])["value"]
    assert scores["p_value", "repetition", "1"] < 0.001
    assert scores["perplexity_median", "truth", "true"] < scores["perplexity_median", "truth", "false"]
    assert scores["superiority", "overall", "all"] > 0.7
    for one in measured[:3]:
        ids = torch.tensor([[model.tokenizer.bos_token_id, *model.tokenizer(one.text).input_ids]])
        with torch.inference_mode():
            loss = model.network(input_ids=ids, labels=ids).loss.item()
        assert one.perplexity == pytest.approx(exp(loss), rel=1e-3)
