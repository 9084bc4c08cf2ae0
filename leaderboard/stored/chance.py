"""Scores that need no model, stored as runs of each benchmark so that pages show them as any other row.

Chance is what guessing reaches. The other baselines know how often answers are right (`probing.analysis.baselines`).
"""

import pandas as pd
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Benchmark, Model, Run, RunEvent
from leaderboard.stored.scores import replace_scores
from probing.analysis.baselines import MAJORITY, MOST_FREQUENT
from probing.benchmark import Benchmark as Content
from probing.errors import TooLong
from probing.probes import probe_named
from probing.probes.parts import asked_relation, parts
from probing.probes.probe import make
from probing.settings import Settings
from probing.uniform_model import UniformModel

HUB_ID = UniformModel.card.id
# The baselines that guess, of which the first is computed here and the second is that of BEAR's authors.
GUESSES = (HUB_ID, "published/random-baseline")
HUMANS = ("published/human",)  # what annotators reach, where authors publish it
# The metric of each baseline with the name under which its run is stored.
BASELINE_IDS = {"chance": HUB_ID, MAJORITY: "baseline/majority-answer", MOST_FREQUENT: "baseline/most-frequent-answer"}


def store_chance(benchmark: Benchmark, content: Content, settings: Settings) -> Run | None:
    """Store the runs of the baselines of this benchmark version, in place of older ones; return that of chance.

    Returns None where the probe has no options to guess from. A baseline that cannot be computed has no run.
    """
    scores = _scores(content, settings)
    runs = {
        metric: _store(benchmark, hub_id, settings, scores[scores.metric == metric])
        for metric, hub_id in BASELINE_IDS.items()
        if (scores.metric == metric).any()
    }
    return runs.get("chance")


def _store(benchmark: Benchmark, hub_id: str, settings: Settings, scores: pd.DataFrame) -> Run:
    """Store one baseline's run, with its scores under the name of the main metric and without intervals."""
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
        replace_scores(run, scores.assign(metric=benchmark.main_metric, low=None, high=None))
        RunEvent.objects.create(run=run, state=run.state, message="Computed from the answer spaces.")
    return run


def _scores(content: Content, settings: Settings) -> pd.DataFrame:
    """Return the scores of rows that a model without knowledge gives: those of the baselines are among them."""
    probe = make(probe_named(settings.probe), settings.options)
    model = UniformModel()
    rows = [
        row
        for part in parts(content, settings)
        for row in probe.rows(model, asked_relation(content, settings, part.relation), part.template, settings)
        if not isinstance(row, TooLong)  # which no text is for a model without tokens
    ]
    return probe.scores(probe.frame(rows))
