"""Folders for temporary files."""

import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.intake.disk import remove_abandoned, remove_abandoned_downloads, temporary_files


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
        "import os, tempfile\nimport django\ndjango.setup()\n"
        "from leaderboard.intake.disk import temporary_files\n"
        "with temporary_files():\n    tempfile.mkstemp()\n    os._exit(9)\n"
    )
    site = {"CLOZEBOARD_DATA": str(data), "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "DEBUG": "1"}
    subprocess.run([sys.executable, "-c", program], env=site | {"PYTHONPATH": ":".join(sys.path)})
    folders = [path for path in (data / "scratch").iterdir() if path.is_dir()]
    assert len(folders) == 1
    remove_abandoned()
    assert not folders[0].exists()


def test_the_half_of_a_download_is_removed_unless_the_download_goes_on(settings: DjangoSettings) -> None:
    blobs = settings.HUB_CACHE / "models--org--name" / "blobs"
    locks = settings.HUB_CACHE / ".locks" / "models--org--name"
    for folder in (blobs, locks):
        folder.mkdir(parents=True)
    for name in ("a0.12345678.incomplete", "b1.12345678.incomplete", "c2"):
        (blobs / name).write_text("half")
    with FileLock(locks / "b1.lock"):
        remove_abandoned_downloads()
    assert sorted(path.name for path in blobs.iterdir()) == ["b1.12345678.incomplete", "c2"]
