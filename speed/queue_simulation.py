"""Simulate the queue with the site's own order of runs: `python -m speed.queue_simulation [--submissions N]`.

The clock is virtual. `leaderboard.turns.in_turn` decides which run a worker takes, as on the site; the same submissions
are also worked off in the order of their arrival, without lanes. Workers do not share runs here: sharing begins when
nothing waits, so it does not change how long anybody waits for a worker.
"""

import argparse
import heapq
import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leaderboard.turns import OpenTurn, in_turn

# Seconds of whole runs of SmolLM2-135M that were measured on two processor cores (docs/performance.md).
MEASURED_SECONDS = (16.0, 19.0, 66.0, 184.0)
LARGE_FACTOR = 10.0  # assumed: a model with ten times the parameters takes ten times as long
LARGE_SHARE = 0.05  # assumed share of large models
DAY = 24 * 3600.0
GROUPS = ("light", "regular", "flood", "large")  # "large": the large models of all submitters
WORKERS = (1, 2, 4, 8, 16, 32, 64)

Order = Callable[[Iterable[OpenTurn], Mapping[str, float]], list[OpenTurn]]


@dataclass(frozen=True)
class Submission:
    """A run that takes this many seconds on one worker. `group` says how many runs its submitter has."""

    number: int
    group: str
    submitter: str
    time: float
    seconds: float
    lane: str


@dataclass
class Outcome:
    """When each submission was begun, by number; and the seconds that workers were idle, in all and beside work."""

    begun: dict[int, float] = field(default_factory=dict)
    idle: float = 0.0
    idle_beside_work: float = 0.0
    end: float = 0.0


@dataclass
class Lane:
    """The runs of a lane: those that wait, by submitter, and those that have a worker."""

    waiting: dict[str, deque[Submission]] = field(default_factory=lambda: defaultdict(deque))
    running: dict[int, OpenTurn] = field(default_factory=dict)
    served: dict[str, float] = field(default_factory=dict)

    def add(self, submission: Submission) -> None:
        self.waiting[submission.submitter].append(submission)

    def take(self, order: Order) -> Submission | None:
        """Take the run whose turn it is. Of each submitter only the first run can be next, so only that is compared."""
        heads = {runs[0].number: runs[0] for runs in self.waiting.values() if runs}
        if not heads:
            return None
        turns = [OpenTurn(head.number, head.submitter, head.time) for head in heads.values()]
        submission = heads[order([*self.running.values(), *turns], self.served)[0].run]
        self.waiting[submission.submitter].popleft()
        self.running[submission.number] = OpenTurn(
            submission.number, submission.submitter, submission.time, begun=True, workers=1
        )
        return submission

    def end(self, submission: Submission, time: float) -> None:
        del self.running[submission.number]
        self.served[submission.submitter] = time

    @property
    def empty(self) -> bool:
        return not any(self.waiting.values())


def submissions(number: int, seed: int = 1) -> list[Submission]:
    """Return a day of submissions: half by one submitter at once, 40 % by 20 regular ones, 10 % by 100 others."""
    chance = random.Random(seed)
    runs = []
    for index in range(number):
        group = "flood" if index % 10 < 5 else "regular" if index % 10 < 9 else "light"
        submitter = {"flood": "flood", "regular": f"regular-{chance.randrange(20)}"}.get(
            group, f"light-{chance.randrange(100)}"
        )
        large = chance.random() < LARGE_SHARE
        seconds = chance.choice(MEASURED_SECONDS) * (LARGE_FACTOR if large else 1)
        time = chance.random() * (60 if group == "flood" else DAY * number / 10_000)
        runs.append(Submission(index, group, submitter, time, seconds, "large" if large else "default"))
    return sorted(runs, key=lambda submission: submission.time)


def served_lanes(workers: int) -> list[tuple[str, ...]]:
    """Return the lanes of each worker: of several, an eighth takes only small models and an eighth large ones first."""
    eighth = max(1, workers // 8) if workers > 1 else 0
    lanes: list[tuple[str, ...]] = [("default",)] * eighth
    lanes += [("large", "default")] * eighth
    return lanes + [("default", "large")] * (workers - 2 * eighth)


def first_come(runs: Iterable[OpenTurn], served: Mapping[str, float]) -> list[OpenTurn]:
    """Return the runs in the order of their submission, whoever submitted them."""
    return sorted(runs, key=lambda turn: (turn.workers, turn.submitted, turn.run))


def simulate(runs: Sequence[Submission], workers: Sequence[tuple[str, ...]], order: Order) -> Outcome:
    """Work off all runs, which are sorted by time; `workers`: the lanes of each worker."""
    lanes: dict[str, Lane] = defaultdict(Lane)
    outcome, now = Outcome(), 0.0
    idle = set(range(len(workers)))
    ends: list[tuple[float, int, int]] = []
    coming, by_number = deque(runs), {run.number: run for run in runs}
    while coming or ends:
        before, now = now, min(coming[0].time if coming else np.inf, ends[0][0] if ends else np.inf)
        outcome.idle += len(idle) * (now - before)
        beside = any(not lanes[lane].empty for worker in idle for lane in workers[worker])
        outcome.idle_beside_work += beside * (now - before)
        while coming and coming[0].time <= now:
            lanes[coming[0].lane].add(coming.popleft())
        while ends and ends[0][0] <= now:
            _, worker, number = heapq.heappop(ends)
            lanes[by_number[number].lane].end(by_number[number], now)
            idle.add(worker)
        for worker in sorted(idle):
            submission = next((run for lane in workers[worker] if (run := lanes[lane].take(order))), None)
            if submission:
                idle.remove(worker)
                outcome.begun[submission.number] = now
                heapq.heappush(ends, (now + submission.seconds, worker, submission.number))
    outcome.end = now
    return outcome


def waits(runs: Sequence[Submission], outcome: Outcome, group: str) -> np.ndarray:
    """Return the seconds that each run of a group, or of the lane "large", waited for a worker."""
    return np.array([outcome.begun[run.number] - run.time for run in runs if group in (run.group, run.lane)])


def fairness(runs: Sequence[Submission], outcome: Outcome, workers: int) -> float:
    """Return Jain's index of what submitters got: 1 if each had its fair share of the workers whenever it had runs.

    The fair share of a moment is the largest equal number of workers for everybody who has that many open runs.
    """
    names, owner = np.unique([run.submitter for run in runs], return_inverse=True)
    changes = []
    for run, place in zip(runs, owner.tolist(), strict=True):
        begun = outcome.begun[run.number]
        changes += [(run.time, place, 1, 0), (begun, place, 0, 1), (begun + run.seconds, place, -1, -1)]
    opened, at_work = [0] * len(names), [0] * len(names)
    fair, had = np.zeros(len(names)), np.zeros(len(names))
    before = 0.0
    for time, place, more_open, more_at_work in sorted(changes):
        if time > before:
            fair += (time - before) * np.array(equal_shares(opened, workers))
            had += (time - before) * np.array(at_work)
            before = time
        opened[place] += more_open
        at_work[place] += more_at_work
    ratios = had[fair > 0] / fair[fair > 0]
    return float(ratios.sum() ** 2 / (len(ratios) * (ratios**2).sum()))


def equal_shares(demands: Sequence[int], workers: float) -> list[float]:
    """Divide the workers equally, with no share above its demand."""
    shares = [0.0] * len(demands)
    left = sorted((number, place) for place, number in enumerate(demands) if number)
    for rank, (number, place) in enumerate(left):
        shares[place] = min(number, workers / (len(left) - rank))
        workers -= shares[place]
    return shares


def compare(runs: Sequence[Submission], workers: int) -> list[str]:
    """Return the cells of a row of the table: fair turns with lanes against one line in the order of arrival."""
    fair = simulate(runs, served_lanes(workers), in_turn)
    one_line = [replace(run, lane="default") for run in runs]
    plain = simulate(one_line, [("default",)] * workers, first_come)
    cells = [str(workers)]
    for group in GROUPS:
        fair_waits, plain_waits = waits(runs, fair, group), waits(runs, plain, group)
        for quantile in (0.5, 0.9):
            fair_wait, plain_wait = np.quantile(fair_waits, quantile), np.quantile(plain_waits, quantile)
            ratio = f" ({fair_wait / plain_wait:.2g})" if plain_wait >= 1 else ""
            cells.append(f"{fair_wait / 60:.1f}{ratio}")
    cells += [f"{fairness(runs, outcome, workers):.2f}" for outcome in (fair, plain)]
    cells += [f"{outcome.idle / (workers * outcome.end):.1%}" for outcome in (fair, plain)]
    return [*cells, f"{fair.idle_beside_work:.0f}"]


HEADINGS = (
    "workers",
    *(f"{group} p{quantile}" for group in GROUPS for quantile in (50, 90)),
    "Jain",
    "Jain, one line",
    "idle",
    "idle, one line",
    "idle beside work (s)",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.queue_simulation", description=__doc__)
    parser.add_argument("--submissions", type=int, default=10_000)
    runs = submissions(parser.parse_args().submissions)
    print(f"{len(runs):,} submissions, {sum(run.seconds for run in runs) / 3600:,.0f} hours of work for one worker.")
    print("Waits in minutes; in brackets the ratio to one line in the order of arrival.\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for workers in WORKERS:
        print(f"| {' | '.join(compare(runs, workers))} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
