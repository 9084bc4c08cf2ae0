"""The command `run` with several models or benchmarks, or with a configuration file."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import probing
from probing.command_line.program import print_table
from probing.command_line.settings_flags import KEPT
from probing.dry_run import forecast_prepared
from probing.errors import BadInput, Incomplete, ProbingError
from probing.options import Option
from probing.probes import PROBES
from probing.probes.probe import declared_options, parse
from probing.studies.arguments import StudyArguments
from probing.studies.study import SPREADSHEET, TABLE, Study
from probing.studies.studying import planned_turns, study_arguments


def run_study(arguments: argparse.Namespace, settings: Mapping[str, Any], loading: Mapping[str, Any]) -> None:
    """Probe all models on all benchmarks, and print the main score of each pair; raise `Incomplete` if some failed.

    `settings` and `loading`: what was chosen by flags.
    """
    if "," in settings.get("start", ""):
        raise BadInput("Several models or benchmarks take one start token.", "Name one, or probe one model at a time.")
    flags = {**settings, **loading, **parse(_all_options(), arguments.set, "A probe of this study")}
    flags |= KEPT[arguments.keep]
    if arguments.out:
        flags["out"] = arguments.out
    chosen = study_arguments(arguments.model, arguments.benchmark, arguments.config, flags)
    if arguments.dry_run:
        _print_forecasts(chosen)
        return
    study: Study = probing.study(arguments.model, arguments.benchmark, config=arguments.config, **flags)
    print_table(study.table)
    print(f"\nAll scores: {chosen.folder / TABLE}, {chosen.folder / SPREADSHEET}")
    next_step = "The same command tries them again, and no others."
    _refuse_failures(study.failures, len(study.folders), "measured", next_step)


def _print_forecasts(chosen: StudyArguments) -> None:
    """Print how long each pair will take; raise `Incomplete` if some cannot be told."""
    failures: dict[Any, str] = {}
    turns = planned_turns(chosen, Path())
    for pair, turn in turns.items():
        try:
            print(f"{pair}: {forecast_prepared(turn.source, turn.prepared)}")
        except (ProbingError, OSError) as error:
            failures[pair] = str(error)
    _refuse_failures(failures, len(turns) - len(failures), "tried", "Correct them, or leave them out.")


def _refuse_failures(failures: Mapping[Any, str], others: int, verb: str, next_step: str) -> None:
    if failures:
        reasons = "; ".join(f"{pair} ({reason})" for pair, reason in failures.items())
        count = f"{len(failures)} of {len(failures) + others} pairs are not {verb}"
        raise Incomplete(f"{count}: {reasons}", next_step)


def _all_options() -> dict[str, Option]:
    """Return the options of all probes; those of one name take the same values."""
    return {name: option for probe in PROBES.values() for name, option in declared_options(probe).items()}
