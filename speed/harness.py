"""Compare the model `clozeboard` of lm-evaluation-harness with its model `hf`: `python -m speed.harness`.

Both score the same requests with the same network, SmolLM2-135M in float32, and take turns in this process, each round
in the other order. There are two kinds of tasks: whole statements without a context, as in the harness's task `bear`,
and sentences to be completed after three examples that all requests share. `hf` has the batch size, of a few, that is
fastest on a part of the requests. What counts is the ratio of the processor times, as other programs disturb the clock.

The exit code is 1 where the median ratio of a task is too small, or where answers differ. `--quick` is a short run that
writes no results.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

from probing.errors import ProbingError
from probing.harness.backend import ClozeboardLM
from probing.scoring.causal import CausalModel
from speed.machine import describe
from speed.networks import LoadedNetwork, load_network
from speed.work import Workload, workload

RESULTS = Path(__file__).parent / "results" / "harness.json"
REQUIRED_RATIO = 2.0
CLOSE = 1e-3  # largest difference of log-probabilities that rounding in another batch can make here
BATCH_SIZES = (8, 16, 32, 64)
SAMPLE_STEP = 8  # the batch size is chosen on every eighth request
EXAMPLES = 3
PACKAGES = ("torch", "transformers", "lm_eval")

Answers = list[tuple[float, bool]]


class Cost(NamedTuple):
    """Seconds on the clock and of the processor."""

    clock: float
    processor: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.harness", description=__doc__)
    parser.add_argument("--items", type=int, default=4, help="items of each of three relations")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="make a short run that writes no results")
    options = parser.parse_args()
    items, rounds = (1, 1) if options.quick else (options.items, options.rounds)
    try:
        loaded = load_network("causal")
    except ProbingError as error:
        print(error, file=sys.stderr)
        return 2
    work = workload(items)
    tasks = {"statements": statements(work), "after examples": completions(work)}
    measured = {name: compare(loaded, requests, rounds) for name, requests in tasks.items()}
    print(report(measured))
    if not options.quick:
        scope = {"benchmark": work.benchmark, "relations": work.relations, "items_per_relation": items}
        packages = {name: version(name) for name in PACKAGES}
        results = {
            "machine": describe(),
            "versions": packages,
            "model": loaded.name,
            "work": scope,
            "tasks": measured,
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return complain(missed(measured, {} if options.quick else {"ratio": REQUIRED_RATIO}))


def statements(work: Workload) -> list[Instance]:
    """Return the requests that the harness makes of a task like `bear`: whole statements without a context."""
    texts = (prompt.fill(option).text for prompt, options in (item.request for item in work) for option in options)
    return _requests([("", text) for text in texts])


def completions(work: Workload) -> list[Instance]:
    """Return requests to complete a sentence from its blank on, after examples that all of them share."""
    true = [prompt.fill(options[0]).text for prompt, options in (item.true_statement for item in work.items)]
    examples = "".join(f"{text}\n" for text in true[:: max(len(true) // EXAMPLES, 1)][:EXAMPLES])
    pairs = []
    for item in work:
        prompt, options = item.request
        for option in options:
            statement = prompt.fill(option)
            before = statement.text[: statement.start].rstrip()
            pairs.append((examples + before, statement.text[len(before) :]))
    return _requests([pair for pair in pairs if pair[0]])


def _requests(pairs: Sequence[tuple[str, str]]) -> list[Instance]:
    return [Instance("loglikelihood", {}, pair, number) for number, pair in enumerate(pairs)]


def compare(loaded: LoadedNetwork, requests: Sequence[Instance], rounds: int) -> dict[str, Any]:
    """Measure both models on the requests, and return it in the form of results/harness.json."""
    models = {"hf": best_hf(loaded, requests[::SAMPLE_STEP]), "clozeboard": _clozeboard(loaded)}
    answers: dict[str, Answers] = {}
    positions: dict[str, int] = {}
    costs: dict[str, list[Cost]] = {name: [] for name in models}
    for number in range(rounds):
        for name in list(models) if number % 2 == 0 else list(models)[::-1]:
            answers[name], positions[name], cost = _timed(models[name], requests)
            costs[name].append(cost)
            print(f"Round {number + 1}, {name}: {cost}", flush=True)
    pairs = list(zip(answers["hf"], answers["clozeboard"], strict=True))
    return {
        "requests": len(requests),
        "hf_batch_size": models["hf"].batch_size,
        "positions": positions,
        "seconds": {name: [cost._asdict() for cost in measured] for name, measured in costs.items()},
        "ratios": {kind: _ratios(costs, kind) for kind in Cost._fields},
        "largest_difference": max(abs(first[0] - second[0]) for first, second in pairs),
        "greedy_flags_that_differ": sum(first[1] != second[1] for first, second in pairs),
    }


def best_hf(loaded: LoadedNetwork, sample: Sequence[Instance]) -> HFLM:
    """Return the model `hf` with the batch size, of a few, that is fastest on some of the requests."""
    models = [_hf(loaded, size) for size in BATCH_SIZES]
    seconds = {model.batch_size: _timed(model, sample)[-1].processor for model in models}
    return min(models, key=lambda model: seconds[model.batch_size])


def _hf(loaded: LoadedNetwork, batch_size: int) -> HFLM:
    return HFLM(pretrained=loaded.network, tokenizer=loaded.tokenizer, batch_size=batch_size)


def _clozeboard(loaded: LoadedNetwork) -> ClozeboardLM:
    """Return this project's model, after its self-check, which every run makes once."""
    model = ClozeboardLM(pretrained=loaded.network, tokenizer=loaded.tokenizer)
    assert isinstance(model.scorer, CausalModel), "the network must take a prefix tree"
    return model


def _timed(model: HFLM, requests: Sequence[Instance]) -> tuple[Answers, int, Cost]:
    """Return the answers, how many token positions the network computed for them, padding included, and the cost."""
    positions = 0

    def count(module: torch.nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> None:
        nonlocal positions
        positions += (args[0] if args else inputs["input_ids"]).numel()

    hook = model.model.register_forward_pre_hook(count, with_kwargs=True)
    clock, processor = time.perf_counter(), time.process_time()
    try:
        answers: Answers = model.loglikelihood(list(requests), disable_tqdm=True)
    finally:
        hook.remove()
    return answers, positions, Cost(time.perf_counter() - clock, time.process_time() - processor)


def _ratios(costs: dict[str, list[Cost]], kind: str) -> list[float]:
    pairs = zip(costs["hf"], costs["clozeboard"], strict=True)
    return [round(getattr(hf, kind) / getattr(ours, kind), 2) for hf, ours in pairs]


def report(measured: dict[str, dict[str, Any]]) -> str:
    return "\n".join(
        f"{name}: {task['requests']:,} requests, {median(task['ratios']['processor']):.2f} times hf with batches of "
        f"{task['hf_batch_size']} by processor time, {median(task['ratios']['clock']):.2f} by the clock; positions "
        f"{task['positions']['hf']:,} and {task['positions']['clozeboard']:,}; largest difference "
        f"{task['largest_difference']:.1e}, {task['greedy_flags_that_differ']} greedy flags differ."
        for name, task in measured.items()
    )


def missed(measured: dict[str, dict[str, Any]], required: dict[str, float]) -> list[str]:
    """Return a sentence for every ratio that is too small, and for answers that are not those of `hf`."""
    lines = []
    for name, task in measured.items():
        ratio = median(task["ratios"]["processor"])
        if ratio < required.get("ratio", 0.0):
            lines.append(f"{name}: {ratio:.2f} times hf, must be {required['ratio']:g}.")
        if task["largest_difference"] > CLOSE:
            lines.append(f"{name}: answers differ by {task['largest_difference']:.1e}, may by {CLOSE:g}.")
        if flags := task["greedy_flags_that_differ"]:
            lines.append(f"{name}: {flags} of {task['requests']} greedy flags differ.")
    return lines


def complain(lines: Sequence[str]) -> int:
    """Print what was missed, and return the exit code."""
    for line in lines:
        print(f"Missed: {line}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
