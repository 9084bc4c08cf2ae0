"""Scores under other normalisations than the headline's, and the places that runs would have by them."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from leaderboard.lists.runs import State, runs_on
from leaderboard.models import Benchmark, Run, Score
from probing.analysis.normalisations import CHANGED, NORMALISATION, NORMALISATIONS

Scores = dict[str, dict[int, Score]]


def normalised_scores(benchmark: Benchmark, metric: str) -> Scores:
    """Map each normalisation to the scores of runs by run: those that were measured here, by the benchmark's own plan.

    Two queries.
    """
    measured = {"benchmark": benchmark, "state": State.FINISHED, "provenance": Run.Provenance.MEASURED}
    own = Score.objects.filter(run__in=Run.objects.filter(**measured), metric=metric, dimension=NORMALISATION)
    scores = list(own.exclude(value=None))
    runs = {run.pk: run for run in runs_on(benchmark) if not run.settings_group} if scores else {}
    by_rule: Scores = {}
    for score in scores:
        if score.run_id in runs:
            score.run = runs[score.run_id]
            by_rule.setdefault(score.group, {})[score.run_id] = score
    return {name: by_rule[name] for name in NORMALISATIONS if name in by_rule}


def places(scores: Iterable[Score]) -> dict[int, int]:
    """Return the place of each run: one more than the number of runs with a higher value."""
    values = {score.run_id: score.value or 0.0 for score in scores}
    ascending = sorted(values.values())
    return {run: 1 + len(ascending) - bisect_right(ascending, value) for run, value in values.items()}


def run_scores(run: Run, metric: str) -> dict[str, Mapping[str, Score]]:
    """Map each normalisation to the scores of one run by metric. One query."""
    by_rule: dict[str, dict[str, Score]] = {}
    for score in run.scores.filter(dimension=NORMALISATION, metric__in=(metric, CHANGED)):
        by_rule.setdefault(score.group, {})[score.metric] = score
    return {name: by_rule[name] for name in NORMALISATIONS if metric in by_rule.get(name, {})}
