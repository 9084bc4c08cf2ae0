"""The files with which a run is repeated."""

import subprocess
from pathlib import Path

import pytest
from django.test import Client
from packaging.requirements import Requirement

from leaderboard.exports.reproduction import command, requirements_file, script_file
from leaderboard.models import Run
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db
PACKAGES = {"python": "3.11.7", "torch": "2.13.0+cpu", "transformers": "5.23.1"}


@pytest.fixture
def run(site: Site) -> Run:
    return with_packages(site.first, PACKAGES)


def with_packages(run: Run, packages: dict[str, str]) -> Run:
    run.provenance_record = {**run.provenance_record, "packages": packages}
    run.save()
    return run


def test_the_requirements_pin_what_the_run_recorded(run: Run, client: Client) -> None:
    response = client.get(f"/runs/{run.pk}/requirements.txt")
    assert response["Content-Disposition"] == 'attachment; filename="requirements.txt"'
    lines = response.content.decode().splitlines()
    assert lines[:2] == ["# Python 3.11.7", "# torch was 2.13.0+cpu"]
    assert [str(Requirement(line)) for line in lines[2:]] == ["torch==2.13.0", "transformers==5.23.1"]


def test_the_script_installs_the_packages_and_calls_the_command_of_the_page(
    run: Run, client: Client, tmp_path: Path
) -> None:
    """`python` is a program that writes down how it was called, so that nothing is installed or measured."""
    (tmp_path / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$*" >> calls\n')
    (tmp_path / "python").chmod(0o755)
    script = client.get(f"/runs/{run.pk}/reproduce.sh").content
    (tmp_path / "reproduce.sh").write_bytes(script)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "reproduce.sh"], cwd=tmp_path, env=environment, check=True)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["-m pip install -r requirements.txt", command(run).removeprefix("python ")]


def test_the_page_of_a_run_offers_both_files(run: Run, client: Client) -> None:
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert f'href="/runs/{run.pk}/reproduce.sh"' in page and f'href="/runs/{run.pk}/requirements.txt"' in page


def test_what_a_stranger_has_recorded_adds_no_line_to_the_files(run: Run) -> None:
    hostile = with_packages(run, {"torch": "2.13.0\n--index-url https://evil.example", "x\nrm": "1", "numpy": "2.1.0"})
    hostile.model.hub_id = "org/first\nrm -rf ."
    assert requirements_file(hostile) == "numpy==2.1.0\n"
    assert not any(line.startswith(("rm", "--index")) for line in script_file(hostile).splitlines()[:-1])


def test_readers_are_told_to_install_no_package_but_those_that_the_library_records(run: Run, client: Client) -> None:
    with_packages(run, {**PACKAGES, "evil-package": "1.0", "-rsecrets": "1.0", "tokenizers": "unknown"})
    files = [client.get(f"/runs/{run.pk}/{rest}").content.decode() for rest in ("", "reproduce.sh", "requirements.txt")]
    for text in files:
        assert "evil-package==" not in text and "-rsecrets==" not in text and "==unknown" not in text
    assert "transformers==5.23.1" in files[2]


@pytest.mark.parametrize("file", ["reproduce.sh", "requirements.txt"])
def test_published_figures_cannot_be_repeated(site: Site, client: Client, file: str) -> None:
    assert client.get(f"/runs/{site.published.pk}/{file}").status_code == 404


def test_a_run_that_records_no_packages_has_no_requirements(site: Site, client: Client) -> None:
    assert client.get(f"/runs/{site.first.pk}/requirements.txt").status_code == 404
    assert "pip install" not in client.get(f"/runs/{site.first.pk}/reproduce.sh").content.decode()
