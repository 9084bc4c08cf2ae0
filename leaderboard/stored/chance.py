"""Scores that need no model, stored as runs of each benchmark so that pages show them as any other row.

Chance is what guessing reaches. The other baselines use how often answers are right (`probing.analysis.baselines`), or
how often they occur in texts.
"""

from collections.abc import Mapping

import pandas as pd
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Benchmark, Model, Run, RunEvent
from leaderboard.stored.scores import replace_scores
from probing.analysis.baselines import CHANCE, MAJORITY, MOST_FREQUENT
from probing.analysis.specificity import RARER
from probing.baselines import baseline_scores, rarer_scores
from probing.plan import Plan
from probing.settings import Settings
from probing.uniform_model import UniformModel

HUB_ID = UniformModel.card.id
# The baselines that guess, of which the first is computed here and the second is that of BEAR's authors.
GUESSES = (HUB_ID, "published/random-baseline")
HUMANS = ("published/human",)  # what annotators reach, where authors publish it
# The metric of each baseline with the name under which its run is stored.
BASELINE_IDS = {
    CHANCE: HUB_ID,
    MAJORITY: "baseline/majority-answer",
    MOST_FREQUENT: "baseline/most-frequent-answer",
    RARER: "baseline/rarer-answer",
}


def store_chance(benchmark: Benchmark, plan: Plan) -> Run | None:
    """Store the runs of the baselines of this benchmark version, in place of older ones; return that of chance.

    Returns None where the probe has no options to guess from. A baseline that cannot be computed has no run.
    """
    scores = baseline_scores(plan)
    runs = {
        metric: _store(
            benchmark, hub_id, plan.settings, scores[scores.metric == metric], "Computed from the answer spaces."
        )
        for metric, hub_id in BASELINE_IDS.items()
        if (scores.metric == metric).any()
    }
    return runs.get(CHANCE)


def store_rarer_answer(benchmark: Benchmark, plan: Plan, counts: Mapping[str, float], source: str) -> Run:
    """Store what is reached by always choosing the rarer answer of a pair; `source` names where words were counted."""
    scores = rarer_scores(plan, counts)
    return _store(benchmark, BASELINE_IDS[RARER], plan.settings, scores, f"Computed from word frequencies in {source}.")


def _store(benchmark: Benchmark, hub_id: str, settings: Settings, scores: pd.DataFrame, how: str) -> Run:
    """Store one baseline's run, with its scores under the name of the main metric and without intervals.

    `how` becomes the message of the event that ends the run.
    """
    model, _ = Model.objects.get_or_create(hub_id=hub_id, commit="", source=Model.Source.PUBLISHED)
    with transaction.atomic():
        run, _ = Run.objects.update_or_create(
            model=model,
            benchmark=benchmark,
            settings_digest=settings.digest,
            defaults={
                "settings": settings.to_json(),
                "state": Run.State.FINISHED,
                "provenance": Run.Provenance.BASELINE,
                "finished": timezone.now(),
            },
        )
        replace_scores(
            run, scores.assign(metric=benchmark.main_metric, low=None, high=None, cluster_low=None, cluster_high=None)
        )
        RunEvent.objects.create(run=run, state=run.state, message=how)
    return run
