"""The start of a measuring process: a program is imported without garbage collection."""

import subprocess
import sys
from pathlib import Path

from probing.measuring.limits import ROOT


def test_a_program_gets_its_arguments_and_is_imported_without_garbage_collection(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import gc, sys; print(__name__, gc.isenabled(), sys.argv[1:])")
    done = subprocess.run(
        [sys.executable, "-m", "probing.measuring.entry", "program", "folder"],
        env={"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "__main__ False ['folder']"
