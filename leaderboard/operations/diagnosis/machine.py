"""Checks of the machine and its neighbours: isolation, accelerator, packages, settings, hub and web server."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import requests
from django.conf import settings
from django.core import checks
from packaging.requirements import InvalidRequirement, Requirement

from leaderboard.operations.diagnosis.findings import Finding, fine, problem, warning
from probing.measuring import sandbox

SECONDS = 4.0  # that an answer of the hub or of the web server may take
LOCK = settings.BASE_DIR / "requirements.txt"
HTTPS_CHECKS = {"security.W004", "security.W008", "security.W012", "security.W016"}  # what CLOZEBOARD_HTTPS=1 mends


def isolation() -> Iterator[Finding]:
    if reason := sandbox.problem():
        step = "Install bubblewrap (apt-get install bubblewrap) and allow unprivileged user namespaces."
        yield warning("isolation", f"Models are measured without isolation: {reason}.", step)
    else:
        yield fine("isolation", "Models are measured in a sandbox without network.")


def accelerator() -> Iterator[Finding]:
    """Ask the driver for its GPUs; torch is not loaded for this."""
    program = shutil.which("nvidia-smi")
    if program is None:
        yield fine("accelerator", "There is no NVIDIA driver; workers here compute on the processor.")
        return
    command = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        done = subprocess.CompletedProcess(command, 1, "", str(error))
    if done.returncode or not done.stdout.strip():
        answer = (done.stderr or done.stdout).strip()[:200]
        yield warning(
            "accelerator", f"The driver shows no GPU: {answer}", "Install the driver again, or pass the GPU on."
        )
    else:
        yield fine("accelerator", f"GPUs: {'; '.join(done.stdout.strip().splitlines())}.")


def packages() -> Iterator[Finding]:
    """Compare the installed versions with those of the lock file."""
    different = list(_differences(LOCK))
    if different:
        sentence = (
            f"Installed versions are not those of {LOCK.name}: {'; '.join(different[:5])} ({len(different)} in all)."
        )
        yield warning("packages", sentence, "Run make install.")
    else:
        yield fine("packages", f"All installed versions are those of {LOCK.name}.")


def _differences(lock: Path) -> Iterator[str]:
    for line in re.findall(r"^[A-Za-z0-9][^\\\n]*", lock.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            requirement = Requirement(line.strip())
        except InvalidRequirement:
            continue
        if requirement.marker and not requirement.marker.evaluate():
            continue
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            yield f"{requirement.name} is not installed"
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            yield f"{requirement.name} is {installed}, not {str(requirement.specifier).lstrip('=')}"


def deployment() -> Iterator[Finding]:
    """Repeat `manage.py check --deploy`."""
    messages = checks.run_checks(include_deployment_checks=True)
    if not settings.HTTPS:
        step = "Behind a proxy with TLS, set CLOZEBOARD_HTTPS=1. A site for this machine alone needs no HTTPS."
        yield warning("settings", "HTTPS is not set up.", step)
    for message in messages:
        if message.is_silenced() or (message.id in HTTPS_CHECKS and not settings.HTTPS):
            continue
        make = problem if message.level >= checks.ERROR else warning
        text = re.sub(r"\s+", " ", message.msg)
        step = re.sub(r"\s+", " ", message.hint or "See manage.py check --deploy.")
        yield make("settings", f"{text} ({message.id})", step)
    if not messages:
        yield fine("settings", "manage.py check --deploy finds nothing.")


def hub() -> Iterator[Finding]:
    address = settings.HF_ENDPOINT
    try:
        requests.head(address, timeout=SECONDS, allow_redirects=False)
    except requests.RequestException as error:
        step = "Let the proxy or firewall pass it, or correct HF_ENDPOINT. Local models are measured all the same."
        yield warning("hub", f"{address} does not answer ({type(error).__name__}).", step)
    else:
        yield fine("hub", f"{address} answers.")


def web_server() -> Iterator[Finding]:
    address = f"http://127.0.0.1:{settings.PORT}/healthz"
    host = next((name for name in settings.ALLOWED_HOSTS if name[0] not in ".*"), "localhost")
    try:
        answer = requests.get(address, timeout=SECONDS, headers={"Host": host}, allow_redirects=False)
        state = answer.json()["state"]
    except requests.ConnectionError:
        step = "Start it on this port, or set PORT to the one that it listens on, if it runs on this machine."
        yield warning("web server", f"Nothing listens on port {settings.PORT}.", step)
    except (requests.RequestException, json.JSONDecodeError, KeyError, TypeError):
        step = "Set PORT to the port of the web server, and ALLOWED_HOSTS to the names of the site."
        yield warning("web server", f"What listens on port {settings.PORT} is not this site.", step)
    else:
        yield fine("web server", f"It answers on port {settings.PORT} and calls the site {state}.")
