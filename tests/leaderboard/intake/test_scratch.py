"""Folders for temporary files."""

import subprocess
import sys
import tempfile
from pathlib import Path

from leaderboard.intake.scratch import remove_abandoned, temporary_files


def test_temporary_files_are_removed_with_their_folder(data: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files() as folder:
        file = Path(tempfile.mkdtemp()) / "file"
        file.write_text("text")
        assert folder in file.parents
        remove_abandoned()
        assert file.exists()
    assert not folder.exists()
    assert tempfile.gettempdir() == before


def test_the_folder_of_a_killed_process_is_removed(data: Path) -> None:
    program = (
        "import os, tempfile\nfrom django.conf import settings\nsettings.configure(DATA=os.environ['DATA'])\n"
        "from leaderboard.intake.scratch import temporary_files\n"
        "with temporary_files():\n    tempfile.mkstemp()\n    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program], env={"DATA": str(data), "PYTHONPATH": ":".join(sys.path)})
    folders = [path for path in (data / "scratch").iterdir() if path.is_dir()]
    assert len(folders) == 1
    remove_abandoned()
    assert not folders[0].exists()
