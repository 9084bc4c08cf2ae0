"""Model + benchmark + probe -> result: the only place that joins them."""

import platform
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import version
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import torch
from tqdm import tqdm

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import Incomplete
from probing.estimate.work import BAR, estimate_work
from probing.files.folders import alone
from probing.language_model import PLL, LanguageModel, Reduction
from probing.probes import normalised, probe_of
from probing.results.checkpoint import Partial
from probing.results.result import Cost, Result, check_complete, join
from probing.scoring.load import load
from probing.settings import Part, Settings, parts, skipped

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pandas", "pyarrow")


def run(
    model: str | Path | LanguageModel,
    benchmark: str | Path | Benchmark,
    *,
    out: str | Path | None = None,
    probe: str = "",
    relations: str | Sequence[str] = (),
    templates: int | Sequence[int] = (0,),
    limit: int | None = None,
    language: str = "",
    decide: bool = False,
    pll: PLL = "within_word_l2r",
    reduction: Reduction = "sum",
    commit: str = "",
    device: str = "auto",
    dtype: str = "float32",
    batch_tokens: int | None = None,
    seed: int = 0,
    progress: bool = True,
    **probe_options: Any,
) -> Result:
    """Probe a model (hub id, folder, GGUF file or loaded) on a benchmark (slug, folder or loaded).

    `out`: the result folder to write; what an interrupted run has finished lies beside it in `<out>.partial`, and
    the same call goes on from there. Empty `relations` or `templates` mean all, an empty `probe` the benchmark's usual
    one. `probe_options` are the probe's own.
    """
    content = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(benchmark)
    settings = Settings(
        probe=probe or content.probe,
        relations=(relations,) if isinstance(relations, str) else tuple(relations),
        templates=(templates,) if isinstance(templates, int) else tuple(templates),
        limit=limit,
        language=language,
        pll=pll,
        reduction=reduction,
        decide=decide,
        dtype=dtype,
        seed=seed,
        options=probe_options,
    )
    settings = normalised(settings, content)
    with TemporaryDirectory() as scratch:
        target = Path(out).resolve() if out is not None else Path(scratch) / "result"
        with alone(target):
            start, begin = datetime.now(UTC), time.perf_counter()
            loaded = (
                load(str(model), commit=commit, device=device, dtype=dtype, batch_tokens=batch_tokens)
                if isinstance(model, str | Path)
                else model
            )
            load_seconds = time.perf_counter() - begin
            settings = replace(settings, dtype=loaded.dtype)
            partial = _open_partial(target, loaded, content, settings)
            current = _Run(loaded, content, settings, partial, start, load_seconds)
            current.probe(progress)
            result = current.result()
            if out is not None:
                result.save(target)
                partial.remove()
            return result


def probe_part(
    model: LanguageModel,
    benchmark: Benchmark,
    settings: Settings,
    part: Part,
    on_share: Callable[[float], None] = lambda share: None,
) -> pd.DataFrame:
    """The rows of one part; `on_share` hears, batch by batch, what share of its work is done by now."""
    relation = benchmark.select([part.relation], settings.limit)[part.relation]
    probe, usage = probe_of(settings), model.usage
    before, ahead = dict(usage.by_verb), estimate_work(benchmark, settings, part, model.card.kind)

    def tell() -> None:
        on_share(ahead.share({verb: done - before.get(verb, 0.0) for verb, done in usage.by_verb.items()}))

    usage.on_work = tell
    try:
        rows = list(probe.rows(model, relation, part.template, settings))
    finally:
        usage.on_work = None
    if len(rows) != part.items:
        raise Incomplete(
            f"The model answered {len(rows)} of {part.items} items of {part.relation}, template {part.template}.",
            "Run it again; if it stays so, report it.",
        )
    on_share(1)
    return probe.frame(rows)


def record(
    model: LanguageModel,
    benchmark: Benchmark,
    settings: Settings,
    *,
    cost: Cost,
    start: datetime,
    load_seconds: float,
    items: int,
) -> dict[str, Any]:
    """What run.json holds, of one part. Times are UTC; memory is the largest that this process has held, in bytes."""
    return {
        "model": asdict(model.card),
        "benchmark": {"slug": benchmark.slug, "version": benchmark.version, "digest": benchmark.digest},
        "benchmark_notes": list(benchmark.notes),
        "probe": settings.probe,
        "settings": settings.to_json(),
        "settings_digest": settings.digest,
        "seed": settings.seed,
        "language": settings.language,
        "packages": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "device": model.device,
        "dtype": model.dtype,
        "batch": {"tokens": model.batch_tokens, "notes": list(model.usage.notes)},
        "start": start.isoformat(timespec="seconds"),
        "end": datetime.now(UTC).isoformat(timespec="seconds"),
        "timing": {"load_seconds": round(load_seconds, 3), "score_seconds": round(cost.score_seconds, 3)},
        "statements": round(cost.statements),
        "positions": cost.positions,
        "padding": cost.padding,
        "items_done": items,
        "items_skipped": [each._asdict() for each in skipped(benchmark, settings)],
        "peak_memory": peak_memory(model.device),
    }


def merged(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One record from those of the parts, which several processes may have made.

    Costs and the times of loading add up, notes are joined, memory is the largest; the rest is the newest's.
    """
    found = sorted(records, key=lambda each: each["end"])
    whole = dict(found[-1])
    for name in ("statements", "positions", "padding", "items_done"):
        whole[name] = sum(each[name] for each in found)
    loads = {(each["start"], each["timing"]["load_seconds"]) for each in found}
    times = {
        "load_seconds": sum(seconds for _, seconds in loads),
        "score_seconds": sum(each["timing"]["score_seconds"] for each in found),
    }
    whole["start"] = min(start for start, _ in loads)
    whole["timing"] = {name: round(seconds, 3) for name, seconds in times.items()}
    notes = dict.fromkeys(note for each in found for note in each["batch"]["notes"])
    whole["batch"] = {**whole["batch"], "notes": list(notes)}
    whole["peak_memory"] = dict(reduce(or_, (Counter(each["peak_memory"]) for each in found)))
    return whole


def peak_memory(device: str) -> dict[str, int]:
    unit = 1 if sys.platform == "darwin" else 1024
    found = {"process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}
    if device.startswith("cuda"):
        found["device"] = torch.cuda.max_memory_allocated(device)
    return found


@dataclass(frozen=True)
class _Run:
    """A run in progress: what is asked of whom, and the parts that are done."""

    model: LanguageModel
    benchmark: Benchmark
    settings: Settings
    partial: Partial
    start: datetime
    load_seconds: float

    def probe(self, progress: bool) -> None:
        """Probe and store each part that is not there yet; the bar's time left is by expected work."""
        asked, kind = parts(self.benchmark, self.settings), self.model.card.kind
        work = {part: estimate_work(self.benchmark, self.settings, part, kind).positions for part in asked}
        done = [part for part in asked if self.partial.has(part)]
        bar = tqdm(
            total=sum(work.values()),
            initial=sum(work[part] for part in done),
            bar_format=BAR,
            smoothing=0,
            disable=None if progress else True,
        )
        with bar:
            for part in asked:
                if part not in done:
                    bar.set_postfix_str(part.relation, refresh=False)
                    self._probe_part(part, work[part], bar)

    def _probe_part(self, part: Part, work: float, bar: tqdm) -> None:
        """Probe and store a part whose work is so much of the bar."""
        done, before, begin = bar.n, replace(self.model.usage), time.perf_counter()

        def advance(share: float) -> None:
            bar.update(done + share * work - bar.n)

        rows = probe_part(self.model, self.benchmark, self.settings, part, advance)
        cost = Cost.since(before, self.model.usage, time.perf_counter() - begin)
        self.partial.store(part, rows, self._record(cost, len(rows)))

    def _record(self, cost: Cost, items: int) -> dict[str, Any]:
        return record(
            self.model,
            self.benchmark,
            self.settings,
            cost=cost,
            start=self.start,
            load_seconds=self.load_seconds,
            items=items,
        )

    def result(self) -> Result:
        """All parts together, checked to be complete."""
        asked = parts(self.benchmark, self.settings)
        rows = join(self.partial.rows(part) for part in asked)
        check_complete(rows, self.benchmark, self.settings)
        facts = merged(self.partial.record(part) for part in asked)
        return Result(rows, probe_of(self.settings).scores(rows), facts)


def _open_partial(out: Path, model: LanguageModel, benchmark: Benchmark, settings: Settings) -> Partial:
    weights = {"commit": model.card.commit, "files": model.card.files}
    identity = {"model": weights, "benchmark": benchmark.digest, "settings": settings.digest}
    return Partial.open(out, identity, resume=any(weights.values()))
