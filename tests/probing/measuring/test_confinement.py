"""What strangers' code can do in a measuring process, where the worker is root and where it is another user."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from probing.measuring import limits
from probing.measuring.limits import ROOT
from tests.probing.measuring.hostile import ATTEMPTS

ANOTHER = 12345  # number of a user who owns nothing on the machine
pytestmark = pytest.mark.slow


def as_another_user(folder: Path) -> list[str]:
    """Return the beginning of a command line that makes root another user, who sees the programs in root's home."""
    os.chown(folder, ANOTHER, ANOTHER)
    programs = [path for path in map(Path, (sys.base_prefix, sys.prefix, ROOT)) if path.is_relative_to("/root")]
    binds = [part for path in programs for part in ("--ro-bind", str(path.resolve()), str(path))]
    home = ["--perms", "0755", "--tmpfs", "/root", *limits._folders("0755", programs), *binds]
    rights = ["--reuid", str(ANOTHER), "--regid", str(ANOTHER), "--clear-groups", "--inh-caps=-all"]
    return [limits._bubblewrap(), "--dev-bind", "/", "/", *(home if programs else []), "--", "setpriv", *rights]


@pytest.fixture(scope="module", params=["this user", "another user"])
def report(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What came of all attempts, for each user who may be the worker."""
    if problem := limits.isolation_problem():
        pytest.skip(f"no isolation: {problem}")
    with TemporaryDirectory() as folder:
        start: list[str] = []
        if request.param == "another user":
            if os.geteuid() != 0 or not shutil.which("setpriv"):
                pytest.skip("only root, and with setpriv, can become another user")
            start = as_another_user(Path(folder))
        command = [*start, sys.executable, "-B", "-m", "tests.probing.measuring.hostile", folder]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr
        found: dict[str, Any] = json.loads(ended.stdout)
        if found["problem"]:
            pytest.skip(f"no isolation for this user: {found['problem']}")
        assert found["user"] == (ANOTHER if start else os.getuid())
        yield found


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_strangers_code_tries_is_refused_or_ended(report: dict[str, Any], attempt: str) -> None:
    outcome = report["outcomes"][attempt].strip()
    assert re.search(ATTEMPTS[attempt][1], outcome), outcome


def test_nothing_is_left_beside_the_rows(report: dict[str, Any]) -> None:
    assert report["files"] == ["model", "rows", "secret"]
