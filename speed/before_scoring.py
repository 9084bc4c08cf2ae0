"""What people wait for before anything is scored: `python -m speed.before_scoring`.

The help and the import of the library are measured beside a Python that does nothing, in turns; the loading of
SmolLM2's GGUF file when its network is not kept yet and when it is; and how long runs over all of BEAR take from the
loaded model to the first move of the progress bar. Each is a process of its own, and only its processor time counts.
CLOZEBOARD_TEST_DATA names the folder with BEAR's files; without it, the starter benchmark is taken.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from tempfile import TemporaryDirectory
from typing import cast
from unittest.mock import patch

import probing
from probing.language_model import LanguageModel
from probing.runner import Preparation, run_prepared
from probing.time_left import PartsProgress
from speed.machine import describe
from speed.networks import load_network, smollm2_file
from speed.new_process import in_new_process
from speed.stored_results import show, store
from speed.work import bear

COMMANDS: Mapping[str, Sequence[str]] = {
    "python -c pass": ("-c", "pass"),
    'python -c "import probing"': ("-c", "import probing"),
    "python -m probing --help": ("-m", "probing", "--help"),
}
ROUNDS = 7
LIMIT = 0.3  # seconds of the processor for the help
LOADS = ("first, which keeps the network", "second")
PROGRESS_LIMIT = 5.0  # seconds of the processor from the loaded model to the first progress
RUNS = {"every option": False, "`--decide`": True}


class FirstProgressError(Exception):
    """The progress bar has moved for the first time."""


@dataclass
class Loaded:
    """A model that is in memory already, as the opener of a run. `seconds`: the processor time when it was opened."""

    model: LanguageModel
    seconds: float = 0.0

    def open(self, dtype: str, quantization: str) -> LanguageModel:
        self.seconds = time.process_time()
        return self.model


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.before_scoring", description=__doc__).parse_args()
    commands = measure_commands()
    with TemporaryDirectory() as cache:
        loads = {name: in_new_process(load_phases, cache) for name in LOADS}
    progress = {name: in_new_process(first_progress, decide) for name, decide in RUNS.items()}
    first, second = (loads[name]["together"] for name in LOADS)
    results = {
        "machine": describe(),
        "rounds": ROUNDS,
        "limit": LIMIT,
        "commands": commands,
        "gguf": {"loads": loads, "ratio": round(first / second, 1)},
        "progress_limit": PROGRESS_LIMIT,
        "first_progress": progress,
    }
    store("before_scoring", results)
    show(results)
    return int(commands["python -m probing --help"] > LIMIT or max(progress.values()) > PROGRESS_LIMIT)


def measure_commands() -> dict[str, float]:
    """Return the median processor time of each command."""
    rounds = [{name: processor_seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS)]
    return {name: round(median(times[name] for times in rounds), 3) for name in COMMANDS}


def processor_seconds(arguments: Sequence[str]) -> float:
    """Return the processor time of a new Python with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def load_phases(cache: str) -> dict[str, float]:
    """Return the processor time of each phase of loading, with networks kept in the folder `cache`.

    `files`: until the tokenizer is read, which is the digest of the GGUF file. The self-check afterwards is left out.
    """
    os.environ["XDG_CACHE_HOME"] = cache
    begin: dict[str, float] = {}

    def on_phase(phase: str) -> None:
        begin[phase] = time.process_time()

    load = probing.load  # imports torch
    on_phase("files")
    load(str(smollm2_file()), device="cpu", on_phase=on_phase)
    times = list(begin.values())
    took = {phase: later - now for phase, now, later in zip(begin, times, times[1:], strict=False)}
    return {phase: round(seconds, 2) for phase, seconds in (took | {"together": times[-1] - times[0]}).items()}


def first_progress(decide: bool) -> float:
    """Return the processor time from the loaded model to the first progress of a run over all of BEAR."""
    model = load_network("causal").ours()
    model.check()
    prepared = Preparation.of(bear() or "starter", False, {"decide": decide})
    return round(seconds_to_first_progress(cast(LanguageModel, model), prepared), 2)


def seconds_to_first_progress(model: LanguageModel, prepared: Preparation) -> float:
    """Begin a run, stop it at its first progress, and return the processor time from the loaded model until then."""
    opener = Loaded(model)
    at_first_progress = patch.object(PartsProgress, PartsProgress.move.__name__, side_effect=FirstProgressError)
    with at_first_progress, suppress(FirstProgressError):
        run_prepared(opener, prepared, None, progress=False)
    return time.process_time() - opener.seconds


if __name__ == "__main__":
    sys.exit(main())
