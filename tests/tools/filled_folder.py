"""The data folder of the filled site, made once for all processes of a test session."""

import fcntl
import shutil
from pathlib import Path

import pytest

from tests.tools.deployment import MIGRATE, Deployment


def copy_filled_folder(temporary: pytest.TempPathFactory, target: Path) -> None:
    """Copy the data of a site that `tests.filled_site` has filled; whoever asks first makes it."""
    session = temporary.getbasetemp()
    if session.name.startswith("popen-"):  # the folder of one of several processes
        session = session.parent
    made = session / "filled"
    with (session / "filled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            site = Deployment(session / "being-filled")
            site.run_commands(MIGRATE, then="from tests import filled_site; filled_site.fill()")
            (session / "being-filled").rename(made)
    shutil.copytree(made, target, dirs_exist_ok=True)
