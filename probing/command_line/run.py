"""The commands `run` and `study`: probe one model on one benchmark, or a study of several."""

import argparse
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import probing
from probing.analysis.breakdowns import OVERALL
from probing.analysis.details import without_details
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.exit_codes import program
from probing.command_line.peer_names import add_peer_names, answer_peer_names
from probing.command_line.printing import print_by_dimension, print_lines, print_table
from probing.command_line.settings_flags import KEPT, add_loading, add_model, add_settings, given_settings
from probing.dry_run import SECONDS, forecast_prepared
from probing.errors import BadInput, Incomplete, ProbingError
from probing.extras import require_scoring
from probing.model_source import ATTENTION, ModelSource
from probing.probes import PROBES, probe_named
from probing.probes.probe import declared_options, parse
from probing.results.completeness import skipped_in_words
from probing.results.result import RECORD, Result
from probing.results.run_json import describe_tokens
from probing.start_token import AUTO, several_starts
from probing.studies.arguments import LOADING, REVISIONS, START, results_folder
from probing.studies.study import planned_runs, study_arguments
from probing.studies.study_results import CHART, SPREADSHEET, SWEEP_TABLE, TABLE, Study, Sweep

TRY_AGAIN = "The same command tries them again, and no others."


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`, with which studies and sweeps can be made as well."""
    add_model(parser, is_list=True)
    _add_benchmark(parser)
    _add_study_arguments(parser)
    add_peer_names(parser)
    parser.set_defaults(config=None)


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `study`: those of `run`, with the file in place of the model."""
    parser.add_argument(
        "config", metavar="STUDY.yaml", help="models, benchmarks and settings as YAML; flags come before it"
    )
    add_loading(parser)
    _add_benchmark(parser)
    _add_study_arguments(parser)
    names = "processes:N, dask:ADDRESS or slurm"
    parser.add_argument("--executor", metavar="NAME", help=f"measure several models at the same time, by {names}")
    parser.set_defaults(model=[])


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--benchmark",
        action="extend",
        nargs="+",
        default=[],
        metavar="SLUG_OR_FOLDER",
        help="slugs, folders or archives; each pair of one of several with one of several MODELs has a folder in --out",
    )


def _add_study_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--revisions",
        nargs="+",
        metavar="NAME",
        help="sweep over these revisions of a hub model or subfolders of a folder; all: all that state a step",
    )
    parser.add_argument(
        "--tokenizer",
        metavar="MODEL",
        help="hub id or folder of the tokenizer that a folder lacks, or of a served model",
    )
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
    parser.set_defaults(command=partial(run, parser), executor=None)


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Probe one model on one benchmark, or more of either or start tokens, or only say how long that will take."""
    if arguments.config is None:
        answer_peer_names(arguments)
    needed = {
        "MODEL before all flags": arguments.model,
        "--benchmark": arguments.benchmark,
        "--out": arguments.out or arguments.dry_run,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing and not arguments.config:
        parser.error(f"the following arguments are required: {', '.join(missing)}")
    arguments.revisions = arguments.revisions and ",".join(arguments.revisions)
    settings = given_settings(arguments)
    starts = several_starts(settings.get(START, AUTO))
    if arguments.config or max(len(arguments.model), len(arguments.benchmark), len(starts)) > 1:
        run_study(arguments)
        return
    arguments.model, arguments.benchmark = arguments.model[0], arguments.benchmark[0]
    benchmark = open_benchmark(arguments.benchmark)
    probe = probe_named(settings.get("probe", benchmark.probe))
    settings |= {START: starts[0]} | parse(declared_options(probe), arguments.set, f"The probe {probe.name}")
    if arguments.revisions is not None:
        run_sweep(arguments, benchmark, settings)
    else:
        run_model(arguments, benchmark, settings)


def run_model(arguments: argparse.Namespace, benchmark: Benchmark, settings: Mapping[str, Any]) -> None:
    """Probe the model once and print the overall scores, or how long that will take."""
    # By way of the package, so that the other commands do not wait for torch.
    if arguments.dry_run:
        print(probing.forecast(arguments.model, benchmark, **_loading(arguments), **settings))
        return
    finished = (arguments.out / RECORD).is_file()
    kept, options = KEPT[arguments.keep], _loading(arguments)
    result: Result = probing.run(arguments.model, benchmark, out=arguments.out, **kept, **options, **settings)
    if finished:
        print(f"{arguments.out} holds this very run already; nothing was measured again.")
    for finding in result.findings:
        print(finding)
    scores = without_details(result.scores)
    print_by_dimension(scores[scores["dimension"] == OVERALL])
    print_lines("Left out", skipped_in_words(result.record))
    print_lines("Notes", result.notes)
    print_lines("Tokens", describe_tokens(result.record))
    print(f"\nAll scores: {program()} show {arguments.out}")


def run_sweep(arguments: argparse.Namespace, benchmark: Benchmark, settings: Mapping[str, Any]) -> None:
    """Probe the model at each revision and print the main metric of each; raise `Incomplete` where some failed."""
    if arguments.dry_run:
        raise BadInput("A dry run takes no --revisions.", "Leave out --revisions, or name one by --commit.")
    if arguments.commit:
        raise BadInput("A sweep has a commit of its own for each revision.", "Leave out --commit or --revisions.")
    options = {name: value for name, value in _loading(arguments).items() if name != "commit"}
    swept: Sweep = probing.sweep(
        arguments.model,
        benchmark,
        revisions=arguments.revisions,
        out=arguments.out,
        **KEPT[arguments.keep],
        **options,
        **settings,
    )
    if swept.folders:
        metric = probe_named(swept.probe).main_metric
        overall = swept.scores[(swept.scores["dimension"] == OVERALL) & (swept.scores["metric"] == metric)]
        print_table(overall.drop(columns=["commit", "dimension", "group"]).dropna(axis="columns", how="all"))
        print(f"\nAll scores: {arguments.out / SWEEP_TABLE}\nChart: {arguments.out / CHART}")
    _refuse_failures(swept.failures, len(swept.folders), "revisions are not measured")


def run_study(arguments: argparse.Namespace) -> None:
    """Probe all models on all benchmarks, and print the main score of each pair; raise `Incomplete` if some failed."""
    # Options of one name take the same values in all probes.
    declared = {name: option for probe in PROBES.values() for name, option in declared_options(probe).items()}
    options = parse(declared, arguments.set, "A probe of this study")
    flags = _flags(arguments, {**given_settings(arguments), **options})
    chosen = study_arguments(arguments.model, arguments.benchmark, arguments.config, flags)
    if arguments.dry_run:
        _print_forecasts(chosen)
        return
    where = {"config": arguments.config, "executor": arguments.executor}
    study: Study = probing.study(arguments.model, arguments.benchmark, **where, **flags)
    print_table(study.table)
    if len(replicates := study.replicates):
        print("\nreplicates, which differ in nothing but a seed")
        print_table(replicates)
    out = results_folder(chosen)
    print(f"\nAll scores: {out / TABLE}, {out / SPREADSHEET}")
    _refuse_failures(study.failures, len(study.folders), "pairs are not measured")


def _print_forecasts(chosen: Mapping[str, Any]) -> None:
    """Print how long each pair will take; raise `Incomplete` if some cannot be told."""
    require_scoring()
    failures: dict[Any, str] = {}
    runs = planned_runs(chosen, Path())
    for pair, run in runs.items():
        try:
            print(f"{pair}: {forecast_prepared(run)}")
        except (ProbingError, OSError) as error:
            failures[pair] = str(error)
    next_step = "Correct them, or leave them out."
    _refuse_failures(failures, len(runs) - len(failures), "pairs are not tried", next_step)


def _refuse_failures(failures: Mapping[Any, str], others: int, problem: str, next_step: str = TRY_AGAIN) -> None:
    if failures:
        names = {reason: [str(name) for name in failures if failures[name] == reason] for reason in failures.values()}
        reasons = "; ".join(f"{', '.join(named)} ({reason})" for reason, named in names.items())
        raise Incomplete(f"{len(failures)} of {len(failures) + others} {problem}: {reasons}", next_step)


def _flags(arguments: argparse.Namespace, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a study that flags name, so that the others may stand in a file."""
    usual = {entry.name: entry.default for entry in fields(ModelSource)}
    loading = {name: value for name, value in _loading(arguments).items() if value != usual[name]}
    places = {"out": arguments.out, REVISIONS: arguments.revisions}
    named = {name: value for name, value in places.items() if value is not None}
    return {**settings, **loading, **KEPT[arguments.keep], **named}


def _loading(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in LOADING if hasattr(arguments, name)}
