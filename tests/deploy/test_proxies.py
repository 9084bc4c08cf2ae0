"""The site behind a reverse proxy with TLS: the recipes for nginx and Caddy are started as they are written."""

import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.environment import env_networks
from leaderboard.serving.web_server import believing_proxies
from leaderboard.settings import BASE_DIR
from tests.tools.deployment import Deployment, free_port

DEPLOY = BASE_DIR / "deploy"
HOST = "clozeboard.example"
PER_MINUTE = 3  # requests from one address
STARTING = 30  # seconds


@pytest.mark.parametrize(
    ("peer", "seen"),
    [
        ("127.0.0.1", ("203.0.113.9", "https")),
        ("10.3.4.5", ("203.0.113.9", "https")),
        ("192.0.2.1", ("192.0.2.1", "http")),
        ("", ("", "http")),
    ],
)
def test_only_trusted_proxies_state_address_and_protocol(
    peer: str, seen: tuple[str, str], settings: DjangoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8")
    settings.TRUSTED_PROXIES = env_networks("CLOZEBOARD_TRUSTED_PROXIES", "")
    answers: list[tuple[str, str]] = []

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        answers.append((environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]))
        return []

    headers = {"HTTP_X_FORWARDED_FOR": "198.51.100.7, 203.0.113.9", "HTTP_X_FORWARDED_PROTO": "https"}
    own = {"REMOTE_ADDR": peer, "REMOTE_HOST": peer, "SERVER_NAME": "x", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}
    believing_proxies(application)({**own, "HTTP_HOST": HOST, **headers}, lambda *arguments: lambda data: None)
    assert answers == [seen]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a certificate for the name of the site that it has signed itself."""
    folder = tmp_path_factory.mktemp("tls")
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@contextmanager
def behind(recipe: str, folder: Path, certificate: Path) -> Iterator[tuple[int, int]]:
    """Serve a site with the recipe's environment behind its proxy; yield the ports of HTTP and HTTPS."""
    lines = (DEPLOY / "systemd/clozeboard.env.example").read_text(encoding="utf-8").splitlines()
    settings = (line.split("=", 1) for line in lines if not line.startswith("#"))
    environment = {name: value for name, value in settings if value}
    site = Deployment(
        folder / "data",
        **{**environment, "CLOZEBOARD_DATA": str(folder / "data"), "CLOZEBOARD_REQUESTS_PER_MINUTE": str(PER_MINUTE)},
    )
    site.command("migrate", "--verbosity=0")
    plain, secure = free_port(), free_port()
    changes = {"127.0.0.1:8000": site.url.removeprefix("http://")}
    start = nginx if recipe == "nginx" else caddy
    command = start(folder, certificate, changes, plain, secure)
    with site.process("manage.py", "serve"):
        proxy = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            until = time.monotonic() + STARTING
            while ask(plain, "/", source="127.0.0.9", tls=None) is None or not answers(site.url):
                assert proxy.poll() is None and time.monotonic() < until, proxy.stderr and proxy.stderr.read()
                time.sleep(0.1)
            yield plain, secure
        finally:
            proxy.terminate()
            proxy.wait(20)


def answers(url: str) -> bool:
    port = int(url.rsplit(":", 1)[1])
    return ask(port, "/healthz", source="127.0.0.9", tls=None) is not None


def changed(recipe: str, changes: Mapping[str, str]) -> str:
    """Return the text of a recipe with the ports and files of this test; each of them stands in it."""
    text = (DEPLOY / recipe).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(folder: Path, certificate: Path, changes: Mapping[str, str], plain: int, secure: int) -> list[str]:
    ports = {"listen 80;": f"listen 127.0.0.1:{plain};", "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;"}
    recipe = changed("nginx.conf", {**changes, **ports, f"/etc/letsencrypt/live/{HOST}": str(certificate)})
    main = f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\nhttp {{ access_log off;\n{recipe}\n}}\n"
    (folder / "nginx.conf").write_text(main)
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, certificate: Path, changes: Mapping[str, str], plain: int, secure: int) -> list[str]:
    tls = f"tls {certificate}/fullchain.pem {certificate}/privkey.pem\n\tbind 127.0.0.1\n\treverse_proxy"
    recipe = changed("Caddyfile", {**changes, "reverse_proxy": tls})
    ours = f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1\n}}\n"
    (folder / "Caddyfile").write_text(ours + recipe)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def ask(port: int, path: str, *, source: str, tls: Path | None) -> HTTPResponse | None:
    """Send a request from an address of this machine, with headers that lie; return None where nothing listens."""
    lies = {"Host": HOST, "X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=20, source_address=(source, 0))
        connection.connect()
        if tls:
            trusted = ssl.create_default_context(cafile=str(tls / "fullchain.pem"))
            connection.sock = trusted.wrap_socket(connection.sock, server_hostname=HOST)
        connection.request("GET", path, headers=lies)
        return connection.getresponse()
    except ConnectionRefusedError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["nginx", "caddy"])
def test_a_recipe_serves_pages_by_https_and_counts_each_visitor(recipe: str, tmp_path: Path, certificate: Path) -> None:
    if not shutil.which(recipe, path="/usr/sbin:/usr/bin"):
        pytest.skip(f"{recipe} is not installed: apt-get install {recipe}")
    with behind(recipe, tmp_path, certificate) as (plain, secure):
        redirected = ask(plain, "/queue/", source="127.0.0.2", tls=None)
        assert redirected and redirected.status in (301, 308)
        assert redirected.headers["Location"].startswith(f"https://{HOST}")
        for source in ("127.0.0.3", "127.0.0.4"):  # one visitor's limit is not the other's
            statuses = []
            for _ in range(PER_MINUTE + 1):
                page = ask(secure, "/queue/", source=source, tls=certificate)
                statuses.append(page.status if page else 0)
            assert statuses == [200] * PER_MINUTE + [429]
