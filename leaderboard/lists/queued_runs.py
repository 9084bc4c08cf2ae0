"""The runs that no worker has begun, with the time that each needs. They are kept until the queue changes.

A queue of thousands takes longer to read and to order than the page that shows fifty of them. What changes every few
seconds, the progress of runs that are being measured, is not part of it (`leaderboard/lists/progress.py`).
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F, Sum
from django.utils import timezone

from leaderboard import schedule
from leaderboard.data_version import QUEUE, figures_version
from leaderboard.lists.kept_lists import KeptLists
from leaderboard.lists.pace import RecentRates, rates_by_lane
from leaderboard.lists.runs import State
from leaderboard.models import Run, RunPart
from leaderboard.turns import OpenTurn, in_turn

MOST_LINES = 4  # for as many states of the workers the order of the queue is remembered


class WorkSums(NamedTuple):
    """Sums over the parts of a run of items and of expected work, in all and done so far."""

    items: int = 0
    items_done: int = 0
    work: float = 0.0
    work_done: float = 0.0

    @property
    def work_left(self) -> float:
        return self.work - self.work_done


@dataclass(frozen=True, eq=False)
class QueuedRuns:
    """The runs that no worker has begun, lane by lane, and what decides about their order and their times.

    `served`: when the last run of each submitter ended. `needed`: by number the seconds of each run at the pace of the
    runs like it (`rates`), None where they are not known. `resting`: the runs that wait for the hub or for disk
    space.
    """

    turns: Mapping[str, Sequence[OpenTurn]]
    served: Mapping[str, Mapping[str, float]]
    rates: Mapping[str, RecentRates]
    needed: dict[int, float | None]
    resting: Sequence[int]
    _lines: OrderedDict[tuple[str, tuple[OpenTurn, ...]], list[int]] = field(default_factory=OrderedDict)

    def line(self, lane: str, started: Collection[OpenTurn]) -> list[int]:
        """Return the runs of a lane in turn, those among them that workers have `started`; it must not be changed."""
        key = lane, tuple(started)
        line = self._lines.get(key)
        if line is None:
            begun = {turn.run for turn in started}
            turns = [*(turn for turn in self.turns[lane] if turn.run not in begun), *started]
            line = [turn.run for turn in in_turn(turns, self.served.get(lane, {}))]
            self._lines[key] = line
            while len(self._lines) > MOST_LINES:
                self._lines.popitem(last=False)
        return line


_QUEUED = KeptLists[QueuedRuns](most=1)


def queued_runs() -> QueuedRuns:
    """Return the runs of all lanes. One query, and four or five more where the queue has changed since."""
    return _QUEUED.get("queue", figures_version(QUEUE), lambda _: _read())


def _read() -> QueuedRuns:
    of_run = ("pk", "state", "lane", "submitter", "seconds")
    fields = (*of_run, "benchmark__probe", "model__kind", "model__parameters", "waiting_work")
    runs = Run.objects.filter(state__in=(State.QUEUED, State.WAITING), lane__in=schedule.LANES).order_by("pk")
    rows = list(runs.annotate(seconds=schedule.EpochSeconds("created")).values_list(*fields))
    sums = work_sums([pk for pk, state, *_, work in rows if work is None and state == State.QUEUED])
    rates = rates_by_lane(schedule.LANES)
    turns: dict[str, list[OpenTurn]] = {lane: [] for lane in schedule.LANES}
    needed: dict[int, float | None] = {}
    like: dict[tuple[str, str, str, int | None, float], float | None] = {}  # most runs share their time with others
    resting = []
    for pk, state, lane, submitter, seconds, probe, kind, parameters, waiting_work in rows:
        if state == State.WAITING:
            resting.append(pk)
            continue
        turns[lane].append(OpenTurn(pk, submitter, seconds))
        work = sums[pk].work_left if waiting_work is None else waiting_work
        key = lane, probe, kind, parameters, work
        if key not in like:
            like[key] = rates[lane].seconds(work, probe, kind, parameters)
        needed[pk] = like[key]
    queued = QueuedRuns(turns, schedule.last_served(schedule.LANES), rates, needed, resting)
    for lane, started in started_by_lane(schedule.LANES).items():
        queued.line(lane, started)  # it is remembered for the next reader
    return queued


def started_by_lane(lanes: Collection[str]) -> dict[str, list[OpenTurn]]:
    """Map each lane to the runs that a worker has begun. One query."""
    started: dict[str, list[OpenTurn]] = {lane: [] for lane in lanes}
    for lane, turn in schedule.started_turns(lanes, timezone.now()):
        started[lane].append(turn)
    return started


def work_sums(runs: Sequence[int]) -> dict[int, WorkSums]:
    """Return the sums over the parts of each run; those of a run without parts are 0. One query if there are runs."""
    if not runs:
        return {}
    done = F("work") * F("items_done") / F("items")
    sums = {"all_items": Sum("items"), "all_done": Sum("items_done"), "all_work": Sum("work"), "work_done": Sum(done)}
    rows = RunPart.objects.filter(run__in=runs).order_by().values("run").annotate(**sums).values_list("run", *sums)
    return dict.fromkeys(runs, WorkSums()) | {pk: WorkSums(*values) for pk, *values in rows}
