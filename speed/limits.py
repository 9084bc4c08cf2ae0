"""Measure this project's scoring against the limits of the work and of the machine.

The limits are the fewest token positions in which all statements can be scored, the rate of the matrix products alone,
and memory. The cost of larger answer spaces grows with the distinct prefixes, not with the statements.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from probing.arrays import Ids
from probing.catalog import open_benchmark
from probing.scoring.batching import ceiling
from probing.scoring.masked import hidden_with
from probing.scoring.tokens import STATEMENTS_PER_WINDOW, Encoded, Encoder
from speed.machine import shapes_rate
from speed.memory import in_new_process
from speed.networks import LoadedNetwork, NetworkKind, Observation, OptionScores, Ours, load_network
from speed.peers.protocol import high_water_mark
from speed.work import ChoiceItem, Workload, first_statements

MEMORY_STATEMENTS: Mapping[NetworkKind, int] = {"causal": STATEMENTS_PER_WINDOW, "masked": 250}
ESTIMATED_AFTER = 0.1  # the share of the work after which the estimate of the whole time is judged
# Of the question with larger and larger answer spaces.
SIZES = (10, 100, 1000)
TEMPLATE, SUBJECT = "[X] has something to do with [Y].", "Marie Curie"


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


class LowerBounds(NamedTuple):
    """`real`: without padding, statement by statement; `distinct`: each distinct input (or prefix) once."""

    real: int
    distinct: int


def lower_bounds(loaded: LoadedNetwork, workload: Workload) -> LowerBounds:
    encoder = Encoder(loaded.tokenizer, special_tokens=loaded.kind == "masked")
    requests = (item.request for item in workload)
    statements = encoder.encode([prompt.fill(option) for prompt, options in requests for option in options])
    if loaded.kind == "masked":
        return masked_bounds(statements, loaded.tokenizer.mask_token_id)
    return causal_bounds(statements)


def causal_bounds(statements: Sequence[Encoded]) -> LowerBounds:
    """Count token positions of a causal model.

    A prefix counts only if a token follows it, because the logits after the last token are not used.
    """
    prefixes = {s.ids[:length] for s in statements for length in range(1, len(s.ids))}
    return LowerBounds(sum(len(s.ids) for s in statements), len(prefixes))


def masked_bounds(statements: Sequence[Encoded], mask: int) -> LowerBounds:
    """Count token positions of a masked model, which reads each statement once for every hidden token."""
    inputs = [ids for statement in statements for ids in _masked_inputs(statement, mask)]
    return LowerBounds(sum(map(len, inputs)), sum(map(len, set(inputs))))


def _masked_inputs(statement: Encoded, mask: int) -> Iterator[Ids]:
    for column in range(len(statement.scored)):
        hidden = set(hidden_with(statement, column, "within_word_l2r"))
        yield tuple(mask if position in hidden else token for position, token in enumerate(statement.ids))


def observe_operations(system: Ours, workload: Workload) -> tuple[Observation, float]:
    """Observe a system and count the floating-point operations of its matrix products, in 10⁹."""
    with FlopCounterMode(display=False, custom_mapping={torch.ops.mkldnn._linear_pointwise: _linear_flop}) as counter:
        observation = system.observe(workload)
    return observation, counter.get_total_flops() / 1e9


def _linear_flop(states: Sequence[int], weight: Sequence[int], *others: Any, out_shape: Sequence[int], **_: Any) -> int:
    """Return the operations of a linear layer by oneDNN, which torch does not count, from the shapes."""
    return 2 * prod(out_shape) * weight[1]


def accuracy(scores: Sequence[OptionScores], workload: Workload) -> float:
    hits = [own.scores.argmax() == item.right for own, item in zip(scores, workload, strict=True)]
    return float(np.mean(hits))


def estimate_error(system: Ours, workload: Workload) -> float:
    """Return the relative error of the whole time as estimated when a tenth of the statements is done.

    It is measured for full scoring, which reports progress evenly; early decision reports it in steps.
    """
    usage, before, begin = system.model.usage, system.model.usage.statements, time.perf_counter()
    estimates: list[float] = []

    def estimate() -> None:
        share = (usage.statements - before) / workload.statements
        if share >= ESTIMATED_AFTER:
            estimates.append((time.perf_counter() - begin) / share)

    usage.on_work = estimate
    system(workload)
    usage.on_work = None
    return estimates[0] / (time.perf_counter() - begin) - 1


def peak_memory(kind: NetworkKind, system: str, workload: Workload) -> int:
    """Return the bytes that the process takes at most while it works, above what it held with the model loaded.

    `system`: full or decide.
    """
    return in_new_process(_peak_of_this_process, kind, system, workload)


def _peak_of_this_process(kind: NetworkKind, name: str, workload: Workload) -> int:
    loaded = load_network(kind)
    system = Ours(name, loaded.ours(ceiling(loaded.network)), decide=int(name == "decide"))
    with high_water_mark() as peak:
        system(workload)
    return peak.bytes


def growth(loaded: LoadedNetwork, rounds: int) -> list[dict[str, Any]]:
    """Measure one subject with answer spaces of each size; return one row per size."""
    system = Ours("full", loaded.ours())
    system(_one_item(SIZES[0]))  # so that the model's self-check is not timed
    return [_growth_row(loaded, system, _one_item(size), rounds) for size in SIZES]


def _one_item(size: int) -> Workload:
    relations = open_benchmark("starter").relations
    labels = dict.fromkeys(item.subject for relation in relations for item in relation.items)
    options = tuple(labels)[:size]
    return Workload("starter", (), (ChoiceItem(TEMPLATE, SUBJECT, options, 0),))


def _growth_row(loaded: LoadedNetwork, system: Ours, workload: Workload, rounds: int) -> dict[str, Any]:
    observation, bound = system.observe(workload), lower_bounds(loaded, workload)
    seconds = median(_seconds(system, workload) for _ in range(rounds))
    return {
        "options": len(workload.items[0].options),
        "statements": workload.statements,
        "real_positions": bound.real,
        "distinct_prefixes": bound.distinct,
        "positions": observation.positions,
        "seconds": round(seconds, 3),
        "ms_per_statement": round(1000 * seconds / workload.statements, 2),
        "ms_per_prefix": round(1000 * seconds / bound.distinct, 2),
    }


def _seconds(system: Ours, workload: Workload) -> float:
    begin = time.perf_counter()
    system(workload)
    return time.perf_counter() - begin
