"""Metrics of perplexity: their labels, and their values by group."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from leaderboard.models import Score
from probing.analysis.perplexity import BEST, MEAN, SPREAD

TESTS = {"": "", "_less": "one-sided", "_welch": "Welch", "_mann_whitney": "Mann-Whitney"}
METRIC_LABELS = {
    "superiority": "Probability of superiority",
    "cohens_d": "Cohen's d",
    "discriminates": "Discriminating repetitions",
    MEAN: "Mean over phrasings",
    BEST: "Best phrasing",
    SPREAD: "Best minus worst phrasing",
    "perplexity_median": "Median perplexity",
    "perplexity_corpus": "Corpus perplexity",
    "p_value_mean": "Mean p-value",
    "p_value_std": "Standard deviation of p-values",
    "p_value_median": "Median p-value",
    "p_value_spread": "Range of p-values",
    **{f"p_value{name}": ", ".join(filter(None, ["p-value", test])) for name, test in TESTS.items()},
    **{f"log10_p{name}": ", ".join(filter(None, ["log₁₀ p", test])) for name, test in TESTS.items()},
    **{f"log10_p{name}_median": f"{' '.join(filter(None, ['log₁₀ p', test]))}, median" for name, test in TESTS.items()},
}
ScoreValues = Mapping[str, float | None]  # by metric


class GroupScores(NamedTuple):
    """The scores of one repetition, or of another group."""

    name: str
    scores: ScoreValues


def scores_by_group(scores: Iterable[Score]) -> list[GroupScores]:
    """Group scores by repetition, or by the groups of another dimension, in stored order."""
    by_repetition: dict[str, dict[str, float | None]] = {}
    for score in scores:
        by_repetition.setdefault(score.group, {})[score.metric] = score.value
    return [GroupScores(name, values) for name, values in by_repetition.items()]
