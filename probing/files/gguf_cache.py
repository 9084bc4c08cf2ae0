"""Networks of GGUF files in the user's cache folder, kept as safetensors so that they are de-quantised once.

A kept network is a folder of its own, which is whole or absent. Its name is a digest of everything that it follows
from: the GGUF file, the number format of the weights, and the versions of the packages that computed them. The folder
is used only while nobody else can write to it and each of its files has the digest that it was kept with.
"""

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

from probing.errors import BadInput, ProbingError
from probing.files.folders import alone, new_folder

GIGABYTES = "CLOZEBOARD_GGUF_CACHE_GB"  # the environment variable of the room; with 0 nothing is kept or used
USUAL_GIGABYTES = 20.0
FORM = 2  # changes with what is stored in a folder
PACKAGES = ("gguf", "numpy", "safetensors", "tokenizers", "torch", "transformers")
DIGESTS = "digests.json"
IN_USE = 3600.0  # seconds for which a folder is not removed after its last use: a process may still be reading it
SPARE_DISK = 10**9  # bytes that keeping leaves free on the disk
PRIVATE = 0o700


def cache_folder() -> Path:
    """Return the folder in which this program keeps what can be made or fetched again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clozeboard"


@dataclass(frozen=True)
class GgufCache:
    """A folder of kept networks that takes at most `room` bytes; those that were used longest ago are removed first."""

    folder: Path
    room: float

    @classmethod
    def of_user(cls) -> Self:
        """Return the cache of this user with the room that the environment names."""
        stated = os.environ.get(GIGABYTES, "") or str(USUAL_GIGABYTES)
        try:
            gigabytes = float(stated)
        except ValueError as error:
            raise BadInput(f"{GIGABYTES} is {stated!r}, which is no number.", "Give gigabytes, or 0.") from error
        return cls(cache_folder() / "gguf", gigabytes * 1e9)

    def find(self, key: str) -> Path | None:
        """Return the folder of a kept network, None if there is none that can be trusted."""
        kept = self.folder / key
        with suppress(OSError, ValueError):
            if self.room > 0 and is_private(self.folder) and is_private(kept) and _is_unchanged(kept):
                os.utime(kept)
                return kept
        return None

    def keep(self, key: str, size: float, write: Callable[[Path], None]) -> None:
        """Keep what `write` puts into a folder, about `size` bytes, if there is room for it and it can be written.

        Nothing is kept, and no error is raised, where the disk is full or cannot be written, or another process is
        keeping something.
        """
        if not 0 < size <= self.room:
            return
        with suppress(ProbingError, OSError):
            self.folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            with alone(self.folder / "writing", may_exist=True):
                if is_private(self.folder) and self._make_room(key, size):
                    self._write(key, write)

    def _write(self, key: str, write: Callable[[Path], None]) -> None:
        with new_folder(self.folder / key) as folder:
            write(folder)
            digests = {path.name: _digest(path) for path in folder.iterdir()}
            (folder / DIGESTS).write_text(json.dumps(digests), encoding="utf-8")
        (self.folder / key).chmod(PRIVATE)

    def _make_room(self, key: str, size: float) -> bool:
        """Remove what nobody can use, and then what was used longest ago; tell whether there is room for `size` bytes.

        Only the process that holds the lock writes, so that all hidden folders are left from processes that were
        killed.
        """
        folders = [path for path in self.folder.iterdir() if path.is_dir()]
        useless = [path for path in folders if path.name.startswith(".") or path.name == key]
        for path in useless:
            shutil.rmtree(path)
        kept = sorted(set(folders) - set(useless), key=_last_use)
        sizes = {path: _size(path) for path in kept}
        for path in kept:
            if sum(sizes.values()) + size <= self.room:
                break
            if time.time() - _last_use(path) > IN_USE:
                shutil.rmtree(path)
                del sizes[path]
        fits = sum(sizes.values()) + size <= self.room
        return fits and shutil.disk_usage(self.folder).free > size + SPARE_DISK


def key_of(digest: str, dtype: str) -> str:
    """Return the name under which the network of a GGUF file with this SHA-256 is kept, its weights in this format."""
    facts = {"form": FORM, "gguf": digest, "dtype": dtype, "packages": {name: version(name) for name in PACKAGES}}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def is_private(folder: Path) -> bool:
    """Tell whether this is a folder, and no link to one, that only this user can read and write."""
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o077


def _is_unchanged(folder: Path) -> bool:
    digests = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
    names = {path.name for path in folder.iterdir()}
    return names == {*digests, DIGESTS} and all(_digest(folder / name) == digests[name] for name in digests)


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; raise `OSError` for a link."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _last_use(folder: Path) -> float:
    return folder.stat().st_mtime


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
