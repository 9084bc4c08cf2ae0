"""Measurements of one network again and again, with the benchmark prepared once.

The processes of a training, which all have the same weights, share the parts of a run.
"""

import heapq
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, Unpack

import pandas as pd
import torch.distributed

from probing.analysis.breakdowns import OVERALL
from probing.analysis.steps import LAST, gauge
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput, Incomplete, ProbingError, suggestion
from probing.given_settings import GivenSettings
from probing.language_model import LanguageModel
from probing.model_source import ModelSource, refuse_bad_batch, refuse_without_effect
from probing.part_runner import probe_part
from probing.plan import Part, plan
from probing.probes.probe import tag_cells
from probing.results.joining import PartResult, joined
from probing.results.result import Result
from probing.results.run_json import Start
from probing.time_left import Estimates

ROW_DIMENSIONS = ("relation", "template")
ResultT = TypeVar("ResultT")


class MissingMetric(BadInput):
    """A measurement does not give a metric that is to be reported."""


@dataclass(frozen=True)
class Measurement:
    """What one measurement gave: the result, its figures by name, and how long it took."""

    result: Result
    figures: dict[str, float]
    seconds: float


class Monitor:
    """A benchmark and the settings by which a network is measured again and again.

    `benchmark`: slug, folder or loaded. `metrics`: the metrics to report, by default the probe's main metric.
    `breakdowns`: the dimensions, such as "domain", for whose groups the first metric is reported as well.
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    `name`: with what the names of figures begin, by default `<benchmark>_<probe>`.
    `settings_and_options`: as `probing.run` takes them, such as `sample=20` or `decide=True`.
    `curves`: the figures of all measurements so far, by name.
    Raises `BadInput` for bad arguments at once, before any training.

    Examples:
        >>> from probing.monitor import Monitor
        >>> monitor = Monitor("starter", relations=["country_capital"])
        >>> measured = monitor.measure(network, tokenizer, step=500)
        >>> list(measured.figures), measured.result.record["training"]
        (['starter_multiple_choice_accuracy'], {'step': 500})
    """

    def __init__(
        self,
        benchmark: str | Path | Benchmark,
        *,
        metrics: Sequence[str] = (),
        breakdowns: Sequence[str] = (),
        batch_tokens: int | None = None,
        name: str = "",
        **settings_and_options: Unpack[GivenSettings],
    ) -> None:
        content = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(benchmark)
        self.plan = plan(content, settings_and_options)
        self.name = name or f"{self.plan.benchmark.slug}_{self.plan.probe.name}"
        self.metrics = _texts("metrics", metrics) or (self.plan.probe.main_metric,)
        self.breakdowns = _texts("breakdowns", breakdowns)
        self._chosen = settings_and_options
        self._batch_tokens = batch_tokens
        self._model: LanguageModel | None = None
        self._source: tuple[Any, ...] = ()
        self._estimates = Estimates(self.plan)
        self.curves: dict[str, list[float]] = {}
        refuse_bad_batch(batch_tokens)
        self._refuse_unknown_breakdowns()

    def measure(self, network: Any, tokenizer: Any = None, **progress: Any) -> Measurement:
        """Probe the network with its present weights, and leave it as it is.

        Where several processes train together, all of them must call this; each probes a share of the parts, and all
        return the same. `network` and `tokenizer` are as `probing.run` takes them. `progress`: facts about the
        training, such as `step=500`, which are recorded in the result under "training"; a step is the revision as well.
        """
        begin, start = time.perf_counter(), Start(datetime.now(UTC), 0.0)
        model = self._prepared(network, tokenizer)
        plan = self.plan.with_dtype(model.dtype)
        work = self._estimates.of(model)
        results: dict[Part, PartResult] = shared(
            {part: estimate.work for part, estimate in work.items()},
            lambda part: probe_part(model, plan, part, start=start),
        )
        result = joined(results, plan)
        if progress:
            result.record["training"] = progress
        if "step" in progress:
            result.record["model"]["revision"] = f"step{progress['step']}"
        figures = self._figures(result)
        for name, value in figures.items():
            self.curves.setdefault(name, []).append(value)
        return Measurement(result, figures, time.perf_counter() - begin)

    def gauges(self, last: int = LAST) -> pd.DataFrame:
        """Return how much each figure has moved beside its noise (`analysis.steps.gauge`), one row for each."""
        return pd.DataFrame({name: gauge(curve, last) for name, curve in self.curves.items()}).T

    def _prepared(self, network: Any, tokenizer: Any) -> LanguageModel:
        """Return the network as a model; the one of the measurement before if it is the same network."""
        source = (network, tokenizer, getattr(network, "device", None), getattr(network, "dtype", None))
        same = self._source and all(new is old for new, old in zip(source[:2], self._source[:2], strict=True))
        if self._model is None or not same or source[2:] != self._source[2:]:
            named = ModelSource(network, tokenizer, batch_tokens=self._batch_tokens)
            named.refuse_bad()
            self._model, self._source = named.open(self.plan.settings.dtype), source
            refuse_without_effect(self._chosen, self._model)
        return self._model

    def _figures(self, result: Result) -> dict[str, float]:
        """Return the scores to report by names such as `<name>_accuracy` and `<name>_domain_Arts`."""
        scores = result.scores.dropna(subset="value")
        overall = scores[scores["dimension"] == OVERALL].set_index("metric")["value"]
        for metric in self.metrics:
            if metric not in overall:
                needs = self.plan.probe.needs if metric == self.plan.probe.main_metric else ""
                problem = f"There is no metric {metric!r}" + (f": it needs {needs}" if needs else "")
                raise MissingMetric(f"{problem}.", f"Choose metrics from: {', '.join(overall.index)}.")
        figures = {f"{self.name}_{metric}": float(overall[metric]) for metric in self.metrics}
        main = scores[scores["metric"] == self.metrics[0]]
        for dimension in self.breakdowns:
            groups = main[main["dimension"] == dimension]
            figures |= {
                f"{self.name}_{dimension}_{group.replace(' ', '_')}": float(value)
                for group, value in zip(groups["group"], groups["value"], strict=True)
            }
        return figures

    def _refuse_unknown_breakdowns(self) -> None:
        relations = self.plan.benchmark.relations
        tags = dict.fromkeys(
            tag for relation in relations for item in relation.items[:1] for tag in tag_cells(relation, item)
        )
        for dimension in self.breakdowns:
            if dimension not in (*ROW_DIMENSIONS, *tags):
                step = suggestion(dimension, (*ROW_DIMENSIONS, *tags))
                raise BadInput(f"{self.plan.benchmark.slug} has no dimension {dimension!r}.", step)


def measure(
    network: Any,
    benchmark: str | Path | Benchmark,
    *,
    tokenizer: Any = None,
    metrics: Sequence[str] = (),
    breakdowns: Sequence[str] = (),
    batch_tokens: int | None = None,
    name: str = "",
    **settings_and_options: Unpack[GivenSettings],
) -> dict[str, float]:
    """Probe a network once and return its scores by name, ready to be logged.

    The arguments are those of `Monitor`, which a loop that measures often should make once, and of `probing.wrap`.

    Examples:
        >>> from probing.monitor import measure
        >>> figures = measure(network, "starter", tokenizer=tokenizer, relations=["country_capital"])
        >>> list(figures)
        ['starter_multiple_choice_accuracy']
    """
    monitor = Monitor(
        benchmark, metrics=metrics, breakdowns=breakdowns, batch_tokens=batch_tokens, name=name, **settings_and_options
    )
    return monitor.measure(network, tokenizer).figures


def _texts(name: str, values: Any) -> tuple[str, ...]:
    """Return several texts; a single one counts as well."""
    values = (values,) if isinstance(values, str) else values
    if not isinstance(values, Iterable) or isinstance(values, Mapping) or not all(isinstance(v, str) for v in values):
        raise BadInput(f"{name} cannot be {values!r:.80}.", "Give a list of texts.")
    return tuple(dict.fromkeys(values))


def processes() -> tuple[int, int]:
    """Return the rank of this process and how many train together; 0 and 1 for a training in one process."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def agreed(decision: bool) -> bool:
    """Return the decision of the first process in all of them, since their clocks differ."""
    rank, count = processes()
    if count == 1:
        return decision
    decisions: list[Any] = [decision if rank == 0 else None]
    torch.distributed.broadcast_object_list(decisions, src=0)
    return bool(decisions[0])


def shares(work: Mapping[Part, float], count: int) -> list[list[Part]]:
    """Divide parts into shares of about equal work: the largest part first, each to the share with the least work."""
    divided: list[list[Part]] = [[] for _ in range(count)]
    loads = [(0.0, number) for number in range(count)]
    for part in sorted(work, key=lambda part: -work[part]):
        load, number = heapq.heappop(loads)
        divided[number].append(part)
        heapq.heappush(loads, (load + work[part], number))
    return divided


def shared(work: Mapping[Part, float], do: Callable[[Part], ResultT]) -> dict[Part, ResultT]:
    """Do this process's share of the parts, and return the results of all processes.

    Every process must call it with the same parts. An error in one process is raised in all of them, because the
    others would wait for its results for ever.
    """
    rank, count = processes()
    if count == 1:
        return {part: do(part) for part in work}
    own: dict[Part, ResultT] = {}
    error: ProbingError | None = None
    try:
        own = {part: do(part) for part in shares(work, count)[rank]}
    except ProbingError as raised:
        error = raised
    except Exception as raised:  # of any kind, which another process may not be able to read
        error = Incomplete(f"Process {rank} of the training failed to probe: {type(raised).__name__}: {raised}")
    answers: list[Any] = [None] * count
    torch.distributed.all_gather_object(answers, (own, error))
    for _, problem in answers:
        if problem is not None:
            raise problem
    return {part: result for results, _ in answers for part, result in results.items()}
