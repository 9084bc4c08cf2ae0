"""Scores against those that lm-evaluation-harness gave to the same statements of BEAR, stored in the test data."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.results.run_json import tokenizer_facts
from probing.runner import run
from probing.start_token import StartToken
from tests.real_data import real_data

CLOSE = 1e-3  # largest accepted difference of a statement's score


@pytest.fixture(scope="module")
def harness_rows() -> pd.DataFrame:
    text = real_data("lm_eval_bear/harness_float32.jsonl").read_text(encoding="utf-8")
    return pd.DataFrame([json.loads(line) for line in text.splitlines()])


@pytest.mark.slow
def test_every_score_and_prediction_is_that_of_lm_evaluation_harness(
    smollm2: Path, real_bear: Path, harness_rows: pd.DataFrame
) -> None:
    """60 items with 1,820 statements; the harness used template 0 and its usual start token."""
    relations = harness_rows["relation"].unique().tolist()
    result = run(smollm2, real_bear, relations=relations, limit=20, progress=False)
    facts = tokenizer_facts(result.record)
    assert facts is not None
    assert facts.start == StartToken("auto", 1, "<|im_start|>", "bos", marks_roles=True)
    items = result.items
    both = harness_rows.merge(items, on=["relation", "template", "index"], suffixes=("_harness", ""))
    assert len(both) == len(harness_rows) == 60
    assert (both["answer"] == both["answer_harness"]).all()
    assert both["scores"].map(len).tolist() == both["scores_harness"].map(len).tolist()
    theirs, ours = (np.concatenate(both[column].to_list()) for column in ("scores_harness", "scores"))
    assert len(ours) == 1820
    np.testing.assert_allclose(ours, theirs, atol=CLOSE, rtol=0)
    assert both["prediction"].tolist() == both["scores_harness"].map(np.argmax).tolist()
