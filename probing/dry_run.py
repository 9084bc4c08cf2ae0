"""How long a run will take and how much memory it needs, measured by running it for a few seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.language_model import LanguageModel
from probing.model_source import ModelSource
from probing.part_runner import Observer, open_model, probe_part
from probing.plan import Part, Plan
from probing.results.run_json import peak_memory
from probing.runner import Preparation
from probing.time_left import Pace, PartsProgress, WorkEstimate

SECONDS = 20.0  # for which a run is tried


@dataclass(frozen=True)
class Forecast:
    """The time and memory that a run takes on this machine.

    `rows`: of the result, one per item and template. `positions`: the token positions that the network will compute,
    estimated from a sample. `load_seconds`: for loading the model, as it was measured. `score_seconds`: for the rest,
    expected from the pace of the first `tried_seconds`; measured if the whole run took no longer. `memory`: the largest
    memory so far of this process, and of its accelerator if it has one, in bytes.
    """

    rows: int
    positions: float
    load_seconds: float
    score_seconds: float
    tried_seconds: float
    memory: Mapping[str, int]

    def __str__(self) -> str:
        time_left = timedelta(seconds=round(self.score_seconds))
        memory = ", ".join(f"{number / 1e9:.2f} GB ({name})" for name, number in self.memory.items())
        return (
            f"{self.rows:,} rows, about {self.positions:,.0f} token positions; loading took {self.load_seconds:.1f} s, "
            f"scoring will take about {time_left}; memory so far: {memory}"
        )


def forecast(
    model: Any,
    benchmark: str | Path | Benchmark,
    *,
    tokenizer: Any = None,
    commit: str = "",
    device: str = "auto",
    batch_tokens: int | None = None,
    device_map: Any = None,
    attn_implementation: str = "",
    seconds: float = SECONDS,
    **settings_and_options: Any,
) -> Forecast:
    """Return how long `probing.run` with these arguments will take, and how much memory.

    Loads the model, runs for this many `seconds` on parts of the benchmark in a random order, and stores nothing. A
    model of the hub is downloaded, as for the run. Raises what `probing.run` raises.

    Examples:
        >>> import probing
        >>> forecast = probing.forecast("openai-community/gpt2", "starter", relations=["country_capital"], seconds=1)
        >>> forecast.rows, forecast.score_seconds > 0
        (20, True)
    """
    prepared = Preparation.of(benchmark, False, settings_and_options)
    source = ModelSource(model, tokenizer, commit, device, batch_tokens, device_map, attn_implementation)
    source.refuse_bad()
    return forecast_prepared(source, prepared, seconds)


def forecast_prepared(source: ModelSource, prepared: Preparation, seconds: float = SECONDS) -> Forecast:
    """Return the forecast of a run that `Preparation` has checked; `seconds` is as in `forecast`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise BadInput(f"A run cannot be tried for {seconds!r:.80} seconds.", "Give a number, 0 or more.")
    model, start = open_model(source, prepared.plan.settings, prepared.chosen)
    work = prepared.estimates.of(model)
    trial = _Trial(model, prepared.plan_for(model.card.kind), seconds)
    trial.begin(work)
    return Forecast(
        rows=sum(part.items for part in work),
        positions=sum(estimate.work for estimate in work.values()),
        load_seconds=start.load_seconds,
        score_seconds=trial.elapsed + trial.seconds_left,
        tried_seconds=trial.elapsed,
        memory=peak_memory(model.device),
    )


class _EnoughError(Exception):
    """The run was tried for long enough."""


class _Trial:
    """A run that stops after some seconds, and the pace that it had until then."""

    def __init__(self, model: LanguageModel, plan: Plan, limit: float) -> None:
        self._model, self._plan, self._limit = model, plan, limit
        self._pace, self._left = Pace(), 0.0
        self._begin = self._updated = perf_counter()

    @property
    def elapsed(self) -> float:
        return self._updated - self._begin

    @property
    def seconds_left(self) -> float:
        """How long the rest takes at the pace of the trial; not a number if nothing was done."""
        if not self._left:
            return 0.0
        return self._left / (self._pace.rate or float("nan"))

    def begin(self, work: Mapping[Part, WorkEstimate]) -> None:
        """Probe the parts in a random order until the time is up or all are done."""
        self._left, progress = sum(estimate.work for estimate in work.values()), PartsProgress(work, self._advance)
        self._begin = self._updated = perf_counter()
        try:
            for part in Random(0).sample(list(work), len(work)):
                progress.begin(part)
                observer = Observer(work[part], partial(progress.move, part))
                probe_part(self._model, self._plan, part, observer=observer)
            self._left = 0.0
        except _EnoughError:
            pass

    def _advance(self, work: float) -> None:
        """Note how long the work took that was done; raise `_EnoughError` at the limit."""
        now = perf_counter()
        self._pace.add(work, now - self._updated)
        self._updated, self._left = now, self._left - work
        if self.elapsed > self._limit:
            raise _EnoughError
