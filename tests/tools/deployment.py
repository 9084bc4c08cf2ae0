"""A site as it is deployed: web server, worker and queue as processes, with a data folder and a port of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
MIGRATE = ("migrate", "--verbosity=0")


class Deployment:
    """A site with the data of a folder; `settings` are further variables of its environment."""

    def __init__(self, data: Path, **settings: str) -> None:
        port = free_port()
        ours = {
            "CLOZEBOARD_DATA": str(data),
            "HF_ENDPOINT": "http://127.0.0.1:9",  # nothing listens there
            "PORT": str(port),
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "OMP_NUM_THREADS": "1",
        }
        usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        self.environment = usual | ours | settings
        self.url = f"http://127.0.0.1:{port}"

    def command(self, *arguments: str) -> None:
        """Run manage.py."""
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.environment, check=True)

    def run(self, code: str) -> None:
        """Run Python code with the site's settings and tables."""
        self.command("shell", "--verbosity=0", f"--command={code}")

    def run_commands(self, *commands: Sequence[str], then: str = "") -> None:
        """Run several commands of manage.py, and then some code, in one process, which takes long to start."""
        calls = [f"call_command(*{[*command]!r})" for command in commands]
        self.run("\n".join(["from django.core.management import call_command", *calls, then]))

    @contextmanager
    def process(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program of Python until the end of the block."""
        running = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=self.environment)
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(20)
            except subprocess.TimeoutExpired:
                running.kill()  # as a service manager does; how fast a worker stops has tests of its own
                running.wait()

    @contextmanager
    def served(self) -> Iterator[None]:
        """Serve the site until the end of the block."""
        with self.process("manage.py", "serve"):
            wait_for(f"{self.url}/healthz")
            yield


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=5)
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{url} did not answer within {START_SECONDS} seconds.")
