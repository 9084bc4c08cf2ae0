"""Probe several models on several benchmarks in one call: each model is loaded once, and what is finished is kept."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import BadInput
from probing.extras import graph_objects, require_scoring
from probing.files.configuration import read_config
from probing.given_settings import GivenArguments, StudyArguments, shows_settings
from probing.model_source import ModelSource
from probing.probes import probe_named
from probing.probes.probe import declared_options
from probing.runner import PreparedRun
from probing.start_token import several_starts
from probing.studies.arguments import (
    BENCHMARK,
    KEPT,
    LOADING,
    MODEL,
    NAME,
    OPTIONS,
    REVISIONS,
    START,
    checked_arguments,
    of_all,
    of_one,
    overridden,
    results_folder,
    save_arguments,
)
from probing.studies.checkpoints import ALL, checkpoints, folder_name
from probing.studies.executors import opened
from probing.studies.study_results import CONFIG, TASK, Pair, Study, Sweep, joined_pairs, pair_scores
from probing.studies.study_runs import Reporter, Runs, measured_elsewhere, measured_here, stored_result

PLL = "pll"
Named = str | Path | Mapping[str, Any]


@shows_settings
def study(
    models: Sequence[Named] = (),
    benchmarks: Sequence[Named | Benchmark] = (),
    *,
    config: str | Path | None = None,
    executor: Executor | str | None = None,
    progress: bool = True,
    **arguments: Unpack[StudyArguments],
) -> Study:
    """Probe several models on several benchmarks; return the scores of all pairs.

    `models`: hub ids, folders or GGUF files. `benchmarks`: slugs, folders or loaded ones. In place of a text, either
    may be a mapping with the text under the key `model` or `benchmark`, perhaps a `name` for tables and folders, and
    settings for it alone: `{"model": "gpt2", "name": "gpt2-eos", "start": "eos"}`. Those of a model come before those
    of a benchmark, and both before those of the study.
    `config`: a YAML file with these same arguments by name; arguments of the call come before all that it says.
    `arguments`: `out`, the folder to write; `keep_tokens`, `device` and everything else that `probing.run` takes. An
    option of a probe is for those benchmarks that are asked with this probe. `revisions`, as `probing.sweep` takes
    them, ask each of these checkpoints of a model. Several tokens for `start`, such as "bos,eos", ask with each.
    `executor`: what measures several models at once: an `Executor` of `concurrent.futures`, or the name of one, such as
    processes:4, dask:tcp://host:8786 or slurm, whose workers can write to `out`. By default, models are
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
    out = results_folder(checked)
    runs = planned_runs(checked, out)
    stored = _stored_scores(runs)
    out.mkdir(parents=True, exist_ok=True)
    save_arguments(checked, out / CONFIG)
    if progress:
        _print_revisions(checked, runs)
    reporter = Reporter(len(runs), len(runs) - len(stored), of_sweep=False, is_loud=progress)
    with opened(executor, out) if isinstance(executor, str) else nullcontext(executor) as workers:
        combined = _measured(runs, stored, reporter, bars=progress, executor=workers)
    combined.save(out)
    return combined


@shows_settings
def sweep(
    model: str | Path,
    benchmark: str | Path | Benchmark,
    *,
    revisions: str | Sequence[str],
    out: str | Path,
    progress: bool = True,
    **arguments: Unpack[GivenArguments],
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
    checked = checked_arguments({**arguments, "models": models, "benchmarks": [benchmark], "out": out})
    folder = results_folder(checked)
    planned = planned_runs(checked, folder)
    runs = {pair: replace(run, out=folder / folder_name(pair.revision)) for pair, run in planned.items()}
    stored = _stored_scores(runs)
    if progress:
        _print_revisions(checked, runs)
    reporter = Reporter(len(runs), len(runs) - len(stored), of_sweep=True, is_loud=progress)
    name, slug, _ = next(iter(runs))
    swept = replace(_measured(runs, stored, reporter, bars=False).sweep(name, slug), title=f"{model} on {slug}")
    if swept.folders:
        swept.save(folder)
    return swept


def _refuse_no_sweep(model: Any, arguments: Mapping[str, Any]) -> None:
    if lists := sorted({"models", "benchmarks"} & set(arguments)):
        raise BadInput(f"A sweep takes no {lists[0]}.", "Use probing.study for several models or benchmarks.")
    if not isinstance(model, str | Path):
        raise BadInput("A sweep loads its checkpoints itself.", "Give a hub id, or a folder with checkpoints.")


def _stored_scores(runs: Runs) -> dict[Pair, pd.DataFrame]:
    """Return the scores of the pairs that are measured already; refuse folders with something else."""
    return {pair: pair_scores(result, pair) for pair, run in runs.items() if (result := stored_result(run))}


def _measured(
    runs: Runs,
    stored: Mapping[Pair, pd.DataFrame],
    reporter: Reporter,
    *,
    bars: bool,
    executor: Executor | None = None,
) -> Study:
    """Measure the pairs that are not stored yet, here or by an executor; return the study of all.

    `bars`: show the progress of each run that is made here.
    """
    tables, failures = dict(stored), dict[Pair, str]()
    missing = {pair: run for pair, run in runs.items() if pair not in stored}
    if missing and executor is None:
        require_scoring()
    outcomes = (
        measured_elsewhere(missing, reporter, executor) if executor else measured_here(missing, reporter, bars=bars)
    )
    for pair, result, failure in outcomes:
        if result is None:
            failures[pair] = failure
        else:
            tables[pair] = pair_scores(result, pair)
    folders = {pair: Path(str(run.out)) for pair, run in runs.items() if pair in tables}
    with_revisions = any(pair.revision for pair in runs)
    return Study(folders, joined_pairs([tables[pair] for pair in folders], with_revisions=with_revisions), failures)


def study_arguments(
    models: Sequence[Named],
    benchmarks: Sequence[Named | Benchmark],
    config: str | Path | None,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of a study; those of `study` come before those of the file."""
    named = {"models": models, "benchmarks": benchmarks}
    chosen = {name: value for name, value in named.items() if not isinstance(value, Sequence) or len(value)}
    if config is None:
        return checked_arguments({**chosen, **arguments})
    return overridden(checked_arguments({**read_config(config), **chosen}), arguments)


def planned_runs(arguments: Mapping[str, Any], out: Path) -> dict[Pair, PreparedRun]:
    """Return the run of each pair, those of one model after each other, with its folder below `out`.

    What runs need beside their models is prepared once for all models with equal settings. Raises `BadInput` for bad
    arguments.
    """
    benchmarks = [(_opened(entry), entry) for entry in arguments["benchmarks"]]
    named = [(entry.get(NAME) or content.slug, content, entry) for content, entry in benchmarks]
    models = [model for entry in arguments["models"] for model in _variants(entry, of_all(arguments))]
    _refuse_same_names("models", [(name, revision) for name, revision, _, _ in models])
    _refuse_same_names("benchmarks", [(name,) for name, _, _ in named])
    kept = {name: arguments[name] for name in KEPT if name in arguments}
    prepared: dict[tuple[str, str], PreparedRun] = {}
    runs: dict[Pair, PreparedRun] = {}
    for model, revision, source, of_model in models:
        for benchmark, content, of_benchmark in named:
            pair = Pair(model, benchmark, revision)
            chosen = _chosen(arguments, content, of_benchmark, of_model)
            key = benchmark, json.dumps(chosen, sort_keys=True, default=str)
            if key not in prepared:
                prepared[key] = PreparedRun.of(source, content, chosen, **kept)
            if PLL in of_benchmark and PLL not in of_model:
                chosen.pop(PLL)  # it is for the masked models alone, so that models of other kinds are not refused
            runs[pair] = replace(prepared[key], source=source, chosen=chosen, out=out / pair.folder_name)
            runs[pair].refuse_bad_out()
    _refuse_unused_options(arguments, runs.values())
    return runs


def _opened(entry: Mapping[str, Any]) -> Benchmark:
    content = entry[BENCHMARK]
    return content if isinstance(content, Benchmark) else open_benchmark(content)


def _chosen(
    arguments: Mapping[str, Any],
    benchmark: Benchmark,
    of_benchmark: Mapping[str, Any],
    of_model: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the settings of a pair: those of its model before those of its benchmark, and both before those for all.

    An option for all is left out where the probe does not have it.
    """
    own = _settings({**of_one(of_benchmark), **of_one(of_model)})
    common = _settings(of_all(arguments))
    probe = probe_named(own.get("probe") or common.get("probe") or benchmark.probe)
    usable = declared_options(probe).keys() | (common.keys() - OPTIONS)
    return {name: value for name, value in common.items() if name in usable} | own


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked: the values that do not say which model is loaded, how, and what is kept where."""
    return {name: value for name, value in values.items() if name not in ("out", REVISIONS, *KEPT, *LOADING)}


def _refuse_unused_options(arguments: Mapping[str, Any], runs: Iterable[PreparedRun]) -> None:
    used = {name for run in runs for name in declared_options(probe_named(run.plan.settings.probe))}
    if unused := (of_all(arguments).keys() & OPTIONS) - used:
        raise BadInput(f"No probe of this study has the option {min(unused)!r}.", "Leave it out, or name the probe.")


def _variants(
    entry: Mapping[str, Any], for_all: Mapping[str, Any]
) -> Iterator[tuple[str, str, ModelSource, dict[str, Any]]]:
    """Yield an entry's model at each of its revisions with each of its start tokens: name, revision, source, settings.

    `for_all`: the values for all models, which come after the entry's own.
    """
    own = of_one(entry)
    both = {**for_all, **own}
    source = ModelSource(entry[MODEL], **{name: value for name, value in both.items() if name in LOADING})
    if (revisions := both.get(REVISIONS)) is None:
        source.refuse_bad()
        sources = {"": source}
    else:
        sources = checkpoints(replace(source, shared={}), revisions)
    name = _model_name(entry)
    for revision, its_source in sources.items():
        for suffix, start in _starts(both.get(START)):
            yield name + suffix, revision, its_source, {**own, **start}


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


def _print_revisions(arguments: Mapping[str, Any], pairs: Iterable[Pair]) -> None:
    """Say how many checkpoints each model has of which all are to be measured."""
    for entry in arguments["models"]:
        values = {**of_all(arguments), **entry}
        if values.get(REVISIONS) == ALL:
            names = {_model_name(entry) + suffix for suffix, _ in _starts(values.get(START))}
            first, *others = dict.fromkeys(pair.revision for pair in pairs if pair.model in names)
            several = f"{len(others) + 1:,} checkpoints, from {first} to {others[-1]}" if others else ""
            print(f"{entry[MODEL]}: {several or f'one checkpoint, {first}'}.", file=sys.stderr, flush=True)


def _model_name(entry: Mapping[str, Any]) -> str:
    """Return what tables call a model: the name that was chosen, else its id, or the last name of a path."""
    parts = [Path(part).resolve().name if Path(part).exists() else part for part in str(entry[MODEL]).split("+")]
    return entry.get(NAME) or "+".join(parts)
