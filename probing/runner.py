"""Run a probe with a model on a benchmark: the only module that joins the three."""

import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol, cast

from tqdm import tqdm

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput, Incomplete, TooLong
from probing.estimate.progress import progress_bar
from probing.estimate.work import Estimates, WorkEstimate, estimate_work
from probing.files.folders import alone
from probing.language_model import DType, LanguageModel, Usage
from probing.model_source import ModelSource, refuse_without_effect
from probing.probes import probe_of
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.normalise import chosen_settings
from probing.probes.parts import Part, asked_relation, narrowed, parts, skipped
from probing.results.checkpoint import Partial
from probing.results.finished import finished_run, refuse_other_run
from probing.results.joining import PartResult, joined_in_folder
from probing.results.result import Result
from probing.results.skipped_items import count_left_out, no_rows, too_long_items
from probing.results.tokens import write_tokens
from probing.scoring.panics import without_panics
from probing.settings import Settings

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pandas", "pyarrow")


@dataclass(frozen=True)
class Preparation:
    """What a run needs beside its model, so that several models can be measured with one preparation.

    `chosen`: the settings and options that the caller has named. `keep_rows`: whether the result has its rows.
    """

    benchmark: Benchmark
    settings: Settings
    chosen: Mapping[str, Any]
    keep_tokens: bool
    estimates: Estimates
    keep_rows: bool = True

    @classmethod
    def of(
        cls, benchmark: str | Path | Benchmark, keep_tokens: bool, chosen: Mapping[str, Any], *, keep_rows: bool = True
    ) -> "Preparation":
        """Read the benchmark and check the settings; raise `BadInput` where they do not fit."""
        content = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(benchmark)
        settings = chosen_settings(content, chosen)
        return cls(content, settings, chosen, keep_tokens, Estimates(content, settings), keep_rows)


class Start(NamedTuple):
    """When a process began with a run (UTC), and for how long it loaded the model."""

    time: datetime
    load_seconds: float


class Opener(Protocol):
    """Something that a model can be opened from, such as a `ModelSource`."""

    def open(self, dtype: str, quantization: str) -> LanguageModel: ...


def run(
    model: Any,
    benchmark: str | Path | Benchmark,
    *,
    tokenizer: Any = None,
    out: str | Path | None = None,
    commit: str = "",
    device: str = "auto",
    device_map: Any = None,
    attn_implementation: str = "",
    batch_tokens: int | None = None,
    progress: bool = True,
    keep_tokens: bool = False,
    keep_rows: bool = True,
    **settings_and_options: Any,
) -> Result:
    """Probe a model on a benchmark (slug, folder or loaded).

    `model`: a hub id, a folder, a GGUF file, what `probing.load` or `probing.wrap` returns, or a network in memory,
    which is left exactly as it is (`probing.wrap` says which networks are taken).
    `tokenizer`: that of a network in memory; by default the one of the folder or repository that it was loaded from.
    For a folder, another folder or a hub id whose tokenizer is taken, as checkpoints of a training often have none.
    `commit`, `device`, `device_map`, `attn_implementation`: for models that are loaded here, as `probing.load` takes
    them. `batch_tokens`: token positions per batch, calibrated on
    the real work if not given.
    `out`: the result folder to write; what an interrupted run has finished lies beside it in `<out>.partial`, and the
    same call goes on from there. A folder that holds this very run already is not measured again: its result is
    returned. `keep_tokens`: store the score of every token there as well, in tokens.parquet.
    `keep_rows=False`: return and store the scores alone; whatever needs rows then says so.
    `settings_and_options`: the fields of `Settings`, such as `sample=10`, and the probe's own options, such as
    `prompting="few-shot"`. The probe is the benchmark's usual one unless it is named.
    Raises `BadInput` for bad arguments before torch is imported, and what `probing.load` or `probing.wrap` raises.

    Examples:
        >>> import probing
        >>> chosen = {"relations": ["country_capital"], "templates": (0, 1)}
        >>> result = probing.run("openai-community/gpt2", "starter", **chosen, progress=False)
        >>> result.items.shape[0], len(result.items["scores"][0])  # 20 questions in 2 wordings, with 20 options each
        (40, 20)
        >>> result.by("template").index.tolist()
        ['0', '1']
    """
    prepared = Preparation.of(benchmark, keep_tokens, settings_and_options, keep_rows=keep_rows)
    source = ModelSource(model, tokenizer, commit, device, batch_tokens, device_map, attn_implementation)
    source.refuse_bad()
    refuse_bad_out(out, prepared)
    return run_prepared(source, prepared, out, progress=progress)


def run_prepared(
    source: Opener, prepared: Preparation, out: str | Path | None, *, progress: bool, title: str = ""
) -> Result:
    """Probe a model with what `Preparation` has checked; the arguments are those of `run`.

    `title`: what the progress bar is called.
    """
    content, settings = prepared.benchmark, prepared.settings
    with TemporaryDirectory() as scratch:
        target = Path(out).resolve() if out is not None else Path(scratch) / "result"
        refuse_other_run(target, content, settings, with_tokens=prepared.keep_tokens, with_rows=prepared.keep_rows)
        with alone(target, may_exist=True):
            model, start = open_model(source, settings, prepared.chosen)
            settings = replace(settings, dtype=cast(DType, model.dtype))
            if earlier := finished_run(target, _provenance(model, content, settings)):
                return earlier
            partial = _open_partial(target, model, content, settings, prepared.keep_tokens)
            work = prepared.estimates.of(model)
            bar = progress_bar(*_work_done(partial, work), shown=progress, title=title)
            _probe_missing(model, content, settings, start, partial, work, bar)
            tokens = [path for part in parts(content, settings) if (path := partial.tokens(part))]
            result = joined_in_folder(partial, content, settings, target, keep_rows=prepared.keep_rows, tokens=tokens)
            partial.remove()
            # Without `out` the folder is removed now, and the rows are to stay.
            return result if out is not None else replace(result, rows=result.items)


def probe_part(
    model: LanguageModel,
    benchmark: Benchmark,
    settings: Settings,
    part: Part,
    *,
    start: Start | None = None,
    work: WorkEstimate | None = None,
    tokens: Path | None = None,
    on_share: Callable[[float], None] = lambda share: None,
) -> PartResult:
    """Probe one part.

    `on_share` is called after each batch with the share of the part's work that is done. `work`: the estimate that
    this share rests on, computed here if it is not given. `tokens`: the file to write for the scores of tokens.
    """
    start = start or Start(datetime.now(UTC), 0.0)
    settings.refuse_kind(model.card.kind)
    probe_of(settings).refuse_kind(model.card.kind)
    model = model.starting(settings.start)
    relation = asked_relation(benchmark, settings, part.relation)
    probe, usage = probe_of(settings), model.usage
    estimate = work or estimate_work(benchmark, settings, part, model.card.kind)
    before, begin = replace(usage), time.perf_counter()
    with without_panics(model.card.id), model.scoring_state(), _reported(usage, estimate, on_share):
        if tokens and isinstance(probe, MultipleChoice):
            answers = write_tokens(tokens, probe.rows_with_tokens(model, relation, part.template, settings))
        else:
            answers = list(probe.rows(model, relation, part.template, settings))
    if len(answers) != part.items:
        raise Incomplete(
            f"The model answered {len(answers)} of {part.items} items of {part.relation}, template {part.template}.",
            "Run it again, and report it if it happens again.",
        )
    on_share(1)
    cost = _cost(before, usage, start, time.perf_counter() - begin)
    rows = [answer for answer in answers if not isinstance(answer, TooLong)]
    record = _provenance(model, benchmark, settings) | cost | {"items_done": len(rows)}
    record["items_skipped"] += too_long_items(relation, part.template, answers)
    return PartResult(probe.frame(rows) if rows else no_rows(), record)


def open_model(source: Opener, settings: Settings, chosen: Mapping[str, Any]) -> tuple[LanguageModel, Start]:
    """Open the model of a run, and refuse chosen settings that would do nothing on it."""
    begin, start_time = time.perf_counter(), datetime.now(UTC)
    model = source.open(settings.dtype, settings.quantization)
    refuse_without_effect(chosen, model)
    return model, Start(start_time, time.perf_counter() - begin)


def refuse_bad_out(out: Any, prepared: Preparation) -> None:
    """Raise `BadInput` where the result cannot be written there, or the scores of single tokens cannot be kept."""
    settings = prepared.settings
    if out is not None and not isinstance(out, str | Path):
        raise BadInput(f"{out!r:.80} is no folder.", "Give the path of the folder to write, as text or as a Path.")
    if not prepared.keep_tokens:
        return
    if not prepared.keep_rows:
        raise BadInput("The scores of tokens belong to rows, which are not kept.", "Leave out one of the two.")
    if out is None:
        raise BadInput("The scores of tokens are kept in a result folder, and none is named.", "Name one: out=FOLDER.")
    if not isinstance(probe_of(settings), MultipleChoice):
        raise BadInput(f"The probe {settings.probe} has no options with tokens to keep.", "Leave out --keep tokens.")
    if settings.decide:
        raise BadInput("With --decide not all tokens are scored, so they cannot be kept.", "Leave out one of the two.")


@contextmanager
def _reported(usage: Usage, work: WorkEstimate, on_share: Callable[[float], None]) -> Iterator[None]:
    """Call `on_share` after each batch with the share of the work that is done since this block began."""
    before = dict(usage.by_verb)

    def report() -> None:
        on_share(work.share({verb: done - before.get(verb, 0.0) for verb, done in usage.by_verb.items()}))

    usage.on_work = report
    try:
        yield
    finally:
        usage.on_work = None


def _provenance(model: LanguageModel, benchmark: Benchmark, settings: Settings) -> dict[str, Any]:
    """Return which model was probed on which benchmark, how, and with which software."""
    return {
        "model": asdict(model.card),
        "benchmark": {
            **{"slug": benchmark.slug, "version": benchmark.version, "digest": benchmark.digest},
            "first_letters": benchmark.first_letters,
        },
        "benchmark_notes": list(narrowed(benchmark, settings).notes),
        "probe": settings.probe,
        "settings": settings.to_json(),
        "settings_digest": settings.digest,
        "seed": settings.seed,
        "language": settings.language,
        "packages": {"python": platform.python_version()} | _versions(),
        "device": model.device,
        "dtype": model.dtype,
        "batch": {"tokens": model.batch_tokens, "notes": list(model.usage.notes)},
        "items_skipped": [relation._asdict() for relation in skipped(benchmark, settings)],
        "peak_memory": peak_memory(model.device),
    }


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages that can change a number; reading them takes longer than some parts."""
    return {name: version(name) for name in PACKAGES}


def _cost(before: Usage, now: Usage, start: Start, score_seconds: float) -> dict[str, Any]:
    """Return times (UTC), and the work between two readings of a model's usage."""
    return {
        "start": start.time.isoformat(timespec="seconds"),
        "end": datetime.now(UTC).isoformat(timespec="seconds"),
        "timing": {"load_seconds": round(start.load_seconds, 3), "score_seconds": round(score_seconds, 3)},
        "statements": round(now.statements - before.statements),
        "positions": now.positions - before.positions,
        "padding": now.padding - before.padding,
    }


def peak_memory(device: str) -> dict[str, int]:
    """Return the largest memory that this process has held, in bytes, and that on its accelerator."""
    unit = 1 if sys.platform == "darwin" else 1024
    memory = {"process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}
    if device.startswith("cuda"):
        memory["device"] = import_module("torch").cuda.max_memory_allocated(device)
    return memory


def _probe_missing(
    model: LanguageModel,
    benchmark: Benchmark,
    settings: Settings,
    start: Start,
    partial: Partial,
    work: Mapping[Part, WorkEstimate],
    bar: tqdm,
) -> None:
    """Probe and store each part that is not stored yet, with a progress bar that goes by estimated work."""
    missing = {part: estimate for part, estimate in work.items() if not partial.has(part)}
    too_long = 0
    with bar:
        for part, estimate in missing.items():
            bar.set_postfix_str(f"{part.relation}, {too_long} too long" if too_long else part.relation, refresh=False)
            advance = _advance(bar, estimate.work)
            done = probe_part(
                model,
                benchmark,
                settings,
                part,
                start=start,
                work=estimate,
                tokens=partial.tokens(part),
                on_share=advance,
            )
            partial.store(part, done.rows, done.record)
            too_long += count_left_out(done.record)


def _work_done(partial: Partial, work: Mapping[Part, WorkEstimate]) -> tuple[float, float]:
    """Return the work of all parts, and that of the parts that are stored already."""
    done = sum(estimate.work for part, estimate in work.items() if partial.has(part))
    return sum(estimate.work for estimate in work.values()), done


def _advance(bar: tqdm, positions: float) -> Callable[[float], None]:
    """Return the function that moves the bar to a share of the part that is next, which takes so many positions."""
    begin = bar.n
    return lambda share: bar.update(begin + share * positions - bar.n)


def _open_partial(
    out: Path, model: LanguageModel, benchmark: Benchmark, settings: Settings, with_tokens: bool
) -> Partial:
    weights = {"commit": model.card.commit, "files": model.card.files}
    identity = {"model": weights, "benchmark": benchmark.digest, "settings": settings.digest}
    return Partial.open(out, identity, resume=any(weights.values()), with_tokens=with_tokens)
