"""Scores that guessing would reach, stored as a run of each benchmark so that pages show them as any other row."""

import pandas as pd
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Benchmark, Model, Run, RunEvent
from leaderboard.stored.scores import replace_scores
from probing.benchmark import Benchmark as Content
from probing.probes import probe_named
from probing.probes.parts import asked, parts
from probing.probes.probe import make
from probing.settings import Settings
from probing.uniform_model import UniformModel

HUB_ID = UniformModel.card.id


def store_chance(benchmark: Benchmark, content: Content, settings: Settings) -> Run | None:
    """Store the baseline's run of this benchmark version, in place of an older one.

    Returns None where the probe has no options to guess from.
    """
    scores = _chance(content, settings).assign(metric=benchmark.main_metric)
    if scores.empty:
        return None
    model, _ = Model.objects.get_or_create(hub_id=HUB_ID, commit="", source=Model.Source.PUBLISHED)
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
        replace_scores(run, scores)
        RunEvent.objects.create(run=run, state=run.state, message="Computed from the answer spaces.")
    return run


def _chance(content: Content, settings: Settings) -> pd.DataFrame:
    """Return the scores of metric `chance`: the expected main metric of guessing, without an interval."""
    probe = make(probe_named(settings.probe), settings.options)
    model = UniformModel()
    rows = [
        row
        for part in parts(content, settings)
        for row in probe.rows(model, asked(content, settings, part.relation), part.template, settings)
    ]
    scores = probe.scores(probe.frame(rows))
    return scores[scores.metric == "chance"].assign(low=None, high=None)
