"""Load the web server with readers and submissions while a model is being measured: `python -m speed.web_load`.

A whole site runs in processes of its own: the web server, a worker and the queue. This process plays the clients, each
with its own address, which it states as a proxy would. Afterwards, it measures what single submissions cost the web
process, new ones and repetitions of a known run. The exit code is 1 if a submission that was accepted is not in
the database, or if a request ended otherwise than with an answer or an honest refusal (status 429 or 503).
"""

import argparse
import asyncio
import json
import os
import random
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import psutil

from probing.known_benchmarks import CATALOG, EMBEDDED

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("/", "/benchmarks/bear/", "/benchmarks/", "/benchmarks/starter/", "/queue/", "/submit/", "/api/v1/leaderboard")
MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"  # installed with the packages of the demo
OFFER_MODEL = "from leaderboard.management.commands.demo import offer_local_model as offer; offer()"
REFUSALS = (429, 503)
TIMEOUT = 60  # seconds after which a client gives up
ALONE = 100  # submissions whose processor time is measured
START = 120  # seconds that the site may take to start
STOP = 20  # seconds that a process may take to end
Kind = Literal["read", "submit"]


@dataclass(frozen=True)
class Answer:
    """How one request ended: its status, or the name of the error of the connection."""

    kind: Kind
    seconds: float
    outcome: int | str
    token: str = ""

    @property
    def is_refusal(self) -> bool:
        return self.outcome in REFUSALS

    @property
    def is_error(self) -> bool:
        return isinstance(self.outcome, str) or (self.outcome >= 400 and not self.is_refusal)


@dataclass
class Load:
    """What the clients do: `readers` look at a page, pause, and look at the next; submissions come at a fixed rate."""

    port: int
    readers: int
    pause: float  # seconds
    submissions: float  # per second
    seconds: float
    answers: list[Answer] = field(default_factory=list)

    async def run(self) -> None:
        end = time.monotonic() + self.seconds
        async with asyncio.TaskGroup() as clients:
            for number in range(self.readers):
                clients.create_task(self._read(f"10.1.{number // 250}.{number % 250 + 1}", end))
            began = time.monotonic()
            for number in range(int(self.submissions * self.seconds)):
                await asyncio.sleep(max(0.0, began + number / self.submissions - time.monotonic()))
                clients.create_task(self._submit(number))

    async def _read(self, address: str, end: float) -> None:
        await asyncio.sleep(random.uniform(0, self.pause))
        while time.monotonic() < end:
            await self._ask("read", "GET", random.choice(PAGES), address)
            await asyncio.sleep(random.uniform(0, 2 * self.pause))

    async def _submit(self, number: int) -> None:
        body = json.dumps({"model": f"org/model-{number}", "benchmark": "starter"}).encode()
        await self._ask("submit", "POST", "/api/v1/submit", f"10.2.{number % 200}.1", body)

    async def _ask(self, kind: Kind, method: str, path: str, address: str, body: bytes = b"") -> None:
        began = time.monotonic()
        outcome: int | str
        try:
            async with asyncio.timeout(TIMEOUT):
                outcome, text = await exchange(self.port, method, path, address, body)
        except (OSError, TimeoutError, ValueError) as error:
            outcome, text = type(error).__name__, b""
        token = json.loads(text).get("submission", "") if kind == "submit" and outcome in (200, 201, 202) else ""
        self.answers.append(Answer(kind, time.monotonic() - began, outcome, token))


async def exchange(port: int, method: str, path: str, address: str, body: bytes) -> tuple[int, bytes]:
    """Send one request and return the status and the body; raise `ValueError` if the response is cut off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {address}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        response = await reader.read()
    finally:
        writer.close()
    start, separator, text = response.partition(b"\r\n\r\n")
    if not separator:
        raise ValueError("The response has no end of its head.")
    return int(start.split(b" ", 2)[1]), text


@dataclass(frozen=True)
class Site:
    """A site in a folder of its own."""

    folder: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        ours = {"CLOZEBOARD_DATA": str(self.folder), "PORT": str(self.port), "HF_ENDPOINT": "http://127.0.0.1:9"}
        return usual | ours | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"}

    def command(self, *arguments: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def fill(self, **scale: int) -> None:
        """Fill the migrated site with made-up runs (tests/tools/seed_scale.py)."""
        self.command("shell", "--verbosity=0", f"--command=from tests.tools.seed_scale import fill; fill(**{scale})")

    @contextmanager
    def process(self, *arguments: str) -> Iterator[psutil.Process]:
        """Run a command until the end of the block, and then end it with all processes that it has started.

        The last process of a site to leave stops its Valkey, if it is asked to end and not killed.
        """
        log = (self.folder / f"{arguments[0]}.log").open("wb")
        command = [sys.executable, "manage.py", *arguments]
        running = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield psutil.Process(running.pid)
        finally:
            family = [psutil.Process(running.pid), *psutil.Process(running.pid).children(recursive=True)]
            running.terminate()
            for process in psutil.wait_procs(family, STOP)[1]:
                process.kill()
            running.wait()

    def prepare(self) -> None:
        starter = CATALOG["starter"]
        self.command("migrate", "--verbosity=0")
        self.command("load_published")
        self.command("import_benchmark", starter.format, str(EMBEDDED / starter.slug), "--slug", starter.slug)

    def wait_for(self, sql: str) -> None:
        """Wait until a query of the database returns a row."""
        until = time.monotonic() + START
        while time.monotonic() < until:
            if self.rows(sql):
                return
            time.sleep(0.5)
        raise TimeoutError(f"Not within {START} seconds: {sql}")

    def wait_for_web(self) -> None:
        until = time.monotonic() + START
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return
            except OSError:
                time.sleep(0.2)
        raise TimeoutError(f"The web server did not start within {START} seconds.")

    def rows(self, sql: str) -> list[str]:
        """Return the first column of a query of the database."""
        with sqlite3.connect(self.folder / "clozeboard.sqlite3", timeout=30) as database:
            return [row[0] for row in database.execute(sql)]


def summary(answers: Sequence[Answer], kind: Kind) -> str:
    """Return a line on the answers of one kind: their number, outcomes and times."""
    ours = [answer for answer in answers if answer.kind == kind]
    if not ours:
        return f"{kind}: none"
    outcomes = ", ".join(f"{count} × {name}" for name, count in Counter(str(a.outcome) for a in ours).most_common())
    p50, p95, longest = np.percentile([answer.seconds for answer in ours], (50, 95, 100))
    return f"{kind}: {len(ours)} requests ({outcomes}); p50 {p50:.3f} s, p95 {p95:.3f} s, longest {longest:.3f} s"


def lost(answers: Sequence[Answer], tokens: Sequence[str]) -> set[str]:
    """Return the accepted submissions that are not among the tokens of the database."""
    return {answer.token for answer in answers if answer.token} - set(tokens)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def cost(web: psutil.Process, load: Load, model: str) -> float:
    """Return the milliseconds of processor time that the web process takes for one submission, with no other load."""
    before, count = sum(web.cpu_times()[:2]), 0
    for number in range(ALONE):
        body = json.dumps({"model": model.format(number), "benchmark": "starter"}).encode()
        status, _ = await exchange(load.port, "POST", "/api/v1/submit", f"10.3.{number}.1", body)
        count += status in (200, 201, 202)
    return 1000 * float(sum(web.cpu_times()[:2]) - before) / max(count, 1)


def measure(site: Site, load: Load, with_probe: bool) -> int:
    """Start the site, put the load on it, and print what came of it; return the exit code."""
    site.prepare()
    costs = {}
    with site.process("rqworker"), site.process("serve", "--trusted-proxy", "127.0.0.1") as web:
        site.wait_for_web()
        if with_probe:
            site.command("shell", "--verbosity=0", "--command", OFFER_MODEL)
            site.command("submit", MODEL, "--benchmark", "starter")
            site.wait_for("SELECT state FROM leaderboard_run WHERE state = 'scoring'")
        began, processor = time.monotonic(), time.process_time()
        asyncio.run(load.run())
        share = (time.process_time() - processor) / (time.monotonic() - began)
        costs["submission"] = asyncio.run(cost(web, load, "org/new-{}"))
        if with_probe:
            costs["duplicate"] = asyncio.run(cost(web, load, MODEL))
        missing = lost(load.answers, site.rows("SELECT token FROM leaderboard_submission"))
        states = Counter(site.rows("SELECT state FROM leaderboard_run WHERE provenance = 'measured'"))
    errors = [answer for answer in load.answers if answer.is_error]
    print(summary(load.answers, "read"))
    print(summary(load.answers, "submit"))
    print(f"errors: {len(errors)}; accepted submissions that were lost: {len(missing)}; runs: {dict(states)}")
    for name, milliseconds in costs.items():
        print(f"A {name} costs the web process {milliseconds:.1f} ms of processor time.")
    print(f"The clients took {share:.0%} of one of {len(os.sched_getaffinity(0))} cores.")
    return 1 if errors or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.web_load", description=__doc__)
    parser.add_argument("--readers", type=int, default=100, help="readers at the same time (default: 100)")
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between two pages of a reader")
    parser.add_argument("--submissions", type=float, default=50.0, help="submissions per second (default: 50)")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the load (default: 20)")
    parser.add_argument("--without-probe", action="store_true", help="do not measure a model meanwhile")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        site = Site(Path(folder), free_port())
        load = Load(site.port, options.readers, options.pause, options.submissions, options.seconds)
        return measure(site, load, not options.without_probe)


if __name__ == "__main__":
    sys.exit(main())
