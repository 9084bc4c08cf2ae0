"""Run a probe with a model on a benchmark, and write the result.

A folder that holds the result of the same run already is returned as it is; with that of another run it is refused.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.files.folders import alone, refuse_occupied
from probing.given_settings import GivenSettings, shows_settings
from probing.kinds import Kind
from probing.language_model import KnownModel, LanguageModel
from probing.model_source import ModelSource, refuse_without_effect
from probing.part_runner import probe_part
from probing.plan import Part, Plan, plan
from probing.probes.multiple_choice import MultipleChoice
from probing.progress_bar import progress_bar
from probing.results.checkpoint import Partial
from probing.results.compared import BENCHMARK, MODEL, SETTINGS, differences
from probing.results.completeness import count_left_out
from probing.results.joining import joined_in_folder
from probing.results.result import RECORD, Result
from probing.results.rows import keeps_rows
from probing.results.run_json import Start, describe_run
from probing.results.token_scores import TOKENS_FILE
from probing.settings import AUTO_DTYPE, Settings
from probing.time_left import Estimates, PartsProgress, WorkEstimate

NEXT_STEP = "Choose another place or remove it first."
# What makes a run another one; the same weights may lie in another folder, and be measured by newer software.
IDENTITY = (MODEL, BENCHMARK, SETTINGS)


@dataclass(frozen=True)
class PreparedRun:
    """A run whose benchmark is read and whose settings are checked, before its model is opened.

    `chosen`: the settings and options that the caller has named for whatever model is asked. `out`: the folder for the
    result, None where it is kept in memory alone. `keep_tokens`, `keep_rows`: what the result has. Runs of several
    models with equal settings share a `plan` and its `estimates`.
    """

    source: ModelSource
    plan: Plan
    chosen: Mapping[str, Any]
    estimates: Estimates
    out: str | Path | None = None
    keep_tokens: bool = False
    keep_rows: bool = True

    @classmethod
    def of(
        cls, source: ModelSource, benchmark: str | Path | Benchmark, chosen: Mapping[str, Any], **kept: Any
    ) -> "PreparedRun":
        """Read the benchmark and check the settings; raise `BadInput` where they do not fit. `kept`: further fields."""
        content = benchmark if isinstance(benchmark, Benchmark) else open_benchmark(benchmark)
        made = plan(content, chosen)
        return cls(source, made, chosen, Estimates(made), **kept)

    def plan_for(self, kind: Kind) -> Plan:
        """Return the plan for models of this kind; only masked ones have a `pll` that was not chosen for all models."""
        if kind == "masked" or "pll" in self.chosen:
            return self.plan
        pll = self.plan.probe.fixed.get("pll", Settings.pll)
        return replace(self.plan, settings=replace(self.plan.settings, pll=pll))

    def open_model(self) -> tuple[LanguageModel, Start]:
        """Open the model, and refuse chosen settings that would do nothing on it."""
        begin, start_time = time.perf_counter(), datetime.now(UTC)
        model = self.source.open(self.plan.settings.dtype, self.plan.settings.quantization)
        refuse_without_effect(self.chosen, model)
        return model, Start(start_time, time.perf_counter() - begin)

    def _finished_with_these_files(self, folder: Path) -> Result | None:
        """Return the result in the folder if the model's files tell that it is this run's, before torch is imported.

        Which number format `auto` stands for is known only once the model is loaded.
        """
        if not (folder / RECORD).is_file() or self.plan.settings.dtype == AUTO_DTYPE:
            return None
        model = self.source.identity()
        if model is None:
            return None
        result, benchmark = Result.load(folder), self.plan.benchmark
        expected = {
            MODEL: model,
            BENCHMARK: {"slug": benchmark.slug, "version": benchmark.version},
            SETTINGS: self.plan_for(result.record[MODEL].get("kind")).settings.to_json(),
        }
        return None if differences(result.record, expected, IDENTITY) else result

    def refuse_bad_out(self) -> None:
        """Raise `BadInput` where the result cannot be written, or the scores of single tokens cannot be kept."""
        settings = self.plan.settings
        if self.out is not None:
            refuse_no_folder(self.out)
        if not self.keep_tokens:
            return
        if not self.keep_rows:
            raise BadInput("The scores of tokens belong to rows, which are not kept.", "Leave out one of the two.")
        if self.out is None:
            message = "The scores of tokens are kept in a result folder, and none is named."
            raise BadInput(message, "Name one: out=FOLDER.")
        if not isinstance(self.plan.probe, MultipleChoice):
            message = f"The probe {settings.probe} has no options with tokens to keep."
            raise BadInput(message, "Leave out --keep tokens.")
        if settings.decide:
            message = "With --decide not all tokens are scored, so they cannot be kept."
            raise BadInput(message, "Leave out one of the two.")

    def measure(self, *, progress: bool, title: str = "") -> Result:
        """Probe the model, or what is missing of an interrupted run; return the result.

        `title`: what the progress bar is called.
        """
        with TemporaryDirectory() as scratch:
            target = Path(self.out).resolve() if self.out is not None else Path(scratch) / "result"
            refuse_other_run(target, self)
            with alone(target, may_exist=True):
                if earlier := self._finished_with_these_files(target):
                    return earlier
                model, start = self.open_model()
                plan = self.plan_for(model.card.kind).with_dtype(model.dtype)
                if earlier := finished_run(target, describe_run(model.card, plan)):
                    return earlier
                stored = _open_partial(target, model, plan, self.keep_tokens)
                work = self.estimates.of(model)
                with progress_bar(*_work_done(stored, work), shown=progress, title=title) as bar:
                    progress_of_parts = PartsProgress(work, bar.advance, partial(bar.set_postfix_str, refresh=False))
                    _probe_missing(model, start, plan, stored, work, progress_of_parts)
                tokens = [path for part in plan.parts if (path := stored.tokens(part))]
                result = joined_in_folder(stored, plan, target, keep_rows=self.keep_rows, tokens=tokens)
                stored.remove()
                # Without `out` the folder is removed now, and the rows are to stay.
                return result if self.out is not None else replace(result, rows=result.items)


@shows_settings
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
    **settings_and_options: Unpack[GivenSettings],
) -> Result:
    """Probe a model on a benchmark (slug, folder or loaded).

    `model`, `tokenizer`, `commit`, `device`, `device_map`, `attn_implementation` and `batch_tokens` say which model is
    probed and how it is loaded, as `probing.model_source.ModelSource` explains.
    `out`: the result folder to write; what an interrupted run has finished lies beside it in `<out>.partial`, and the
    same call goes on from there. A folder that holds this very run already is not measured again: its result is
    returned. `keep_tokens`: store the score of every token there as well, in tokens.parquet.
    `keep_rows=False`: return and store the scores alone; whatever needs rows then says so.
    `settings_and_options`: the fields of `probing.settings.Settings`, such as `sample=10`, and the probe's own
    options, such as `prompting="few-shot"`. The probe is the benchmark's usual one unless it is named.
    Raises `BadInput` for bad arguments before torch is imported, and what `probing.load` or `probing.wrap` raises.

    Examples:
        >>> import probing
        >>> chosen = {"relation": ["country_capital"], "template": (0, 1)}
        >>> result = probing.run("openai-community/gpt2", "starter", **chosen, progress=False)
        >>> result.items.shape[0], len(result.items["scores"][0])  # 20 questions in 2 wordings, with 20 options each
        (40, 20)
        >>> result.by("template").index.tolist()
        ['0', '1']
    """
    source = ModelSource(model, tokenizer, commit, device, batch_tokens, device_map, attn_implementation)
    kept = {"out": out, "keep_tokens": keep_tokens, "keep_rows": keep_rows}
    prepared = PreparedRun.of(source, benchmark, settings_and_options, **kept)
    source.refuse_bad()
    prepared.refuse_bad_out()
    return prepared.measure(progress=progress)


def refuse_no_folder(out: Any) -> None:
    """Raise `BadInput` where this cannot be the folder to write."""
    if not isinstance(out, str | Path):
        raise BadInput(f"{out!r:.80} is no folder.", "Give the path of the folder to write, as text or as a Path.")


def _probe_missing(
    model: LanguageModel,
    start: Start,
    plan: Plan,
    stored: Partial,
    work: Mapping[Part, WorkEstimate],
    progress: PartsProgress,
) -> None:
    missing = {part: estimate for part, estimate in work.items() if not stored.has(part)}
    for part, estimate in missing.items():
        progress.begin(part)
        moved = partial(progress.move, part)
        done = probe_part(model, plan, part, start=start, work=estimate, on_share=moved, tokens=stored.tokens(part))
        stored.store(part, done.rows, done.record)
        progress.end(part, count_left_out(done.record))


def _work_done(stored: Partial, work: Mapping[Part, WorkEstimate]) -> tuple[float, float]:
    done = sum(estimate.work for part, estimate in work.items() if stored.has(part))
    return sum(estimate.work for estimate in work.values()), done


def _open_partial(out: Path, model: KnownModel, plan: Plan, with_tokens: bool) -> Partial:
    card = model.card
    # A served model goes on at its address, although its weights are not pinned: the record says so.
    weights = {"served": card.id} if card.source == "served" else {"commit": card.commit, "files": card.files}
    identity = {"model": weights, "benchmark": plan.benchmark.digest, "settings": plan.settings.digest}
    return Partial.open(out, identity, resume=any(weights.values()), with_tokens=with_tokens)


def refuse_other_run(folder: Path, prepared: PreparedRun) -> None:
    """Raise `BadInput` where something else is at that place, as far as this can be told without the model."""
    if not (folder / RECORD).is_file():
        refuse_occupied(folder)
        return
    stored = Result.load(folder).record
    plan = prepared.plan_for(stored["model"].get("kind"))
    settings = plan.settings
    dtype = {"dtype": stored["settings"].get("dtype", settings.dtype)}  # that of a model in memory is not known yet
    expected = {
        "benchmark": {"slug": plan.benchmark.slug, "version": plan.benchmark.version},
        "settings": settings.to_json() | dtype,
    }
    _refuse_differences(folder, stored, expected)
    if prepared.keep_rows and not keeps_rows(stored):
        raise BadInput(f"{folder} exists already, without its rows.", NEXT_STEP)
    if prepared.keep_tokens and not (folder / TOKENS_FILE).is_file():
        raise BadInput(f"{folder} exists already, without the scores of single tokens.", NEXT_STEP)


def finished_run(folder: Path, record: Mapping[str, Any]) -> Result | None:
    """Return the result in the folder if it is that of the run that this record begins, or None without a result.

    Raises `BadInput` if it is that of another run, or if it cannot be told.
    """
    if not (folder / RECORD).is_file():
        return None
    result = Result.load(folder)
    card = record["model"]
    _refuse_differences(folder, result.record, record)
    if not (card["commit"] or card["files"]):
        raise BadInput(
            f"{folder} exists already, and {card['id']} does not say whether its weights are still the same.",
            NEXT_STEP,
        )
    return result


def _refuse_differences(folder: Path, stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    if others := differences(stored, expected, IDENTITY):
        raise BadInput(f"{folder} exists already and holds another run ({'; '.join(others)}).", NEXT_STEP)
