"""Run a probe with a model on a benchmark, and write the result.

A folder that holds the result of the same run already is returned as it is; with that of another run it is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.files.folders import alone, refuse_occupied
from probing.kinds import Kind
from probing.language_model import LanguageModel, LoadedModel
from probing.model_source import ModelSource
from probing.part_runner import Observer, Opener, open_model, probe_part
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
from probing.settings import Settings
from probing.time_left import Estimates, PartsProgress, WorkEstimate

NEXT_STEP = "Choose another place or remove it first."
# What makes a run another one; the same weights may lie in another folder, and be measured by newer software.
IDENTITY = (MODEL, BENCHMARK, SETTINGS)


@dataclass(frozen=True)
class Preparation:
    """What a run needs beside its model, so that several models can be measured with one preparation.

    `chosen`: the settings and options that the caller has named for whatever model is asked. `keep_rows`: whether the
    result has its rows.
    """

    plan: Plan
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
        made = plan(content, chosen)
        return cls(made, chosen, keep_tokens, Estimates(made), keep_rows)

    def plan_for(self, kind: Kind) -> Plan:
        """Return the plan for models of this kind; only masked ones have a `pll` that was not chosen for all models."""
        if kind == "masked" or "pll" in self.chosen:
            return self.plan
        pll = self.plan.probe.fixed.get("pll", Settings.pll)
        return replace(self.plan, settings=replace(self.plan.settings, pll=pll))


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
    prepared = Preparation.of(benchmark, keep_tokens, settings_and_options, keep_rows=keep_rows)
    source = ModelSource(model, tokenizer, commit, device, batch_tokens, device_map, attn_implementation)
    source.refuse_bad()
    refuse_bad_out(out, prepared)
    return run_prepared(source, prepared, out, progress=progress)


def run_prepared(
    source: Opener[LanguageModel],
    prepared: Preparation,
    out: str | Path | None,
    *,
    progress: bool,
    title: str = "",
) -> Result:
    """Probe a model with what `Preparation` has checked; the arguments are those of `run`.

    `title`: what the progress bar is called.
    """
    with TemporaryDirectory() as scratch:
        target = Path(out).resolve() if out is not None else Path(scratch) / "result"
        refuse_other_run(target, prepared)
        with alone(target, may_exist=True):
            model, start = open_model(source, prepared.plan.settings, prepared.chosen)
            plan = prepared.plan_for(model.card.kind).with_dtype(model.dtype)
            if earlier := finished_run(target, describe_run(model.card, plan)):
                return earlier
            stored = _open_partial(target, model, plan, prepared.keep_tokens)
            work = prepared.estimates.of(model)
            with progress_bar(*_work_done(stored, work), shown=progress, title=title) as bar:
                progress_of_parts = PartsProgress(work, bar.advance, partial(bar.set_postfix_str, refresh=False))
                _probe_missing(model, start, plan, stored, work, progress_of_parts)
            tokens = [path for part in plan.parts if (path := stored.tokens(part))]
            result = joined_in_folder(stored, plan, target, keep_rows=prepared.keep_rows, tokens=tokens)
            stored.remove()
            # Without `out` the folder is removed now, and the rows are to stay.
            return result if out is not None else replace(result, rows=result.items)


def refuse_bad_out(out: Any, prepared: Preparation) -> None:
    """Raise `BadInput` where the result cannot be written there, or the scores of single tokens cannot be kept."""
    settings = prepared.plan.settings
    if out is not None:
        refuse_no_folder(out)
    if not prepared.keep_tokens:
        return
    if not prepared.keep_rows:
        raise BadInput("The scores of tokens belong to rows, which are not kept.", "Leave out one of the two.")
    if out is None:
        raise BadInput("The scores of tokens are kept in a result folder, and none is named.", "Name one: out=FOLDER.")
    if not isinstance(prepared.plan.probe, MultipleChoice):
        raise BadInput(f"The probe {settings.probe} has no options with tokens to keep.", "Leave out --keep tokens.")
    if settings.decide:
        raise BadInput("With --decide not all tokens are scored, so they cannot be kept.", "Leave out one of the two.")


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
    """Probe and store each part that is not stored yet."""
    missing = {part: estimate for part, estimate in work.items() if not stored.has(part)}
    for part, estimate in missing.items():
        progress.begin(part)
        observer = Observer(estimate, partial(progress.move, part))
        done = probe_part(model, plan, part, start=start, observer=observer, tokens=stored.tokens(part))
        stored.store(part, done.rows, done.record)
        progress.end(part, count_left_out(done.record))


def _work_done(stored: Partial, work: Mapping[Part, WorkEstimate]) -> tuple[float, float]:
    """Return the work of all parts, and that of the parts that are stored already."""
    done = sum(estimate.work for part, estimate in work.items() if stored.has(part))
    return sum(estimate.work for estimate in work.values()), done


def _open_partial(out: Path, model: LoadedModel, plan: Plan, with_tokens: bool) -> Partial:
    card = model.card
    # A served model goes on at its address, although its weights are not pinned: the record says so.
    weights = {"served": card.id} if card.source == "served" else {"commit": card.commit, "files": card.files}
    identity = {"model": weights, "benchmark": plan.benchmark.digest, "settings": plan.settings.digest}
    return Partial.open(out, identity, resume=any(weights.values()), with_tokens=with_tokens)


def refuse_other_run(folder: Path, prepared: Preparation) -> None:
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
    others = [str(difference) for difference in differences(stored, expected, IDENTITY)]
    if others:
        raise BadInput(f"{folder} exists already and holds another run ({'; '.join(others)}).", NEXT_STEP)
