"""The command `run`: probe a model on a benchmark."""

import argparse
from pathlib import Path

import probing
from probing.analysis.breakdown import OVERALL
from probing.analysis.details import without_details
from probing.catalog import open_benchmark
from probing.command_line.program import add_model, print_by_dimension, program
from probing.command_line.settings_flags import add_settings, given_settings
from probing.probes import probe_named
from probing.probes.probe import declared_options, parse
from probing.results.result import Result

KEPT = ["tokens"]  # what may be stored beyond rows and scores


def add_run(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--benchmark", required=True, metavar="SLUG_OR_FOLDER", help="slug, folder or archive")
    add_settings(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    parser.add_argument("--keep", choices=KEPT, help="store the log-probability of every token as well")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> None:
    benchmark, settings = open_benchmark(arguments.benchmark), given_settings(arguments)
    probe = probe_named(settings.get("probe", benchmark.probe))
    # By way of the package, so that the other commands do not wait for torch.
    result: Result = probing.run(
        arguments.model,
        benchmark,
        out=arguments.out,
        commit=arguments.commit,
        device=arguments.device,
        batch_tokens=arguments.batch_tokens,
        keep_tokens=arguments.keep == "tokens",
        **settings,
        **parse(declared_options(probe), arguments.set, f"The probe {probe.name}"),
    )
    scores = without_details(result.scores)
    print_by_dimension(scores[scores["dimension"] == OVERALL])
    print(f"\nAll scores: {program()} show {arguments.out}")
