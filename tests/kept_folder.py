"""Folders that many tests need with the same files: made once in this process, and written again for each of them."""

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

FOLDERS: dict[Hashable, dict[Path, bytes]] = {}


def kept_folder(name: Hashable, folder: Path, make: Callable[[Path], object]) -> Path:
    """Fill a folder, by `make` the first time and with the same files afterwards; return it.

    `name`: everything on which the files depend.
    """
    if name in FOLDERS:
        write_files(folder, FOLDERS[name])
    else:
        make(folder)
        FOLDERS[name] = files_of(folder)
    return folder


def files_of(folder: Path) -> dict[Path, bytes]:
    """Return the contents of all files in a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def write_files(folder: Path, files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
