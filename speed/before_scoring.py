"""What people wait for before anything is scored: `python -m speed.before_scoring`.

The help and the import of the library are measured beside a Python that does nothing, in turns; the loading of
SmolLM2's GGUF file when its network is not kept yet and when it is. Each is a process of its own, and only its
processor time counts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import probing
from speed.machine import describe
from speed.networks import smollm2_file
from speed.new_process import in_new_process

RESULTS = Path(__file__).parent / "results" / "before_scoring.json"
COMMANDS: Mapping[str, Sequence[str]] = {
    "python -c pass": ("-c", "pass"),
    'python -c "import probing"': ("-c", "import probing"),
    "python -m probing --help": ("-m", "probing", "--help"),
}
ROUNDS = 7
LIMIT = 0.3  # seconds of the processor for the help
LOADS = ("first, which keeps the network", "second")


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.before_scoring", description=__doc__).parse_args()
    commands = measure_commands()
    with TemporaryDirectory() as cache:
        loads = {name: in_new_process(load_phases, cache) for name in LOADS}
    first, second = (loads[name]["together"] for name in LOADS)
    results = {
        "machine": describe(),
        "rounds": ROUNDS,
        "limit": LIMIT,
        "commands": commands,
        "gguf": {"loads": loads, "ratio": round(first / second, 1)},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))
    return int(commands["python -m probing --help"] > LIMIT)


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


if __name__ == "__main__":
    sys.exit(main())
