"""Load models, each in a process of its own with limits, and print what became of them, a line of JSON for each.

`python -m tests.zoo.load_each SOURCE...`, where a source is a folder or a hub id.
"""

import json
import os
import resource
import signal
import sys
import time
from typing import Any

from probing.errors import ProbingError
from probing.scoring import trial
from probing.scoring.load import load

MEMORY = 2 * 2**30  # bytes
SECONDS = 60
TOKENIZER_SECONDS = 2  # of the processor, a quarter of what the library allows


def outcome(source: str) -> dict[str, Any]:
    try:
        load(source, device="cpu")
    except ProbingError as error:
        return {"code": error.code, "message": error.message, "next_step": error.next_step}
    return {"code": "", "message": "loaded", "next_step": ""}


def attempt(source: str, pipe: int) -> None:
    """Load one model within the limits and write its outcome."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    trial.PROCESSOR_SECONDS = TOKENIZER_SECONDS
    begin = time.monotonic()
    report = outcome(source) | {"seconds": time.monotonic() - begin}
    report["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    os.write(pipe, json.dumps(report).encode())


def main() -> None:
    for source in sys.argv[1:]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                attempt(source, writing)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            report = json.loads(file.read() or "{}")
        _, status = os.waitpid(child, 0)
        print(json.dumps({"source": source, "status": status, **report}), flush=True)


if __name__ == "__main__":
    main()
