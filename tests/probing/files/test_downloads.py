"""Archives from an official source: what is unpacked, what is refused, and failures with a next step."""

import errno
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from probing.errors import NoSpace, SourceUnavailable
from probing.files import downloads
from probing.files.downloads import fetch_archive, fetch_file
from tests.probing.files.served_archive import QuietHandler, packed, serving

Fetch = Callable[..., Path]
BY_HAND = "Download it by hand."


def member(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    (folder / "inner").mkdir(parents=True)
    (folder / "P30.jsonl").write_text("{}")
    (folder / "inner" / "P36.jsonl").write_text("[]")
    return folder


@pytest.fixture
def fetch(tmp_path: Path) -> Iterator[Fetch]:
    """Return a function that serves an archive, fetches what is wanted of it, and returns the new folder."""
    for name in ("served", "new"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "served") as address:

        def serve_and_fetch(archive: bytes, name: str = "archive.tar.gz", wanted: str = "small") -> Path:
            (tmp_path / "served" / name).write_bytes(archive)
            fetch_archive(f"{address}/{name}", [wanted], tmp_path / "new", BY_HAND)
            return tmp_path / "new"

        yield serve_and_fetch


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_unpacked_without_the_top_folder(fetch: Fetch, small: Path) -> None:
    assert contents(fetch(packed(small))) == {"small/P30.jsonl": "{}", "small/inner/P36.jsonl": "[]"}


@pytest.mark.parametrize(
    "other",
    [
        member("top/../../outside.txt", size=1),
        member("top/small/link", type=tarfile.SYMTYPE, linkname="/etc/hostname"),
        member("top/small/hard", type=tarfile.LNKTYPE, linkname="BEAR-3818fdc/small/P30.jsonl"),
        member("top/elsewhere/file", size=1),
        member("top/smaller/file", size=1),
    ],
    ids=lambda info: info.name,
)
def test_links_and_files_elsewhere_are_passed_over(
    fetch: Fetch, small: Path, tmp_path: Path, other: tarfile.TarInfo
) -> None:
    assert contents(fetch(packed(small, other))) == {"small/P30.jsonl": "{}", "small/inner/P36.jsonl": "[]"}
    assert not list(tmp_path.rglob("outside.txt"))


@pytest.mark.parametrize("name", ["top/small/../../../escape.txt", "top/small/../../escape.txt"])
def test_a_path_that_climbs_out_of_a_folder_is_refused(fetch: Fetch, small: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceUnavailable, match="outside"):
        fetch(packed(small, member(name, size=1)))
    assert not list(tmp_path.rglob("escape.txt"))


def test_an_archive_that_unpacks_without_end_is_refused_before_it_is_written(
    fetch: Fetch, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "LARGEST_ARCHIVE", 100)
    with pytest.raises(SourceUnavailable, match="larger than 100 bytes"):
        fetch(packed(small, member("top/small/huge", size=101)))
    assert not list(tmp_path.rglob("huge"))


@pytest.mark.parametrize("archive", [b"", b"<html>Not found</html>", b"\x1f\x8b\x08 but no more"])
def test_what_is_no_archive_is_refused_with_the_address_and_a_next_step(fetch: Fetch, archive: bytes) -> None:
    with pytest.raises(SourceUnavailable, match=r"http://\S+/archive.tar.gz could not be fetched \(.+\)") as caught:
        fetch(archive)
    assert caught.value.next_step == BY_HAND
    assert not caught.value.permanent


def test_an_archive_that_is_not_there_is_told(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as address,
        pytest.raises(SourceUnavailable, match=r"could not be fetched \(File not found\)"),
    ):
        fetch_archive(f"{address}/archive.tar.gz", ["small"], tmp_path / "new", BY_HAND)


def test_a_full_disk_is_told_as_such(fetch: Fetch, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(downloads, "shutil", SimpleNamespace(copyfileobj=full))  # the server copies by shutil, too
    with pytest.raises(NoSpace):
        fetch(packed(small))


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, "x" * 50)
    return buffer.getvalue()


@pytest.fixture
def fetch_zip(fetch: Fetch) -> Fetch:
    """Return a function that serves a .zip and fetches `train.txt` from it into a folder that exists."""
    return lambda archive: fetch(archive, "archive.zip", "train.txt")


def test_of_a_zip_only_the_wanted_files_are_left(fetch_zip: Fetch) -> None:
    folder = fetch_zip(zipped("Release/train.txt", "Release/text.txt", "train.txt"))
    assert contents(folder) == {"train.txt": "x" * 50}


def test_a_zip_that_climbs_out_or_unpacks_without_end_is_refused(
    fetch_zip: Fetch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SourceUnavailable, match="outside"):
        fetch_zip(zipped("Release/train.txt/../../../escape.txt"))
    monkeypatch.setattr(downloads, "LARGEST_ARCHIVE", 300)
    with pytest.raises(SourceUnavailable, match="larger than 300 bytes"):
        fetch_zip(zipped("Release/train.txt", *map(str, range(10))))
    assert contents(tmp_path / "new") == {}


@pytest.mark.parametrize("archive", [b"", b"<html>Not found</html>", zipped("Release/train.txt")[:-30]])
def test_what_is_no_whole_zip_is_refused(fetch_zip: Fetch, archive: bytes) -> None:
    with pytest.raises(SourceUnavailable, match=r"http://\S+/archive.zip could not be fetched"):
        fetch_zip(archive)


def test_a_file_that_breaks_off_or_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class BreaksOff(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")

    with serving(tmp_path, BreaksOff) as address, pytest.raises(SourceUnavailable, match="broken off after 4 bytes"):
        fetch_file(f"{address}/facts.tar.gz", tmp_path, BY_HAND)
    new = tmp_path / "new"
    new.mkdir()
    (tmp_path / "large").write_bytes(b"x" * 101)
    monkeypatch.setattr(downloads, "LARGEST_ARCHIVE", 100)
    with serving(tmp_path) as address, pytest.raises(SourceUnavailable, match="larger than 100 bytes"):
        fetch_file(f"{address}/large", new, BY_HAND)
