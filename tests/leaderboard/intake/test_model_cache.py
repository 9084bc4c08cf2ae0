"""Room on the disk: downloaded models take no more of it than their limit, and temporary files are removed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from pytest_django.fixtures import Settings as DjangoSettings
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.intake import hub
from leaderboard.intake.disk import remove_abandoned, remove_abandoned_downloads, temporary_files
from leaderboard.models import Benchmark, Run
from probing.errors import NoSpace
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def commits(local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path) -> list[str]:
    """The commits of six checkpoints of one training, whose weights differ."""
    made = []
    for step in range(6):
        folder = shutil.copytree(tiny_models["org/causal"], tmp_path / f"step{step}")
        weights = bytearray((folder / "model.safetensors").read_bytes())
        weights[-1] = step + 1
        (folder / "model.safetensors").write_bytes(weights)
        made.append(local_hub.repositories["org/causal"].add_revision(f"step{step}", folder).commit)
    return made


def downloaded(settings: SiteSettings) -> set[str]:
    return {path.name for path in settings.HUB_CACHE.glob("models--org--causal/snapshots/*")}


def blobs(settings: SiteSettings) -> int:
    return sum(path.stat().st_size for path in settings.HUB_CACHE.glob("models--*/blobs/*"))


def download(commit: str, moment: int) -> Path:
    """Download a commit that is used last at this moment."""
    folder = hub.download(hub.find("org/causal", commit))
    os.utime(folder, (moment, moment))
    return folder


def test_a_series_takes_no_more_than_the_limit_and_the_oldest_go_first(
    commits: list[str], settings: SiteSettings
) -> None:
    first, *_, last = commits
    download(first, 0)
    settings.HUB_CACHE_LIMIT = int(3.5 * blobs(settings))
    for moment, commit in enumerate(commits, start=1):
        folder = download(commit, moment)
        assert {"config.json", "model.safetensors"} <= {path.name for path in folder.iterdir()}
        assert blobs(settings) <= settings.HUB_CACHE_LIMIT
    assert first not in downloaded(settings)
    assert last in downloaded(settings)


def test_what_is_being_measured_or_was_used_lately_stays(
    commits: list[str], small: Benchmark, settings: SiteSettings
) -> None:
    measured, used, older, new = commits[:4]
    make.run(make.model("org/causal", commit=measured), small, Run.State.SCORING)
    download(measured, 0)
    size = blobs(settings)
    for moment, commit in enumerate((used, older), start=1):
        download(commit, moment)
    download(used, 9)
    settings.HUB_CACHE_LIMIT = blobs(settings) + size // 2  # the files that all share count for a new one as well
    download(new, 10)
    assert downloaded(settings) == {measured, used, new}


def test_a_full_disk_makes_room_and_only_then_refuses(
    commits: list[str], settings: SiteSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HUB_CACHE_LIMIT = 0
    old, new = commits[:2]
    download(old, 0)
    size = blobs(settings)

    def free() -> int:
        return 10**9 + size - blobs(settings)

    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, free()))
    download(new, 1)
    assert downloaded(settings) == {new}
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, 10**9))
    hub.download(hub.find("org/causal", new))  # it is there already
    with pytest.raises(NoSpace, match="no room"):
        hub.download(hub.find("org/causal", old))


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
