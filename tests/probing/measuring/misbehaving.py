"""A measuring process that misbehaves in the way that its environment names."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

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
    "error": lambda: send(ERROR | {"code": "non-finite-scores"}),
    "error with a strange code": lambda: send(ERROR | {"code": "../../etc"}),
}
WHILE_MEASURING: Mapping[str, Callable[[], object]] = {
    "no rows": lambda: send({"event": "part", "record": {}}),
    "linked rows": linked_rows,
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
