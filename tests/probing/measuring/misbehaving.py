"""A measuring process that misbehaves in the way that its environment names."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

ROWS = Path(sys.argv[1])
CARD = {"id": "org/x", "kind": "causal", "architecture": "X", "parameters": 1000}
LOADED = {"event": "loaded", "card": CARD, "start": "2026-01-01T00:00:00+00:00", "load_seconds": 0.1}
ERROR = {"event": "error", "message": "Not a number in /tmp/a/b.", "next_step": "Do.", "permanent": True}


def send(message: object) -> None:
    print(json.dumps(message), flush=True)


def end_of_line_never() -> None:
    while True:
        print("x" * 100_000, end="", flush=True)


def compute() -> None:
    while True:
        pass


def slow_tokenizer() -> None:
    send({"event": "phase", "name": "tokenizer"})
    compute()


def memory() -> None:
    block = bytearray(400_000_000)
    block[::4096] = b"x" * len(block[::4096])
    time.sleep(100)


def disk() -> None:
    (ROWS / "large").write_bytes(bytes(3_000_000))
    time.sleep(100)


def flood() -> None:
    while True:
        send({"event": "progress", "share": 0.5})


def linked_rows() -> None:
    (ROWS / "rows.parquet").symlink_to("/etc/passwd")
    send({"event": "part", "record": {}})


def many_folders() -> None:
    (ROWS / "inner" / "most").mkdir(parents=True)
    (ROWS / "inner" / "most" / "large").write_bytes(bytes(3_000_000))
    time.sleep(100)


def many_files() -> None:
    for number in range(1000):
        (ROWS / str(number)).touch()
    time.sleep(100)


def phases() -> None:
    while True:
        send({"event": "phase", "name": "trial"})
        time.sleep(0.05)


def close_output() -> None:
    os.close(1)
    time.sleep(100)


def escape() -> None:
    """Start a process of another group that holds all pipes, and end."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
    time.sleep(100)


def rows(**columns: object) -> Callable[[], None]:
    """Return a function that reports a part with four rows; `columns` replace those of an honest process."""

    def report() -> None:
        usual = {"relation": "animal_class", "template": 0, "index": [0, 1, 2, 3], "scores": [[-1.0, -2.0]] * 4}
        pd.DataFrame(usual | columns).to_parquet(ROWS / "rows.parquet", index=False)
        send({"event": "part", "record": {}})

    return report


def rows_without_keys() -> None:
    pd.DataFrame({"scores": [[-1.0, -2.0]] * 4}).to_parquet(ROWS / "rows.parquet", index=False)
    send({"event": "part", "record": {}})


def pipe_of_rows() -> None:
    os.mkfifo(ROWS / "rows.parquet")
    send({"event": "part", "record": {}})
    time.sleep(100)


WHILE_LOADING: Mapping[str, Callable[[], object]] = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: sys.exit(3),
    "garbage": lambda: print("this is no message", flush=True),
    "endless line": end_of_line_never,
    "nested": lambda: print("[" * 100_000, flush=True),
    "wrong form": lambda: send({"event": "loaded", "card": {"id": "org/x", "surprise": 1}}),
    "unknown event": lambda: send({"no": "event"}),
    "slow tokenizer": slow_tokenizer,
    "asleep": lambda: time.sleep(100),
    "memory": memory,
    "disk": disk,
    "many folders": many_folders,
    "many files": many_files,
    "phases": phases,
    "closed output": close_output,
    "escape": escape,
    "card of another kind": lambda: send(LOADED | {"card": CARD | {"kind": "<b>"}}),
    "card without a number": lambda: send(LOADED | {"card": CARD | {"parameters": "many"}}),
    "temporary error": lambda: send(ERROR | {"code": "source-unavailable", "permanent": False}),
    "full disk": lambda: send(ERROR | {"code": "no-space", "permanent": False}),
    "long error": lambda: send(ERROR | {"code": "internal", "trace": "token" * 150_000}),
    "error": lambda: send(ERROR | {"code": "non-finite-scores"}),
    "error with a strange code": lambda: send(ERROR | {"code": "../../etc"}),
}
WHILE_MEASURING: Mapping[str, Callable[[], object]] = {
    "no rows": lambda: send({"event": "part", "record": {}}),
    "linked rows": linked_rows,
    "rows of another part": rows(relation="country_capital"),
    "too few rows": rows(index=[0, 1, 2], scores=[[-1.0, -2.0]] * 3),
    "rows twice": rows(index=[0, 1, 2, 2]),
    "infinite rows": rows(scores=[[-1.0, float("inf")]] * 4),
    "rows without keys": rows_without_keys,
    "pipe of rows": pipe_of_rows,
    "phase of a part": lambda: send({"event": "phase", "name": "weights"}) or time.sleep(100),
    "no progress": lambda: time.sleep(100),
    "flood": flood,
    "busy": compute,
}


def main(way: str) -> None:
    sys.stdin.readline()
    print("Loading /home/somebody/models/secret/file.bin with token=hf_abcdefghijkl", file=sys.stderr, flush=True)
    if way in WHILE_LOADING:
        WHILE_LOADING[way]()
    send(LOADED)
    sys.stdin.readline()
    if way in WHILE_MEASURING:
        WHILE_MEASURING[way]()
    sys.stdin.readline()


main(os.environ["MISBEHAVIOUR"])
