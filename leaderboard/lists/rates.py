"""How fast the runs were that finished last, by probe and by the size of the model.

The work of a run is counted in token positions. What one of them costs depends on the probe, because short statements
fill a processor worse than long ones, and grows with the number of parameters.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import NamedTuple

from django.db.models import OuterRef, Q, Sum
from django.utils.functional import cached_property

from leaderboard.data_version import figures_version
from leaderboard.lists.kept_lists import KeptLists
from leaderboard.models import Run, RunPart

NEWEST = 100  # runs that are looked at
RECENT_RUNS = 10  # of each probe


class Rates(NamedTuple):
    """Work per second of quick and of slow runs among those that finished last: the last decile and the first."""

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

    @cached_property
    def _computed(self) -> dict[tuple[str, int | None], Rates | None]:
        """What was computed already: most of the runs that wait are of a few sizes."""
        return {}

    def of(self, probe: str, parameters: int | None = None) -> Rates | None:
        """Return the rates that a model of this size would have; None while no run of the probe has finished.

        If a size is not known, the model counts as equally large.
        """
        key = probe, parameters
        if key not in self._computed:
            self._computed[key] = self._of(probe, parameters)
        return self._computed[key]

    def _of(self, probe: str, parameters: int | None) -> Rates | None:
        rates = [
            run.rate * (run.parameters / parameters if run.parameters and parameters else 1)
            for run in self.runs.get(probe, ())
        ]
        deciles = quantiles(rates, n=10, method="inclusive") if len(rates) > 1 else rates
        return Rates(deciles[-1], deciles[0]) if rates else None


_RATES = KeptLists[RecentRates](most=2)


def recent_rates(lane: str) -> RecentRates:
    """Return the rates of the runs of a lane that finished last. One query, another one where a figure has changed."""
    return _RATES.get(lane, figures_version(), lambda _: rates_by_lane([lane])[lane])


def rates_by_lane(lanes: Collection[str]) -> dict[str, RecentRates]:
    """Map each lane to the rates of the runs that finished last, from start to end. One query."""
    total = RunPart.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(total=Sum("work"))
    measured = Run.objects.filter(
        state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, started__isnull=False
    ).order_by("-finished", "-pk")
    newest = Q()
    for lane in lanes:
        newest |= Q(pk__in=measured.filter(lane=lane).values("pk")[:NEWEST])
    fields = ("lane", "benchmark__probe", "model__parameters", "work", "started", "finished")
    runs: dict[str, dict[str, list[DoneRun]]] = {lane: {} for lane in lanes}
    # They are looked up by their numbers alone; to name their state again would read all runs in it.
    chosen = Run.objects.filter(newest).order_by("-finished", "-pk")
    rows = chosen.annotate(work=total.values("total")).values_list(*fields)
    for lane, probe, parameters, work, started, finished in rows:
        of_probe = runs[lane].setdefault(probe, [])
        if work and started and finished and finished > started and len(of_probe) < RECENT_RUNS:
            of_probe.append(DoneRun(work / (finished - started).total_seconds(), parameters))
    return {lane: RecentRates({probe: done for probe, done in runs[lane].items() if done}) for lane in lanes}
