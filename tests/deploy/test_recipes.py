"""The recipes in deploy/: they are well-formed, and every command in them is one that this checkout understands."""

import argparse
import configparser
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import load_command_class

from leaderboard.settings import BASE_DIR
from probing.__main__ import parser as library_parser

DEPLOY = BASE_DIR / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


def understand(command: Sequence[str]) -> None:
    """Parse a command line of a recipe as the program would; the parser ends the test if it does not know it."""
    program = list(command)[list(command).index("manage.py" if "manage.py" in command else "-m") :]
    if program[0] == "-m":
        assert program[1] == "probing"
        library_parser().parse_args(program[2:])
        return
    app = (
        "leaderboard" if (BASE_DIR / "leaderboard/management/commands" / f"{program[1]}.py").exists() else "django.core"
    )
    parser = load_command_class(app, program[1]).create_parser("manage.py", program[1])
    parser.parse_args(program[2:])


def commands() -> Iterator[tuple[str, Sequence[str]]]:
    """The command lines in all recipes, with the place of each."""
    for path in UNITS:
        for name, value in unit(path).items("Service"):
            if name.startswith("exec"):
                yield path.name, shlex.split(value.replace("%i", "cuda:1"))
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    for name, service in compose["services"].items():
        if "build" in service and "command" in service:
            yield f"compose {name}", service["command"]
    images = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.M)
    assert len(images) == 2
    for image in images:
        yield "Dockerfile", yaml.safe_load(image)


def test_each_recipe_serves_every_queue_and_calls_for_the_repeating_job(subtests: pytest.Subtests) -> None:
    lines, queues = [(source, list(command)) for source, command in commands()], set(settings.RQ_QUEUES)
    for recipe in ("clozeboard-", "compose "):
        with subtests.test(recipe):
            own = [command[command.index("manage.py") + 1 :] for source, command in lines if source.startswith(recipe)]
            served = {name for command in own if command[0] == "rqworker" for name in command[1:]}
            all_in_one = ["rqworker"] in own  # without queues, all processes of one machine
            assert all_in_one or (queues <= served and ["rqcron"] in own)


def test_only_the_image_of_workers_has_torch() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.findall(r" AS (\w+)$", dockerfile, re.M)) == {"packages", "web", "worker"}
    stages = re.split(r"^FROM ", dockerfile, flags=re.M)[1:]
    assert ['pip install --no-cache-dir "$(grep' in stage for stage in stages] == [False, True, False]
    (leave_out,) = re.findall(r"^RUN (sed .* requirements\.txt) >", stages[0], re.M)
    locked = subprocess.run(leave_out, shell=True, cwd=BASE_DIR, capture_output=True, text=True, check=True).stdout
    pinned = (BASE_DIR / "requirements.txt").read_text(encoding="utf-8")
    names = [re.findall(r"^([\w.-]+)==", text, re.M) for text in (locked, pinned)]
    assert names[0] == [name for name in names[1] if name != "torch"]
    assert "requirements-gpu" not in locked
    assert "--hash=sha512" not in locked
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    targets = {name: service["build"]["target"] for name, service in compose["services"].items() if "build" in service}
    assert targets == {"migrate": "web", "web": "web", "worker": "worker"}


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read(path)
    return parser


def test_every_command_is_understood(subtests: pytest.Subtests) -> None:
    for source, command in commands():
        with subtests.test(source):
            understand(command)


def problems_of_unit(path: Path) -> list[str]:
    """Return what systemd's own check, where it is installed, says about a unit."""
    if not shutil.which("systemd-analyze"):
        return []
    answer = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
    return [line for line in answer.stderr.splitlines() if path.name in line and "not executable" not in line]


def test_systemd_units_are_valid(subtests: pytest.Subtests) -> None:
    for path in UNITS:
        with subtests.test(path.name):
            sections = unit(path)
            assert sections["Service"]["User"] == "clozeboard"
            assert set(sections.sections()) == {"Unit", "Service", "Install"}
            assert sections["Service"]["Restart"] == "always"
            assert problems_of_unit(path) == []


def test_compose_is_well_formed() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert set(compose["services"]) == {"database", "queue", "migrate", "web", "worker"}
    for name, service in compose["services"].items():
        assert set(service.get("depends_on", {})) <= set(compose["services"]), name
        volumes = {volume.split(":")[0] for volume in service.get("volumes", [])}
        assert volumes <= set(compose["volumes"]), name


def test_the_image_has_what_the_site_reads_and_nothing_else_of_the_checkout() -> None:
    lines = (BASE_DIR / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*", "what is not named stays outside: var/ has the secret key and the database"
    included = {rule[1:] for rule in rules if rule.startswith("!")}
    assert all((BASE_DIR / name).exists() for name in included)
    sources = [*(BASE_DIR / "leaderboard").rglob("*.py"), *(BASE_DIR / "probing").rglob("*.py")]
    names = re.findall(r'BASE_DIR / "(\w+)"', "".join(path.read_text(encoding="utf-8") for path in sources))
    recipe = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (.*) \./$", recipe, re.M) for name in line.split()]
    assert {*names, *copied, "probing", "leaderboard", "manage.py"} - {"var"} <= included
    assert not included & {"var", ".git", "tests"}


def settings_of(recipe: str) -> dict[str, str]:
    """Return the settings that a recipe gives to the web server."""
    if recipe == "systemd":
        lines = (DEPLOY / "systemd" / "clozeboard.env.example").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return {name: str(value) for name, value in compose["services"]["web"]["environment"].items()}


@pytest.mark.parametrize("recipe", ["systemd", "compose"])
def test_a_site_by_https_knows_its_proxy_and_does_not_redirect_pages_to_themselves(recipe: str) -> None:
    settings = settings_of(recipe)
    assert settings["CLOZEBOARD_HTTPS"] and settings["CLOZEBOARD_TRUSTED_PROXIES"]


def test_containers_that_measure_may_make_namespaces() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    needed = {"seccomp:unconfined", "apparmor:unconfined", "systempaths=unconfined"}
    assert needed <= set(compose["services"]["worker"]["security_opt"])


def test_every_setting_in_the_recipes_exists() -> None:
    documented = (BASE_DIR / "docs" / "operating.md").read_text(encoding="utf-8")
    for path in [*DEPLOY.rglob("*.example"), *DEPLOY.rglob("*.yaml")]:
        for name in re.findall(r"\bCLOZEBOARD_\w+", path.read_text(encoding="utf-8")):
            assert f"`{name}`" in documented, f"{path.name}: {name}"


def test_the_parser_of_this_test_refuses_what_is_wrong() -> None:
    with pytest.raises((SystemExit, argparse.ArgumentError, Exception)):
        understand([sys.executable, "manage.py", "rqworker", "--no-such-option"])
