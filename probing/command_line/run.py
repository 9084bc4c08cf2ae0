"""The command `run`: probe a model on a benchmark, or several models on several benchmarks."""

import argparse
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import probing
from probing.analysis.breakdown import OVERALL
from probing.analysis.details import without_details
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.program import add_model, print_by_dimension, print_lines, print_table, program
from probing.command_line.settings_flags import KEPT, add_settings, given_settings
from probing.command_line.study import run_study
from probing.dry_run import SECONDS, Forecast
from probing.errors import BadInput, Incomplete
from probing.model_source import ATTENTION, ModelSource
from probing.probes import probe_named
from probing.probes.normalise import chosen_settings
from probing.probes.probe import declared_options, parse
from probing.results.presentation import missing_main_score
from probing.results.result import RECORD, Result
from probing.results.skipped_items import skipped_in_words
from probing.settings import Settings
from probing.start_token import AUTO, normalised_start
from probing.studies.arguments import LOADING
from probing.sweeps.sweep import CHART, TABLE, Sweep


def add_run(parser: argparse.ArgumentParser) -> None:
    add_model(parser, several=True)
    parser.add_argument(
        "--benchmark",
        action="append",
        default=[],
        metavar="SLUG_OR_FOLDER",
        help="slug, folder or archive; may be repeated, and so may MODEL: each pair has a folder below --out",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="YAML file with models, benchmarks and settings; flags come before it"
    )
    parser.add_argument(
        "--revisions",
        metavar="A,B",
        help="sweep over these revisions of a hub model or subfolders of a folder; all: all that state a step",
    )
    parser.add_argument("--tokenizer", metavar="MODEL", help="hub id or folder of the tokenizer that a folder lacks")
    parser.add_argument("--attn-implementation", choices=ATTENTION, default="", help="default: as transformers chooses")
    add_settings(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--keep",
        choices=KEPT,
        default="rows",
        help="what to store beside scores: rows (default), tokens: their log-probabilities as well, or none",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=f"try the run for {SECONDS:.0f} s and print how long it will take, and how much memory; write nothing",
    )
    parser.set_defaults(command=partial(run, parser))


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Probe one model on one benchmark, or more of either, or only say how long that will take."""
    needed = {"MODEL": arguments.model, "--benchmark": arguments.benchmark, "--out": arguments.out or arguments.dry_run}
    missing = [name for name, value in needed.items() if not value]
    if missing and not arguments.config:
        parser.error(f"the following arguments are required: {', '.join(missing)}")
    if arguments.config or max(len(arguments.model), len(arguments.benchmark)) > 1:
        if arguments.revisions is not None:
            raise BadInput("A sweep takes one model and one benchmark.", "Make a sweep of each.")
        run_study(arguments, given_settings(arguments), _chosen_loading(arguments))
        return
    arguments.model, arguments.benchmark = arguments.model[0], arguments.benchmark[0]
    run_model(arguments)


def run_model(arguments: argparse.Namespace) -> None:
    """Probe the model once, at each of several revisions, or with each of several start tokens (`--start bos,eos`)."""
    benchmark, settings = open_benchmark(arguments.benchmark), given_settings(arguments)
    probe = probe_named(settings.get("probe", benchmark.probe))
    settings |= parse(declared_options(probe), arguments.set, f"The probe {probe.name}")
    starts = list(dict.fromkeys(normalised_start(start) for start in settings.pop("start", AUTO).split(",")))
    if arguments.dry_run:
        print(_forecast(arguments, benchmark, settings, starts))
    elif arguments.revisions is not None:
        run_sweep(arguments, benchmark, settings, starts)
    else:
        run_starts(arguments, benchmark, settings, starts)


def _forecast(
    arguments: argparse.Namespace, benchmark: Benchmark, settings: dict[str, Any], starts: list[str]
) -> Forecast:
    if arguments.revisions is not None or len(starts) > 1:
        raise BadInput("A dry run is one of a single run.", "Leave out --revisions, and name one start token.")
    expected: Forecast = probing.forecast(
        arguments.model, benchmark, **_loading(arguments), **settings, start=starts[0]
    )
    return expected


def run_starts(
    arguments: argparse.Namespace, benchmark: Benchmark, settings: dict[str, Any], starts: list[str]
) -> None:
    """Probe the model with each start token, and print the overall scores."""
    folders = {start: arguments.out / f"start-{start}" if len(starts) > 1 else arguments.out for start in starts}
    model, options, kept = arguments.model, _loading(arguments), KEPT[arguments.keep]
    if len(starts) > 1 and "," not in arguments.device:  # several devices load the model for each run
        chosen_settings(benchmark, settings)  # refuses bad values before the model is loaded
        options["tokenizer"] = options["tokenizer"] or ""
        options |= {name: settings.get(name, getattr(Settings, name)) for name in ("dtype", "quantization")}
        model, options = probing.load(model, **options), {}
    for start, folder in folders.items():
        finished = (folder / RECORD).is_file()
        # By way of the package, so that the other commands do not wait for torch.
        result: Result = probing.run(model, benchmark, out=folder, **kept, **options, **settings, start=start)
        if len(starts) > 1:
            print(f"\nStart token {start}:")
        if finished:
            print(f"{folder} holds this very run already; nothing was measured again.")
        scores = without_details(result.scores)
        print_by_dimension(scores[scores["dimension"] == OVERALL])
        print_lines("Missing", missing_main_score(result.record["probe"], result.scores))
        print_lines("Left out", skipped_in_words(result.record))
        print(f"\nAll scores: {program()} show {folder}")
    if len(starts) == 2:
        print(f"Differences: {program()} compare {' '.join(map(str, folders.values()))}")


def run_sweep(arguments: argparse.Namespace, benchmark: Benchmark, settings: dict[str, Any], starts: list[str]) -> None:
    """Probe the model at each revision and print the main metric of each; raise `Incomplete` where some failed."""
    if arguments.commit:
        raise BadInput("A sweep has a commit of its own for each revision.", "Leave out --commit or --revisions.")
    if len(starts) > 1:
        raise BadInput("A sweep takes one start token.", "Make one sweep for each start token.")
    options = {name: value for name, value in _loading(arguments).items() if name != "commit"} | settings
    swept: Sweep = probing.sweep(
        arguments.model,
        benchmark,
        revisions=arguments.revisions,
        out=arguments.out,
        **KEPT[arguments.keep],
        start=starts[0],
        **options,
    )
    if swept.folders:
        metric = probe_named(swept.probe).main_metric
        overall = swept.scores[(swept.scores["dimension"] == OVERALL) & (swept.scores["metric"] == metric)]
        print_table(overall.drop(columns=["commit", "dimension", "group"]).dropna(axis="columns", how="all"))
        print(f"\nAll scores: {arguments.out / TABLE}\nChart: {arguments.out / CHART}")
    if swept.failures:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in swept.failures.items())
        message = f"{len(swept.failures)} of {len(swept.failures) + len(swept.folders)} revisions are not measured:"
        raise Incomplete(f"{message} {reasons}", "The same command tries them again, and no others.")


def _loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how the model is loaded."""
    return {name: getattr(arguments, name) for name in LOADING if hasattr(arguments, name)}


def _chosen_loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return those ways of loading that differ from the usual ones, so that the others may stand in a file."""
    usual = {entry.name: entry.default for entry in fields(ModelSource)}
    return {name: value for name, value in _loading(arguments).items() if value != usual[name]}
