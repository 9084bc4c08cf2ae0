"""Probe several models on several benchmarks in one call: each model is loaded once, and what is finished is kept."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.extras import graph_objects, require_scoring
from probing.files.model_files import locate
from probing.model_source import ModelSource
from probing.probes import probe_named
from probing.probes.probe import declared_options
from probing.runner import Preparation, refuse_bad_out
from probing.start_token import several_starts
from probing.studies.arguments import (
    KEPT,
    LOADING,
    MODEL,
    OPTIONS,
    REVISIONS,
    START,
    Entry,
    StudyArguments,
    read_config,
)
from probing.studies.checkpoints import ALL, checkpoints
from probing.studies.executors import opened
from probing.studies.study_results import CONFIG, TASK, Pair, Study, Sweep, joined_pairs, pair_scores
from probing.studies.turns import Reporter, Turn, distribute, take_turns

PLL = "pll"
Named = str | Path | Mapping[str, Any]


def study(
    models: Sequence[Named] = (),
    benchmarks: Sequence[Named | Benchmark] = (),
    *,
    config: str | Path | None = None,
    executor: Executor | str | None = None,
    progress: bool = True,
    **arguments: Any,
) -> Study:
    """Probe several models on several benchmarks; return the scores of all pairs.

    `models`: hub ids, folders or GGUF files. `benchmarks`: slugs, folders or loaded ones. In place of a text, either
    may be a mapping with settings for it alone, as `probing.studies.arguments.Entry` explains.
    `config`: a YAML file with these same arguments by name; arguments of the call come before all that it says.
    `arguments`: `out`, the folder to write; `keep_tokens`, `device` and everything else that `probing.run` takes. An
    option of a probe is for those benchmarks that are asked with this probe. `revisions`, as `probing.sweep` takes
    them, ask each of these checkpoints of a model. Several tokens for `start`, such as "bos,eos", ask with each.
    `executor`: what measures several models at once: an `Executor` of `concurrent.futures`, or the name of one, such as
    processes:4, dask:tcp://host:8786, ray:auto or slurm, whose workers can write to `out`. By default, models are
    measured here. Below `out`, each pair has the folder `<model>/<benchmark>` of a result (`Pair.folder_name`).
    `study.parquet` and `study.csv` have all scores, and `study.yaml` the arguments as a configuration file. The same
    call goes on where it was interrupted. A model that cannot be loaded, or whose run ends with an error, is named in
    `failures`. Raises `BadInput` for bad arguments, before anything is measured.

    Examples:
        >>> import probing
        >>> models, capitals = ["openai-community/gpt2", "distilbert/distilgpt2"], {"relations": ["country_capital"]}
        >>> study = probing.study(models, ["starter"], out="study", sample=2, progress=False, **capitals)
        >>> study.table[["model", "benchmark"]].to_numpy().tolist()
        [['openai-community/gpt2', 'starter'], ['distilbert/distilgpt2', 'starter']]
    """
    checked = study_arguments(models, benchmarks, config, arguments)
    out = checked.folder
    turns = planned_turns(checked, out)
    stored = stored_scores(turns)
    out.mkdir(parents=True, exist_ok=True)
    checked.save(out / CONFIG)
    if progress:
        _print_revisions(checked, turns)
    reporter = Reporter(len(turns), len(turns) - len(stored), "pairs", is_loud=progress, alike=False)
    with opened(executor, out) if isinstance(executor, str) else nullcontext(executor) as workers:
        combined = measured(turns, stored, reporter, bars=progress, executor=workers)
    combined.save(out)
    return combined


def sweep(
    model: str | Path,
    benchmark: str | Path | Benchmark,
    *,
    revisions: str | Sequence[str],
    out: str | Path,
    progress: bool = True,
    **arguments: Any,
) -> Sweep:
    """Probe several checkpoints of a training on one benchmark; return their scores in the order of the training.

    This is a `study` of one model, whose table and folders leave out what is the same for all checkpoints.
    `model`: a hub id with these `revisions` (branches, tags or commits), or a folder whose subfolders they are; "all"
    stands for all branches and tags, or subfolders, whose names state a step, such as `checkpoint-500`.
    `out`: the folder to write: a result folder for each revision, as `probing.run` writes it, a table of all scores
    (`sweep.parquet`) and a chart (`sweep.html`). `progress`: print a line for each revision to the standard error
    output, with the time that is left. `arguments`: `tokenizer`, with which checkpoints in folders are read, and all
    else that `probing.run` takes. Failures, a repeated call and `BadInput` are as for `study`.

    Examples:
        >>> import probing
        >>> capitals = {"relations": ["country_capital"], "progress": False}
        >>> swept = probing.sweep("training", "starter", revisions="all", out="curve", **capitals)
        >>> swept.revisions
        ['checkpoint-0', 'checkpoint-500']
    """
    graph_objects(TASK)  # refuses a missing package before anything is measured
    _refuse_no_sweep(model, arguments)
    models = [{MODEL: model, REVISIONS: revisions}]
    checked = StudyArguments.of({**arguments, "models": models, "benchmarks": [benchmark], "out": out})
    folder = checked.folder
    turns = {
        pair: replace(turn, name=pair.revision, folder=folder / pair.revision.replace("/", "--"))
        for pair, turn in planned_turns(checked, folder).items()
    }
    stored = stored_scores(turns)
    if progress:
        _print_revisions(checked, turns)
    reporter = Reporter(len(turns), len(turns) - len(stored), "revisions", is_loud=progress, alike=True)
    name, slug, _ = next(iter(turns))
    swept = replace(measured(turns, stored, reporter, bars=False).sweep(name, slug), title=f"{model} on {slug}")
    if swept.folders:
        swept.save(folder)
    return swept


def _refuse_no_sweep(model: Any, arguments: Mapping[str, Any]) -> None:
    if lists := sorted({"models", "benchmarks"} & set(arguments)):
        raise BadInput(f"A sweep takes no {lists[0]}.", "Use probing.study for several models or benchmarks.")
    if not isinstance(model, str | Path):
        raise BadInput("A sweep loads its checkpoints itself.", "Give a hub id, or a folder with checkpoints.")


def stored_scores(turns: Mapping[Pair, Turn]) -> dict[Pair, Any]:
    """Return the scores of the pairs that are measured already; refuse folders with something else."""
    return {pair: pair_scores(result, pair) for pair, turn in turns.items() if (result := turn.stored())}


def measured(
    turns: Mapping[Pair, Turn],
    stored: Mapping[Pair, Any],
    reporter: Reporter,
    *,
    bars: bool,
    executor: Executor | None = None,
) -> Study:
    """Measure the pairs that are not stored yet, here or by an executor; return the study of all.

    `bars`: show the progress of each run that is made here.
    """
    tables, failures = dict(stored), dict[Pair, str]()
    missing = {turn.folder: (pair, turn) for pair, turn in turns.items() if pair not in stored}
    waiting = [turn for _, turn in missing.values()]
    if waiting and executor is None:
        require_scoring()
    outcomes = distribute(waiting, reporter, executor) if executor else take_turns(waiting, reporter, bars=bars)
    for turn, result, failure in outcomes:
        pair, _ = missing[turn.folder]
        if result is None:
            failures[pair] = failure
        else:
            tables[pair] = pair_scores(result, pair)
    folders = {pair: turn.folder for pair, turn in turns.items() if pair in tables}
    with_revisions = any(pair.revision for pair in turns)
    return Study(folders, joined_pairs([tables[pair] for pair in folders], with_revisions=with_revisions), failures)


def study_arguments(
    models: Sequence[Named],
    benchmarks: Sequence[Named | Benchmark],
    config: str | Path | None,
    arguments: Mapping[str, Any],
) -> StudyArguments:
    """Return the arguments of a study; those of `study` come before those of the file."""
    named = {"models": models, "benchmarks": benchmarks}
    chosen = {name: value for name, value in named.items() if not isinstance(value, Sequence) or len(value)}
    if config is None:
        return StudyArguments.of({**chosen, **arguments})
    return StudyArguments.of({**read_config(config), **chosen}).overridden(arguments)


def planned_turns(checked: StudyArguments, out: Path) -> dict[Pair, Turn]:
    """Return the run of each pair, those of one model after each other, with its folder below `out`.

    Raises `BadInput` for bad arguments.
    """
    opened = zip(checked.benchmarks, map(_opened, checked.benchmarks), strict=True)
    benchmarks = [(entry.name or content.slug, entry, content) for entry, content in opened]
    models = [model for entry in checked.models for model in _models(entry, checked.values)]
    _refuse_same_names("models", [(model.name, model.revision) for model in models])
    _refuse_same_names("benchmarks", [(name,) for name, _, _ in benchmarks])
    prepare = _Preparations(checked.values)
    turns: dict[Pair, Turn] = {}
    for model in models:
        for benchmark, entry, content in benchmarks:
            pair = Pair(model.name, benchmark, model.revision)
            folder = out / pair.folder_name
            prepared = prepare(content, entry.values, model.values)
            refuse_bad_out(folder, prepared)
            turns[pair] = Turn(str(pair), model.source, prepared, folder, model.fetch)
    prepare.refuse_unused()
    return turns


class _Preparations:
    """What the runs of a study need beside their models, prepared once for all models with equal settings."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._keep_tokens, self._keep_rows = values.get("keep_tokens", False), values.get("keep_rows", True)
        others = ("out", REVISIONS, *KEPT, *LOADING)
        self._values = {name: value for name, value in values.items() if name not in others}
        self._unused = self._values.keys() & OPTIONS
        self._prepared: dict[tuple[int, str], Preparation] = {}

    def __call__(
        self, benchmark: Benchmark, of_benchmark: Mapping[str, Any], of_model: Mapping[str, Any]
    ) -> Preparation:
        """Return the preparation of a benchmark with settings of its own and of a model, before those for all.

        A `pll` of a benchmark is for the masked models alone, so that models of other kinds are not refused for it.
        """
        own = {name: value for name, value in {**of_benchmark, **of_model}.items() if name not in (REVISIONS, *LOADING)}
        probe = probe_named(own.get("probe") or self._values.get("probe") or benchmark.probe)
        usable = declared_options(probe).keys() | (self._values.keys() - OPTIONS)
        self._unused -= usable
        chosen = {name: value for name, value in self._values.items() if name in usable} | own
        key = (id(benchmark), json.dumps(chosen, sort_keys=True, default=str))
        if key not in self._prepared:
            self._prepared[key] = Preparation.of(benchmark, self._keep_tokens, chosen, keep_rows=self._keep_rows)
        prepared = self._prepared[key]
        if PLL in of_benchmark and PLL not in of_model:
            return replace(prepared, chosen={name: value for name, value in chosen.items() if name != PLL})
        return prepared

    def refuse_unused(self) -> None:
        """Raise `BadInput` where an option for all benchmarks is one of no probe that asks them."""
        if self._unused:
            name = min(self._unused)
            raise BadInput(f"No probe of this study has the option {name!r}.", "Leave it out, or name the probe.")


def _opened(entry: Entry) -> Benchmark:
    return entry.content if isinstance(entry.content, Benchmark) else open_benchmark(entry.content)


class _Model(NamedTuple):
    """One model of a study, at one of its revisions if any are named, with the settings for it alone."""

    name: str
    revision: str
    source: ModelSource
    values: Mapping[str, Any]
    fetch: Callable[[], None]


def _models(entry: Entry, values: Mapping[str, Any]) -> Iterator[_Model]:
    """Yield an entry's model with each of its start tokens, and at each of its revisions.

    `values`: those for all models, which come after the entry's own.
    """
    both = {**values, **entry.values}
    variants: list[tuple[str, ModelSource, Callable[[], None]]]
    source = ModelSource(entry.content, **{name: value for name, value in both.items() if name in LOADING})
    if (revisions := both.get(REVISIONS)) is None:
        source.refuse_bad()
        variants = [("", source, partial(_fetch, source))]
    else:
        at_revisions = checkpoints(replace(source, shared={}), revisions)
        variants = [(checkpoint.revision, checkpoint.source, checkpoint.fetch) for checkpoint in at_revisions]
    name = _model_name(entry)
    for revision, its_source, fetch in variants:
        for suffix, own in _starts(both.get(START)):
            yield _Model(name + suffix, revision, its_source, {**entry.values, **own}, fetch)


def _starts(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what each of several start tokens adds to the name and the settings of a model.

    A single one adds nothing: it is a setting like others. What names no tokens is refused with the other settings.
    """
    is_list = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    if not is_list and not (isinstance(value, str) and "," in value):
        return [("", {})]
    starts = several_starts(value)
    return [(f"-start-{start}" if len(starts) > 1 else "", {START: start}) for start in starts]


def _refuse_same_names(noun: str, names: Sequence[tuple[str, ...]]) -> None:
    """Raise `BadInput` where the results of two models or benchmarks would have the same folder."""
    if len({"@".join(name).replace("/", "--") for name in names}) < len(names):
        raise BadInput(f"Two {noun} of the study have the same name.", "Give one of them another: name: NAME.")


def _print_revisions(checked: StudyArguments, turns: Iterable[Pair]) -> None:
    """Say how many checkpoints each model has of which all are to be measured."""
    for entry in checked.models:
        values = {**checked.values, **entry.values}
        if values.get(REVISIONS) == ALL:
            names = {_model_name(entry) + suffix for suffix, _ in _starts(values.get(START))}
            first, *others = dict.fromkeys(pair.revision for pair in turns if pair.model in names)
            several = f"{len(others) + 1:,} checkpoints, from {first} to {others[-1]}" if others else ""
            print(f"{entry.content}: {several or f'one checkpoint, {first}'}.", file=sys.stderr, flush=True)


def _model_name(entry: Entry) -> str:
    """Return what tables call a model: the name that was chosen, else its id, or the last name of a path."""
    parts = [Path(part).resolve().name if Path(part).exists() else part for part in str(entry.content).split("+")]
    return entry.name or "+".join(parts)


def _fetch(source: ModelSource) -> None:
    """Download the files of a model of the hub; loading finds all others where they are."""
    model = str(source.model)
    if "+" not in model and not source.is_served and not Path(model).exists() and not model.endswith(".gguf"):
        locate(model, source.commit)
