"""The command `work`: measure models for a site, from anywhere, with a token of that site."""

import argparse
import os
import signal
import sys
from pathlib import Path

from probing.command_line.token import add_token, token_of
from probing.errors import BadInput
from probing.files.gguf_cache import cache_folder
from probing.remote.client import Site
from probing.remote.worker import Plan, RemoteWorker


def add_work(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("site", metavar="SITE", help="address of the site, such as https://site.example")
    add_token(parser)
    add("--lanes", default="default", metavar="A,B", help="take runs of these queues; default: default")
    add("--device", default="auto", help="cpu, cuda or cuda:1; default: a GPU where there is one")
    add("--memory-gb", type=_positive, metavar="N", help="memory that a model may take; default: nine tenths of all")
    add("--once", action="store_true", help="end when nothing is left to do")
    add("--max-runs", type=_count, metavar="N", help="end after work on N runs")
    add("--idle-exit", type=_positive, metavar="SECONDS", help="end after this many seconds without work")
    add("--cache", type=Path, metavar="DIR", help="folder of models and benchmarks; default: ~/.cache/clozeboard")
    parser.set_defaults(command=work)


def work(arguments: argparse.Namespace) -> None:
    """Work until there is a reason to end; SIGTERM and Ctrl-C give the part back at once."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    site = Site(arguments.site, token_of(arguments))
    worker = RemoteWorker(site, plan_of(arguments), say=_say)
    _say(f"Connecting to {site.address}. If it does not answer, this ends after about two minutes.")
    try:
        worker.work()
    except KeyboardInterrupt:
        _say("Stopped. A part that was not finished is given back.")


def plan_of(arguments: argparse.Namespace) -> Plan:
    if "," in arguments.device:
        raise BadInput(f"A worker measures on one device, not on {arguments.device:.80}.", "Start a worker for each.")
    cache = arguments.cache or cache_folder()
    return Plan(
        cache=cache.expanduser().resolve(),
        lanes=tuple(lane.strip() for lane in arguments.lanes.split(",") if lane.strip()),
        device=arguments.device,
        memory=int((arguments.memory_gb or 0) * 1e9),
        once=arguments.once,
        max_runs=arguments.max_runs,
        idle_exit=arguments.idle_exit,
        hub=os.environ.get("HF_ENDPOINT", "").rstrip("/") or "https://huggingface.co",
        hub_token=os.environ.get("HF_TOKEN", ""),
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value
