"""Measure how long commands take before they do their work: `python -m speed.start`.

The seconds by the clock, of the fastest of some rounds, beside the limits: `--help`, `show` of a finished run, and a
run of one question with SmolLM2-135M, which includes loading it and writing the result. Beside the run stands what
Python takes to import torch and the network's class alone, in turns with it. The exit code is 1 if a limit is missed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from speed.networks import smollm2_file

ROUNDS = 3
LIMITS = {"--help": 0.4, "show": 1.0, "run": 6.5}  # seconds
IMPORTS = "import torch; from transformers import LlamaForCausalLM, AutoTokenizer"


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.start", description=__doc__).parse_args()
    with TemporaryDirectory() as name:
        turns = [_turn(Path(name) / str(number)) for number in range(ROUNDS + 1)][1:]  # the first one fills caches
    fastest = {what: min(turn[what] for turn in turns) for what in turns[0]}
    for what, shortest in fastest.items():
        print(f"{what}: {shortest:.2f} s" + (f" (at most {LIMITS[what]:g})" if what in LIMITS else ""))
    return int(any(fastest[what] > limit for what, limit in LIMITS.items()))


def seconds(*words: str) -> float:
    """Return how long Python takes with these words."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _turn(out: Path) -> dict[str, float]:
    command = ("-m", "probing")
    question = ("--benchmark", "starter", "--relations", "country_capital", "--limit", "1", "--out", str(out))
    return {
        "run": seconds(*command, "run", str(smollm2_file()), *question),
        "importing torch and the class": seconds("-c", IMPORTS),
        "show": seconds(*command, "show", str(out)),
        "--help": seconds(*command, "--help"),
    }


if __name__ == "__main__":
    sys.exit(main())
