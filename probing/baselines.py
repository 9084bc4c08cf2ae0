"""Scores that need no model: chance and the other baselines of a benchmark, from the questions alone."""

from collections.abc import Mapping

import pandas as pd

from probing.analysis.baselines import BASELINES, CHANCE
from probing.analysis.specificity import rarer_answer_scores
from probing.benchmark import Benchmark
from probing.errors import BadInput, TooLong
from probing.plan import Plan
from probing.uniform_model import UniformModel


def baseline_scores(plan: Plan) -> pd.DataFrame:
    """Return the tidy scores of all baselines; there are none where the probe has no options to guess from."""
    scores = plan.probe.scores(uniform_rows(plan))
    return scores[scores["metric"].isin((CHANCE, *BASELINES))].reset_index(drop=True)


def uniform_rows(plan: Plan) -> pd.DataFrame:
    """Return the rows that a model without knowledge gives."""
    model = UniformModel()
    rows = [
        row
        for part in plan.parts
        for row in plan.probe.rows(model, plan.relation(part), part.template, plan.settings)
        if not isinstance(row, TooLong)  # which cannot happen for a model without tokens
    ]
    return plan.probe.frame(rows)


def pair_answers(benchmark: Benchmark) -> list[str]:
    """Return the answers of all pairs of a specificity benchmark, each once; other benchmarks are refused."""
    if benchmark.probe != "specificity":
        raise BadInput(f"{benchmark.slug} has no pairs of answers.", "Word frequencies need a specificity benchmark.")
    return list(dict.fromkeys(o for r in benchmark.relations for item in r.items for o in r.options_of(item)))


def rarer_scores(plan: Plan, counts: Mapping[str, float]) -> pd.DataFrame:
    """Return what is reached by always choosing the rarer answer of a pair (S-TEST's baseline Freq)."""
    pairs = [
        (relation.label, *(relation.options_of(item)[place] for place in (item.answers[0], 1 - item.answers[0])))
        for part in plan.parts
        for relation in [plan.relation(part)]
        for item in relation.items
    ]
    return rarer_answer_scores(pd.DataFrame(pairs, columns=["relation", "answer_label", "coarse_label"]), counts)
