"""What doctor says about the machine and its neighbours."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.operations.diagnosis import machine
from probing.measuring import sandbox
from tests.hub.local_hub import Hub
from tests.leaderboard.operations.diagnosis.only import only


def program(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of this name in place of the system's."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_missing_isolation_is_a_warning_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "problem", lambda: "bubblewrap is not installed")
    finding = only(list(machine.isolation()))
    assert finding.state == "warning" and "bubblewrap is not installed" in finding.message
    monkeypatch.setattr(sandbox, "problem", lambda: "")
    assert only(list(machine.isolation())).state == "ok"


@pytest.mark.parametrize(
    ("script", "state", "words"),
    [
        ("echo 'NVIDIA H100, 81559 MiB'", "ok", "NVIDIA H100"),
        ("echo 'no devices were found'; exit 6", "warning", "no devices were found"),
        ("", "warning", "shows no GPU"),
    ],
)
def test_the_driver_says_which_gpus_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, state: str, words: str
) -> None:
    program(tmp_path, "nvidia-smi", script, monkeypatch)
    finding = only(list(machine.accelerator()))
    assert (finding.state, words in finding.message) == (state, True)


def test_a_machine_without_a_driver_computes_on_its_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "on the processor" in only(list(machine.accelerator())).message


def test_other_versions_than_those_of_the_lock_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text(
        "# made by make lock\ndjango==1.0 \\\n    --hash=sha256:00\n    # via clozeboard\nno-such-package==1\n"
        "other-system==1 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n"
    )
    monkeypatch.setattr(machine, "LOCK", lock)
    finding = only(list(machine.packages()))
    assert finding.state == "warning"
    assert "django is 5" in finding.message and "not 1.0" in finding.message
    assert "no-such-package is not installed (2 in all)" in finding.message
    lock.write_text("")
    assert only(list(machine.packages())).state == "ok"


def test_the_hub_is_asked_with_a_short_time_limit(
    local_hub: Hub, settings: DjangoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only(list(machine.hub())).state == "ok"
    settings.HF_ENDPOINT = "http://127.0.0.1:9"
    assert only(list(machine.hub())).state == "warning"


@contextmanager
def listening(content: bytes) -> Iterator[int]:
    """A web server that gives this content at every address; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_the_web_server_of_this_site_is_told_from_another_one(
    client: Client, db: None, settings: DjangoSettings
) -> None:
    for content, state in ((client.get("/healthz").content, "ok"), (b"<html>", "warning"), (b"[]", "warning")):
        with listening(content) as settings.PORT:
            assert only(list(machine.web_server())).state == state
    settings.PORT = 9
    assert "Nothing listens" in only(list(machine.web_server())).message


def test_the_checks_of_django_are_among_the_findings(settings: DjangoSettings) -> None:
    settings.SECRET_KEY = "short"
    findings = list(machine.deployment())
    assert [finding.state for finding in findings if "clozeboard.E002" in finding.message] == ["problem"]
    assert all(finding.next_step for finding in findings)


def test_a_site_without_https_has_one_warning_about_it(settings: DjangoSettings) -> None:
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = False
    warnings = [finding for finding in machine.deployment() if "CLOZEBOARD_HTTPS" in finding.next_step]
    assert only(warnings).message == "HTTPS is not set up."
    assert not any("security.W0" in finding.message for finding in machine.deployment())
