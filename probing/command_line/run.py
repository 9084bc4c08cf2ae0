"""The command `run`: probe a model on a benchmark."""

import argparse
from pathlib import Path
from typing import Any

import probing
from probing.analysis.breakdown import OVERALL
from probing.analysis.details import without_details
from probing.catalog import open_benchmark
from probing.command_line.program import add_model, print_by_dimension, program
from probing.command_line.settings_flags import add_settings, given_settings
from probing.probes import probe_named
from probing.probes.probe import declared_options, parse
from probing.results.result import Result
from probing.settings import Settings
from probing.start_token import AUTO, normalised_start

KEPT = ["tokens"]  # what may be stored beyond rows and scores


def add_run(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--benchmark", required=True, metavar="SLUG_OR_FOLDER", help="slug, folder or archive")
    add_settings(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write")
    parser.add_argument("--keep", choices=KEPT, help="store the log-probability of every token as well")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> None:
    """Probe the model once, or once for each of several start tokens (`--start bos,eos`), with one loaded model."""
    benchmark, settings = open_benchmark(arguments.benchmark), given_settings(arguments)
    probe = probe_named(settings.get("probe", benchmark.probe))
    settings |= parse(declared_options(probe), arguments.set, f"The probe {probe.name}")
    starts = list(dict.fromkeys(normalised_start(start) for start in settings.pop("start", AUTO).split(",")))
    folders = {start: arguments.out / f"start-{start}" if len(starts) > 1 else arguments.out for start in starts}
    model, options, keep_tokens = arguments.model, _loading(arguments), arguments.keep == "tokens"
    if len(starts) > 1:
        model, options = probing.load(model, **options, dtype=settings.get("dtype", Settings.dtype)), {}
    for start, folder in folders.items():
        # By way of the package, so that the other commands do not wait for torch.
        result: Result = probing.run(
            model, benchmark, out=folder, keep_tokens=keep_tokens, **options, **settings, start=start
        )
        if len(starts) > 1:
            print(f"\nStart token {start}:")
        scores = without_details(result.scores)
        print_by_dimension(scores[scores["dimension"] == OVERALL])
        print(f"\nAll scores: {program()} show {folder}")
    if len(starts) == 2:
        print(f"Differences: {program()} compare {' '.join(map(str, folders.values()))}")


def _loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how the model is loaded."""
    return {name: getattr(arguments, name) for name in ("commit", "device", "batch_tokens")}
