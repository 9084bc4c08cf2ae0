"""Log lines: what they belong to, their two forms, and that no secret stands in them."""

import json
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings as used_settings
from django.test import Client, override_settings

from leaderboard.serving.logs import JsonLines, PlainFormatter, run_context, scrubbed

log = logging.getLogger("leaderboard.test")


@pytest.fixture(params=[PlainFormatter, JsonLines])
def lines(request: pytest.FixtureRequest) -> Iterator[StringIO]:
    """What the root logger writes in either form."""
    output = StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(request.param())
    logging.getLogger().addHandler(handler)
    yield output
    logging.getLogger().removeHandler(handler)


def json_line(message: str, **extra: object) -> dict[str, object]:
    record = logging.LogRecord("leaderboard.worker", logging.INFO, "", 0, message, (), None)
    record.__dict__.update(extra)
    return json.loads(JsonLines().format(record))


def test_a_line_names_the_run_and_the_part_that_it_is_about(lines: StringIO) -> None:
    with run_context(run_id=7, worker="host-1"):
        with run_context(part="P30, template 0"):
            log.warning("inside")
        log.warning("between")
    log.warning("outside")
    inside, between, outside = lines.getvalue().splitlines()
    assert "7" in inside and "P30, template 0" in inside and "host-1" in inside
    assert "host-1" in between and "P30" not in between
    assert "host-1" not in outside and "run_id" not in outside


def test_a_line_of_json_has_its_fields_by_name() -> None:
    with run_context(run_id=7, part="P30", worker="host-1", request_id="abcdefgh"):
        line = json_line("Überall 12 €", status_code=404, request=object())
    assert line.pop("time")
    assert line == {
        "level": "INFO",
        "logger": "leaderboard.worker",
        "message": "Überall 12 €",
        "run_id": 7,
        "part": "P30",
        "worker": "host-1",
        "request_id": "abcdefgh",
        "status_code": 404,
    }


def test_an_exception_is_one_line_of_json(lines: StringIO) -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("It failed.")
    if lines.getvalue().startswith("{"):
        (line,) = lines.getvalue().splitlines()
        assert "ValueError: broken" in json.loads(line)["exception"]
    assert "ValueError: broken" in lines.getvalue()


def test_no_secret_stands_in_a_message_its_arguments_or_an_exception(
    lines: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secrets.token_urlsafe(32)
    hidden = [
        "the-secret-key-of-the-site",
        "hub-token-1",
        "metrics-token",
        "redis-password",
        "database-password",
        token,
    ]
    monkeypatch.setitem(used_settings.DATABASES["default"], "PASSWORD", hidden[4])
    with override_settings(
        SECRET_KEY=hidden[0],
        HF_TOKEN=hidden[1],
        METRICS_TOKEN=hidden[2],
        REDIS_URL=f"redis://:{hidden[3]}@host:6379/0",
    ):
        try:
            raise ValueError(f"postgres://u:{hidden[4]}@host/name refused, {hidden[1]}")
        except ValueError:
            log.exception("Key %s, hub %r", hidden[0], {"token": hidden[1]}, extra={"sent": hidden[2]})
        log.warning("Authorization: Bearer short and /submissions/%s/ by redis://:%s@host", token, hidden[3])
    assert "***" in lines.getvalue()
    assert [secret for secret in hidden if secret in lines.getvalue()] == []
    assert "Bearer short" not in lines.getvalue()


def test_digests_commits_and_model_ids_are_no_secrets() -> None:
    text = f"{'0a' * 32} {'0a' * 20} HuggingFaceTB/SmolLM2-135M-Instruct http://127.0.0.1:8000/runs/12/"
    assert scrubbed(text) == text


@pytest.mark.parametrize(("sent", "kept"), [("proxy-0123456789", True), ("short", False), ("a b\x00c" * 4, False)])
def test_a_response_says_the_id_of_its_request(client: Client, db: None, sent: str, kept: bool) -> None:
    request_id = client.get("/methods/", headers={"X-Request-ID": sent})["X-Request-ID"]
    assert (request_id == sent) == kept
    assert len(request_id) >= 8


def test_lines_that_a_request_logs_have_its_id(client: Client, db: None, lines: StringIO) -> None:
    client.get("/nowhere/", headers={"X-Request-ID": "proxy-0123456789"})
    assert "proxy-0123456789" in lines.getvalue()
    assert "/nowhere/" in lines.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("", False)])
def test_the_environment_chooses_the_form(tmp_path: Path, form: str, is_json: bool) -> None:
    code = (
        "import django, logging; django.setup(); from leaderboard.serving.logs import run_context\n"
        "with run_context(run_id=5): logging.getLogger('x').warning('Here.')\n"
        "logging.getLogger('django.request').error('There.')"
    )
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        "CLOZEBOARD_DATA": str(tmp_path),
        "CLOZEBOARD_LOG": form,
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    here, there = done.stderr.splitlines()
    if is_json:
        assert json.loads(here)["run_id"] == 5
        assert json.loads(there)["logger"] == "django.request"
    else:
        assert here.endswith("WARNING x: Here. [run_id=5]")
        assert there.endswith("ERROR django.request: There.")
