"""How fast the runs were that finished last, by probe and by the size of the model.

The work of a run is counted in token positions. What one of them costs depends on the probe, because short statements
fill a processor worse than long ones, and grows with the number of parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db.models import Sum
from django.db.models.functions import Coalesce

from leaderboard.lists.runs import measured_runs
from leaderboard.models import Run

NEWEST = 100  # runs that are looked at
RECENT_RUNS = 10  # of each probe
EXTREMES = (0.9, 0.1)  # quantiles of recent rates that make the quickest and the slowest plausible time


class Rates(NamedTuple):
    """Work per second of quick and of slow runs among those that finished last."""

    quick: float
    slow: float


class DoneRun(NamedTuple):
    """The work per second of a finished run, and the number of its model's parameters."""

    rate: float
    parameters: int | None


@dataclass(frozen=True)
class RecentRates:
    """The newest finished runs of a lane by their probe."""

    runs: Mapping[str, Sequence[DoneRun]]

    def of(self, probe: str, parameters: int | None = None) -> Rates | None:
        """Return the rates that a model of this size would have; None while no run of the probe has finished.

        If a size is not known, the model counts as equally large.
        """
        rates = [
            run.rate * (run.parameters / parameters if run.parameters and parameters else 1)
            for run in self.runs.get(probe, ())
        ]
        return Rates(*np.quantile(rates, EXTREMES).tolist()) if rates else None


def recent_rates(lane: str) -> RecentRates:
    """Return the rates of the runs of a lane that finished last, from start to end."""
    newest = measured_runs().filter(lane=lane, started__isnull=False).values("pk")[:NEWEST]
    rows = (
        Run.objects.filter(pk__in=newest)
        .annotate(work=Coalesce(Sum("parts__work"), 0.0))
        .order_by("-finished", "-pk")
        .values_list("benchmark__probe", "model__parameters", "work", "started", "finished")
    )
    runs: dict[str, list[DoneRun]] = {}
    for probe, parameters, work, started, finished in rows:
        if work and started and finished and finished > started and len(runs.setdefault(probe, [])) < RECENT_RUNS:
            runs[probe].append(DoneRun(work / (finished - started).total_seconds(), parameters))
    return RecentRates(runs)
