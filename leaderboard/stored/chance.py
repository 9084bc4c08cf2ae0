"""Scores that guessing would reach, stored as a run of each benchmark so that pages show them as any other row."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from django.db import transaction
from django.utils import timezone
from numpy.typing import NDArray

from leaderboard.models import Benchmark, Model, Run, RunEvent
from leaderboard.stored.scores import replace_scores
from probing.benchmark import Benchmark as Content
from probing.language_model import (
    BlankDistribution,
    Continuation,
    ModelCard,
    OptionScores,
    Request,
    Scoring,
    Usage,
)
from probing.probes import probe_named
from probing.probes.probe import make
from probing.settings import Settings, parts

HUB_ID = "baseline/chance"


class UniformModel:
    """The uniform baseline: a language model to which all options are equally likely."""

    card = ModelCard(id=HUB_ID, kind="masked", architecture="", parameters=0)
    usage = Usage()
    device, dtype, batch_tokens = "cpu", "float32", 0

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for _, options in requests:
            count = len(options)
            yield OptionScores((np.zeros(1),) * count, (slice(0, 1),) * count, np.ones(count, dtype=bool))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for _, options in requests:
            yield BlankDistribution((), np.zeros(0), np.zeros(len(options)), np.ones(len(options), dtype=int))

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation("") for _ in texts)

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        return (np.ones(1, np.float32) for _ in texts)


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
        for row in probe.rows(model, content[part.relation], part.template, settings)
    ]
    scores = probe.scores(probe.frame(rows))
    return scores[scores.metric == "chance"].assign(low=None, high=None)
