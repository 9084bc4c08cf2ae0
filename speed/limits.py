"""Measure this project's scoring against the limits of the work and of the machine."""

from collections.abc import Mapping
from statistics import median
from typing import Any

from probing.scoring.tokens import STATEMENTS_PER_WINDOW
from speed.lower_bounds import lower_bounds
from speed.machine import shapes_rate
from speed.measure import accuracy, estimate_error, observe_operations
from speed.memory import peak_memory
from speed.networks import LoadedNetwork, NetworkKind
from speed.systems import Ours
from speed.work import Workload, first_statements

MEMORY_STATEMENTS: Mapping[NetworkKind, int] = {"causal": STATEMENTS_PER_WINDOW, "masked": 250}


def limits(
    loaded: LoadedNetwork, work: Workload, comparison: Mapping[str, Any], memory_statements: int
) -> dict[str, Any]:
    """Return the fewest positions, the rate of the matrix products, the memory, and the error of the time estimate.

    `comparison`: what was measured of the same work, for the times.
    """
    model = loaded.ours()
    model.check()  # and the trial of products, before anything is counted
    full, decide = Ours("full", model), Ours("decide", model, decide=1)
    observation, full_gflop = observe_operations(full, work)
    rate = shapes_rate(loaded.network, model.batch_tokens)
    gflops = {"full": full_gflop, "decide": observe_operations(decide, work)[1]}
    seconds = {row["system"]: median(row["seconds"]["clock"]) for row in comparison["systems"]}
    part = first_statements(memory_statements)
    return {
        "positions_at_least": lower_bounds(loaded, work)._asdict(),
        "fast": model.use_fast_path,
        "accuracy": round(accuracy(observation.scores, work), 3),
        "padding": round(observation.padding / observation.positions, 3),
        "budget": {"chosen": model.batch_tokens, "ceiling": model.budget.ceiling, "notes": model.usage.notes},
        "shapes_gflops": round(rate, 1),
        "of_shapes_rate": {name: round(gflop / seconds[name] / rate, 2) for name, gflop in gflops.items()},
        "estimate_error": round(estimate_error(full, work), 3),
        "memory": {"statements": part.statements}
        | {name: peak_memory(loaded.kind, name, part) for name in ("full", "decide")},
    }
