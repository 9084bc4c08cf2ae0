"""A real small training on a corpus that states the facts of a benchmark as often as planned.

Two networks that differ in capacity alone read the corpus once. What they know rises with exposure, and α tells the
larger one from the smaller one.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

import probing
from probing.analysis.exposure import BUCKETS, Recall, fit_alphas
from probing.catalog import open_benchmark
from probing.exposure.counting import count_exposure
from probing.exposure.named_facts import facts_of
from probing.results.rescoring import rescored
from probing.results.result import Result
from tests.trained_models import corpus_of, planned_counts, train, word_tokenizer

RELATIONS = ["battle_war", "element_group", "instrument_family", "moon_planet", "novel_author", "painting_painter"]
WIDTHS = {"small": 8, "large": 64}
SEEDS = range(3)


def by_exposure(results: Sequence[Result]) -> pd.Series:
    """Return the mean accuracy of several results in each bucket."""
    return pd.concat([result.by("exposure")["value"] for result in results], axis=1).mean(axis=1)


@pytest.mark.slow
def test_recall_rises_with_exposure_and_alpha_ranks_networks_by_capacity(tmp_path: Path) -> None:
    benchmark = open_benchmark("starter").select(RELATIONS)
    plan = planned_counts(benchmark)
    corpus = corpus_of(benchmark, plan)
    (tmp_path / "corpus.txt").write_text("\n".join(corpus), encoding="utf-8")
    counts = count_exposure(
        [str(tmp_path / "corpus.txt")], facts_of(benchmark), tmp_path / "counts.csv", progress=False
    )
    assert dict(zip(zip(counts["relation"], counts["index"], strict=True), counts["count"], strict=True)) == plan
    options = [option for relation in benchmark.relations for option in relation.answer_space]
    subjects = [item.subject for relation in benchmark.relations for item in relation.items]
    tokenizer = word_tokenizer([*corpus, *options, *subjects])
    results: dict[str, list[Result]] = {}
    for name, width in WIDTHS.items():
        for seed in SEEDS:
            network = train(width, seed, corpus, tokenizer)
            measured = probing.run(network, benchmark, tokenizer=tokenizer, templates=(0,), progress=False)
            results.setdefault(name, []).append(rescored(measured, benchmark, counts))
    for of_size in results.values():
        rare, often, most_often = (
            by_exposure(of_size)[names].mean() for names in (BUCKETS[:5], BUCKETS[5], BUCKETS[6])
        )
        assert rare + 0.05 < often < most_often - 0.1
    fit = fit_alphas([Recall.of(result.items, "correct") for of_size in results.values() for result in of_size])
    small, large = fit.alphas[: len(SEEDS)], fit.alphas[len(SEEDS) :]
    assert max(alpha.value for alpha in small) < min(alpha.value for alpha in large)
    assert all(alpha.low < alpha.value < alpha.high for alpha in fit.alphas)
