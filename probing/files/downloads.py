"""Downloads from official sources: archives and data sets, never unpacked outside their folder.

Parquet files of a data set come from the Hugging Face Hub without an account. Where a source states no digest of a
file, that of the first download is kept and compared with.
"""

import hashlib
import json
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any

import httpx2

from probing.errors import DigestMismatch, SourceUnavailable
from probing.files.folders import new_file, space

LARGEST_ARCHIVE = 500_000_000  # bytes, as they are sent and when unpacked
LARGEST_JSON = 5_000_000  # bytes
READ_TIMEOUT = 60  # seconds without a byte
PARQUET = ".parquet"


def fetch_archive(address: str, paths: Sequence[str], folder: Path, by_hand: str) -> None:
    """Unpack the plain files below `paths` of the .tar.gz or .zip at `address`, without the archive's top folder.

    `by_hand`: the next step for people if the network fails.
    """
    unpacked = unpack_zip if address.endswith(".zip") else unpack
    with _answer(address, folder, by_hand) as answer, TemporaryFile(dir=folder) as copy:
        _copy(answer, copy, LARGEST_ARCHIVE)
        copy.seek(0)
        unpacked(copy, paths, folder)


def fetch_file(address: str, folder: Path, by_hand: str) -> None:
    """Download the file at `address` into the folder, under the last part of its address."""
    with _answer(address, folder, by_hand) as answer, (folder / PurePosixPath(address).name).open("wb") as file:
        _copy(answer, file, LARGEST_ARCHIVE)


def fetch_json(address: str, folder: Path, by_hand: str) -> Any:
    """Return the JSON at `address`; raise `SourceUnavailable` if it is not JSON or too long.

    `folder`: where the files that it is about will be written.
    """
    content = BytesIO()
    with _answer(address, folder, by_hand) as answer:
        _copy(answer, content, LARGEST_JSON)
    try:
        return json.loads(content.getvalue())
    except (ValueError, RecursionError) as error:
        raise SourceUnavailable(f"{address} does not answer with JSON.", by_hand) from error


@contextmanager
def _answer(address: str, folder: Path, by_hand: str) -> Iterator[httpx2.Response]:
    """Yield what the source sends, to be read as a stream; any fault of it becomes `SourceUnavailable`."""
    headers = {"User-Agent": "clozeboard", "Accept-Encoding": "identity"}
    sending = httpx2.stream("GET", address, headers=headers, timeout=READ_TIMEOUT, follow_redirects=True)
    try:
        with space(folder), sending as answer:
            if not answer.is_success:
                raise OSError(answer.reason_phrase or f"status {answer.status_code}")
            yield answer
    except (
        *(httpx2.HTTPError, httpx2.InvalidURL),
        *(OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error),
    ) as error:
        raise SourceUnavailable(f"{address} could not be fetched ({error}).", by_hand) from error


def _copy(answer: httpx2.Response, target: IO[bytes], largest: int) -> None:
    total = 0
    try:
        for chunk in answer.iter_raw():
            total += len(chunk)
            _refuse_larger(total, largest)
            target.write(chunk)
    except httpx2.RemoteProtocolError as error:  # fewer bytes came than were announced
        raise EOFError(f"broken off after {total:,} bytes") from error


def _refuse_larger(size: int, largest: int) -> None:
    if size > largest:
        raise tarfile.ReadError(f"larger than {largest:,} bytes")


def unpack(stream: IO[bytes], paths: Sequence[str], folder: Path) -> None:
    """Unpack the plain files below `paths` of a .tar.gz as `fetch_archive` does."""
    total = 0
    with tarfile.open(fileobj=stream, mode="r|gz") as archive:
        for member in archive:
            total += member.size
            _refuse_larger(total, LARGEST_ARCHIVE)
            content = archive.extractfile(member) if member.isreg() else None
            if content and (path := _wanted_path(member.name, paths)):
                _write_member(content, folder / path)


def unpack_zip(file: IO[bytes], paths: Sequence[str], folder: Path) -> None:
    """Unpack the files below `paths` of a .zip as `fetch_archive` does."""
    with zipfile.ZipFile(file) as archive:
        _refuse_larger(sum(member.file_size for member in archive.infolist()), LARGEST_ARCHIVE)
        for member in archive.infolist():
            path = None if member.is_dir() else _wanted_path(member.filename, paths)
            if path:
                with archive.open(member) as content:
                    _write_member(content, folder / path)


def _wanted_path(name: str, paths: Sequence[str]) -> PurePosixPath | None:
    """Return a member's path without the top folder if it lies below one of `paths`, else None.

    The filters of `tarfile` would check paths as well, but Python 3.11 has them only from 3.11.4 on.
    """
    path = PurePosixPath(*PurePosixPath(name).parts[1:])
    if not any(path.is_relative_to(folder) for folder in paths):
        return None
    if ".." in path.parts:
        raise tarfile.ReadError(f"{name!r} would be unpacked outside its folder")
    return path


def _write_member(content: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with content, target.open("wb") as file:
        shutil.copyfileobj(content, file)


@dataclass(frozen=True)
class HubFolder:
    """The Parquet files in one folder of a data set, as they are at present.

    `data_set`: its id, such as lm-pub-quiz/BEAR. The hub is the one that HF_ENDPOINT names.
    """

    data_set: str
    name: str

    @property
    def address(self) -> str:
        return f"{_endpoint()}/datasets/{self.data_set}/tree/main/{self.name}"

    def fetch(self, folder: Path, by_hand: str) -> None:
        """Download the files into `folder`; raise `SourceUnavailable` where the hub has none or does not answer."""
        listing = fetch_json(f"{_endpoint()}/api/datasets/{self.data_set}/tree/main/{self.name}", folder, by_hand)
        names = [name for entry in (listing if isinstance(listing, list) else []) if (name := self._own_file(entry))]
        if not names:
            raise SourceUnavailable(f"There are no Parquet files at {self.address}.", by_hand)
        for name in names:
            fetch_file(f"{_endpoint()}/datasets/{self.data_set}/resolve/main/{self.name}/{name}", folder, by_hand)

    def _own_file(self, entry: Any) -> str:
        path = PurePosixPath(str(entry.get("path"))) if isinstance(entry, dict) else PurePosixPath()
        return path.name if path.suffix == PARQUET and path.parent == PurePosixPath(self.name) else ""


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co")


def digests_file(folder: Path) -> Path:
    """Return the file beside the folder that has the digests of its files, as `sha256sum` prints them."""
    return folder.with_name(f"{folder.name}.sha256")


def compare_or_record(folder: Path, digests: Path, apart_from: Iterable[str]) -> None:
    """Compare all files of the folder with those of the first download, or record them if this is the first.

    `digests`: where the record is kept; it stays when the folder is removed. `apart_from`: folders with files that were
    not downloaded. Raises `DigestMismatch` if a file differs, is missing or is new.
    """
    lines = sorted(
        f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n"
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in apart_from
    )
    if not digests.is_file():
        with new_file(digests) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8")
        return
    recorded = digests.read_text(encoding="utf-8").splitlines(keepends=True)
    if different := sorted(set(lines) ^ set(recorded)):
        name = different[0].split(maxsplit=1)[1].strip()
        raise DigestMismatch(
            f"{name} differs from the first download, whose SHA-256 are in {digests}.",
            "Find out which of the two is right; to accept the new files, remove that record.",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
