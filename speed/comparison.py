"""Compare three systems on one network and workload: the peer, full scoring, and scoring with early decision."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, NamedTuple

from probing.scoring.tokens import STATEMENTS_PER_WINDOW
from speed.lower_bounds import LowerBounds, lower_bounds
from speed.machine import shapes_rate
from speed.measure import (
    accuracy,
    agreement,
    best_batch,
    estimate_error,
    observe_operations,
    ratio,
    side_by_side,
)
from speed.memory import LARGEST_BATCH, peak_memory
from speed.networks import LoadedNetwork, NetworkKind
from speed.systems import Observation, Ours, Peer, System
from speed.work import Workload, first_statements, workload

# How many times faster than the peer each system must be.
REQUIRED_RATIOS: Mapping[tuple[NetworkKind, str], float] = {
    ("causal", "full"): 5.0,
    ("causal", "decide"): 12.0,
    ("masked", "full"): 1.5,
    ("masked", "decide"): 5.0,
}
PEER_BATCHES: Mapping[NetworkKind, tuple[int, ...]] = {"causal": (16, 32, 64), "masked": (8, 32)}


@dataclass(frozen=True)
class BenchmarkPlan:
    """Extent of a run: items per relation, rounds of taking turns, and statements while memory is measured."""

    items: Mapping[NetworkKind, int]
    rounds: int
    memory_statements: Mapping[NetworkKind, int]


WHOLE_PLAN = BenchmarkPlan({"causal": 20, "masked": 6}, 3, {"causal": STATEMENTS_PER_WINDOW, "masked": 250})
QUICK_PLAN = BenchmarkPlan({"causal": 2, "masked": 1}, 1, {"causal": 300, "masked": 60})
SAMPLE_STEP = 6  # the peer's batch size is chosen on every sixth item
PEER_MEMORY_STATEMENTS = 100  # enough, because the peer's memory does not depend on how many there are


class Measurement(NamedTuple):
    """Measurements of one system."""

    system: System
    observation: Observation
    gflop: float
    seconds: list[float]
    peak_bytes: int


def compare_systems(loaded: LoadedNetwork, plan: BenchmarkPlan, square_rate: float) -> dict[str, Any]:
    """Measure everything on one network, and return it in the form of results/*.json."""
    work, model = workload(plan.items[loaded.kind]), loaded.ours()
    fast = model.use_fast_path  # runs the self-check, before anything is counted
    full, decide = Ours("full", model), Ours("decide", model, decide=1)
    peer = _best_peer(loaded, work)
    measurements = _measure_systems(loaded.kind, [peer, full, decide], work, plan)
    bound, rates = lower_bounds(loaded, work), (shapes_rate(loaded.network, model.batch_tokens), square_rate)
    return {
        "model": {"name": loaded.name, "parameters": loaded.network.num_parameters(), "training": loaded.training},
        "work": _description(work, plan.items[loaded.kind]),
        "fast": fast,
        "accuracy": round(accuracy(measurements[1].observation.scores, work), 3),
        "peer_batch": peer.batch_size,
        "positions_at_least": bound._asdict(),
        "budget": {"chosen": model.batch_tokens, "ceiling": model.budget.ceiling, "notes": model.usage.notes},
        "shapes_gflops": round(rates[0], 1),
        "estimate_error": round(estimate_error(full, work), 3),
        "rows": [
            _costs(measurement, work, bound, rates) | _against(measurement, measurements[0], loaded.kind)
            for measurement in measurements
        ],
    }


def _best_peer(loaded: LoadedNetwork, work: Workload) -> Peer:
    """Return the peer with the batch size, of a few, that is fastest on a part of the workload."""
    sample, evaluator = replace(work, items=work.items[::SAMPLE_STEP]), loaded.peer()
    peers = [Peer(f"peer, {size} at a time", evaluator, size) for size in PEER_BATCHES[loaded.kind]]
    return replace(best_batch(peers, sample), name="peer")


def _measure_systems(
    kind: NetworkKind, systems: list[System], work: Workload, plan: BenchmarkPlan
) -> list[Measurement]:
    observed = [observe_operations(system, work) for system in systems]
    seconds = side_by_side(systems, work, plan.rounds)
    peaks = [_peak_bytes(kind, system, plan.memory_statements[kind]) for system in systems]
    return [
        Measurement(system, observation, gflop, seconds[system.name], peak)
        for system, (observation, gflop), peak in zip(systems, observed, peaks, strict=True)
    ]


def _peak_bytes(kind: NetworkKind, system: System, statements: int) -> int:
    if isinstance(system, Peer):
        part = first_statements(min(statements, PEER_MEMORY_STATEMENTS))
        return peak_memory(kind, system.name, part, system.batch_size)
    return peak_memory(kind, system.name, first_statements(statements), LARGEST_BATCH)


def _costs(measurement: Measurement, work: Workload, bound: LowerBounds, rates: tuple[float, float]) -> dict[str, Any]:
    seconds, positions = median(measurement.seconds), measurement.observation.positions
    rate_shares = [measurement.gflop / seconds / rate for rate in rates]
    return {
        "system": measurement.system.name,
        "seconds": [round(second, 2) for second in measurement.seconds],
        "statements_per_second": round(work.statements / seconds, 1),
        "positions": positions,
        "of_real": round(positions / bound.real, 3),
        "of_distinct": round(positions / bound.distinct, 3),
        "padding": round(measurement.observation.padding / positions, 3),
        "of_shapes_rate": round(rate_shares[0], 2),
        "of_square_rate": round(rate_shares[1], 2),
        "peak_bytes": measurement.peak_bytes,
    }


def _against(measurement: Measurement, reference: Measurement, kind: NetworkKind) -> dict[str, Any]:
    name = measurement.system.name
    seconds = {reference.system.name: reference.seconds, name: measurement.seconds}
    agreed = agreement(measurement.observation.scores, reference.observation.scores)
    return {
        "ratio": round(ratio(seconds, reference.system.name, name), 2),
        "must_be": REQUIRED_RATIOS.get((kind, name)),
        "largest_difference": agreed.difference,
        "same_predictions": agreed.predictions,
    }


def _description(work: Workload, items: int) -> dict[str, Any]:
    return {
        "benchmark": work.benchmark,
        "relations": work.relations,
        "template": 0,
        "items_per_relation": items,
        "statements": work.statements,
    }
