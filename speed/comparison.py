"""One network, one piece of work, three systems: the peer, this project in full, this project deciding."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, NamedTuple

from probing.scoring.tokens import STATEMENTS_PER_WINDOW
from speed.lower_bounds import LowerBounds, bounds
from speed.machine import shapes_rate
from speed.measure import (
    Agreement,
    accuracy,
    agreement,
    best_batch,
    counted,
    estimate_error,
    ratio,
    side_by_side,
)
from speed.memory import LARGEST, peak
from speed.networks import Kind, Loaded
from speed.systems import Ours, Peer, Seen, System
from speed.work import Work, window, work

# How many times faster than the peer each system must be.
BARS: Mapping[tuple[Kind, str], float] = {
    ("causal", "full"): 5.0,
    ("causal", "decide"): 12.0,
    ("masked", "full"): 1.5,
    ("masked", "decide"): 5.0,
}
PEER_BATCHES: Mapping[Kind, tuple[int, ...]] = {"causal": (16, 32, 64), "masked": (8, 32)}


@dataclass(frozen=True)
class Plan:
    """Items per relation, rounds of taking turns, and statements while memory is watched, for each kind."""

    items: Mapping[Kind, int]
    rounds: int
    watched: Mapping[Kind, int]


WHOLE = Plan({"causal": 20, "masked": 6}, 3, {"causal": STATEMENTS_PER_WINDOW, "masked": 250})
QUICK = Plan({"causal": 2, "masked": 1}, 1, {"causal": 300, "masked": 60})
SAMPLE = 6  # one question in so many serves to find the peer's batch size
PEER_WATCHED = 100  # statements: the peer's memory does not depend on how many there are


class Side(NamedTuple):
    """One system's share of the comparison."""

    system: System
    seen: Seen
    gflop: float
    seconds: list[float]
    peak: int


def comparison(loaded: Loaded, plan: Plan, square_rate: float) -> dict[str, Any]:
    """Everything that is measured on one network, as results/*.json holds it."""
    asked, model = work(plan.items[loaded.kind]), loaded.ours()
    fast = model.use_fast_path  # the self-check, before anything is counted
    full, decide = Ours("full", model), Ours("decide", model, decide=1)
    peer = _peer(loaded, asked)
    sides = _sides(loaded.kind, [peer, full, decide], asked, plan)
    reference, times = sides[0], {side.system.name: side.seconds for side in sides}
    bound, rates = bounds(loaded, asked), (shapes_rate(loaded.network, model.batch_tokens), square_rate)
    rows = [
        _costs(side, asked, bound, rates)
        | _against(side, reference, ratio(times, "peer", side.system.name), BARS.get((loaded.kind, side.system.name)))
        for side in sides
    ]
    return {
        "model": {"name": loaded.name, "parameters": loaded.network.num_parameters(), "training": loaded.training},
        "work": _description(asked, plan.items[loaded.kind]),
        "fast": fast,
        "accuracy": round(accuracy(sides[1].seen.answers, asked), 3),
        "peer_batch": peer.batch_size,
        "positions_at_least": bound._asdict(),
        "budget": {"chosen": model.batch_tokens, "ceiling": model.budget.ceiling, "notes": model.usage.notes},
        "shapes_gflops": round(rates[0], 1),
        "estimate_error": round(estimate_error(full, asked), 3),
        "rows": rows,
    }


def _peer(loaded: Loaded, asked: Work) -> Peer:
    """The peer with the batch size, of a few, that suits it best on a part of the work."""
    sample, evaluator = replace(asked, questions=asked.questions[::SAMPLE]), loaded.peer()
    peers = [Peer(f"peer, {size} at a time", evaluator, size) for size in PEER_BATCHES[loaded.kind]]
    return replace(best_batch(peers, sample), name="peer")


def _sides(kind: Kind, systems: list[System], asked: Work, plan: Plan) -> list[Side]:
    observed = [counted(system, asked) for system in systems]
    seconds = side_by_side(systems, asked, plan.rounds)
    peaks = [_peak(kind, system, plan.watched[kind]) for system in systems]
    return [
        Side(system, seen, gflop, seconds[system.name], held)
        for system, (seen, gflop), held in zip(systems, observed, peaks, strict=True)
    ]


def _peak(kind: Kind, system: System, statements: int) -> int:
    if isinstance(system, Peer):
        return peak(kind, system.name, window(min(statements, PEER_WATCHED)), system.batch_size)
    return peak(kind, system.name, window(statements), LARGEST)


def _costs(side: Side, asked: Work, bound: LowerBounds, rates: tuple[float, float]) -> dict[str, Any]:
    seconds, positions = median(side.seconds), side.seen.positions
    reached = [side.gflop / seconds / rate for rate in rates]
    return {
        "system": side.system.name,
        "seconds": [round(second, 2) for second in side.seconds],
        "statements_per_second": round(asked.statements / seconds, 1),
        "positions": positions,
        "of_real": round(positions / bound.real, 3),
        "of_distinct": round(positions / bound.distinct, 3),
        "padding": round(side.seen.padding / positions, 3),
        "of_shapes_rate": round(reached[0], 2),
        "of_square_rate": round(reached[1], 2),
        "peak_bytes": side.peak,
    }


def _against(side: Side, reference: Side, times: float, bar: float | None) -> dict[str, Any]:
    agreed: Agreement = agreement(side.seen.answers, reference.seen.answers)
    return {
        "ratio": round(times, 2),
        "must_be": bar,
        "largest_difference": agreed.difference,
        "same_predictions": agreed.predictions,
    }


def _description(asked: Work, items: int) -> dict[str, Any]:
    return {
        "benchmark": asked.benchmark,
        "relations": asked.relations,
        "template": 0,
        "items_per_relation": items,
        "statements": asked.statements,
    }
