"""A site that is started from a backup, which the commands of docs/operating.md have made, shows the same pages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from leaderboard.settings import BASE_DIR
from tests.conftest import BearFolder
from tests.tools.deployment import MIGRATE, Deployment

FILL = """
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make
small = Benchmark.objects.get()
make.measured(small, make.model("org/first"), skill=1, seed=1)
make.measured(small, make.model("org/second", kind="masked"), skill=3, seed=2)
make.run(make.model("org/waiting"), small)
"""
PAGES = [  # and those of the first measured run
    "/?format=csv",
    "/benchmarks/small/?format=csv",
    "/benchmarks/small/items/P30-1/",
    "/models/org/first/",
    "/queue/?format=csv",
    "/api/v1/models",
]


def documented_commands(chapter_title: str, first_line: str) -> str:
    """Return the block of commands in a chapter of the page for operators that begins with a line."""
    document = (BASE_DIR / "docs" / "operating.md").read_text(encoding="utf-8")
    (chapter,) = re.findall(rf"^## {chapter_title}\n(.*?)^## ", document, re.DOTALL | re.MULTILINE)
    (block,) = re.findall(rf"^```\n({re.escape(first_line)}.*?)^```", chapter, re.DOTALL | re.MULTILINE)
    return str(block)


def shell(commands: str, site: Deployment, backup: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # where `python` is the one of the environment
    environment = site.environment | {"BACKUP": str(backup), "PATH": path}
    subprocess.run(["bash", "-e", "-c", commands], cwd=BASE_DIR, env=environment, check=True)


def served_pages(site: Deployment) -> dict[str, bytes]:
    with site.served():
        rows = requests.get(f"{site.url}/benchmarks/small/?format=json", timeout=60).json()
        (run,) = [row for row in rows if row["model"] == "org/first"]
        of_run = [f"/runs/{run['run']}/{file}" for file in ("", "items/?format=csv", "items.parquet")]
        answers = {page: requests.get(f"{site.url}{page}", timeout=60) for page in [*PAGES, *of_run]}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {page: answer.content.replace(site.url.encode(), b"") for page, answer in answers.items()}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sqlite3"), reason="No sqlite3 on this machine: apt-get install sqlite3.")
def test_a_site_that_is_started_from_a_backup_shows_the_same_pages(tmp_path: Path) -> None:
    site, copy, backup = Deployment(tmp_path / "site"), Deployment(tmp_path / "copy"), tmp_path / "backup"
    small = BearFolder(tmp_path / "small").write()
    site.run_commands(MIGRATE, ("import_benchmark", "bear", str(small)), then=FILL)
    before = served_pages(site)
    shell(documented_commands("Backup", "umask 077"), site, backup)
    assert backup.stat().st_mode & 0o077 == 0, "only its owner may read it"
    (tmp_path / "site").rename(tmp_path / "lost")
    shell(documented_commands("Backup", "mkdir "), copy, backup)
    after = served_pages(copy)
    assert [page for page, content in before.items() if after[page] != content] == []
