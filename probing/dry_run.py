"""How long a run will take and how much memory it needs, measured by running it for a few seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Unpack

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.given_settings import GivenSettings, shows_settings
from probing.language_model import LanguageModel
from probing.model_source import ModelSource
from probing.part_runner import probe_part
from probing.plan import Part, Plan
from probing.results.run_json import peak_memory
from probing.runner import PreparedRun
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


@shows_settings
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
    **settings_and_options: Unpack[GivenSettings],
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
    source = ModelSource(model, tokenizer, commit, device, batch_tokens, device_map, attn_implementation)
    prepared = PreparedRun.of(source, benchmark, settings_and_options)
    source.refuse_bad()
    return forecast_prepared(prepared, seconds)


def forecast_prepared(prepared: PreparedRun, seconds: float = SECONDS) -> Forecast:
    """Return the forecast of a run, and let go of its model; `seconds` is as in `forecast`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise BadInput(f"A run cannot be tried for {seconds!r:.80} seconds.", "Give a number, 0 or more.")
    try:
        model, start = prepared.open_model()
        work = prepared.estimates.of(model)
        tried, left = _tried(model, prepared.plan_for(model.card.kind), work, seconds)
    finally:
        prepared.source.close()  # the next run of this model is to tell its time for loading as well
    return Forecast(
        rows=sum(part.items for part in work),
        positions=sum(estimate.work for estimate in work.values()),
        load_seconds=start.load_seconds,
        score_seconds=tried + left,
        tried_seconds=tried,
        memory=peak_memory(model.device),
    )


class _EnoughError(Exception):
    """The run was tried for long enough."""


def _tried(model: LanguageModel, plan: Plan, work: Mapping[Part, WorkEstimate], limit: float) -> tuple[float, float]:
    """Probe parts in a random order for so many seconds, or until all are done.

    Returns the seconds that this took, and those that the rest takes at the same pace: not a number if nothing was
    done, 0 if nothing is left.
    """
    pace, left = Pace(), sum(estimate.work for estimate in work.values())
    begin = updated = perf_counter()

    def advance(done: float) -> None:
        nonlocal updated, left
        now = perf_counter()
        pace.add(done, now - updated)
        updated, left = now, left - done
        if updated - begin > limit:
            raise _EnoughError

    progress = PartsProgress(work, advance)
    try:
        for part in Random(0).sample(list(work), len(work)):
            progress.begin(part)
            probe_part(model, plan, part, work=work[part], on_share=partial(progress.move, part))
    except _EnoughError:
        return updated - begin, left / (pace.rate or float("nan"))
    return updated - begin, 0.0
