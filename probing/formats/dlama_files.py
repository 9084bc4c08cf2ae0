"""The files of a DLAMA release (methods 4): facts in a folder or an archive, and the folder of templates."""

import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from probing.errors import BadBenchmark
from probing.formats.own_templates import TEMPLATE_FILE

FACTS_PATH = re.compile(
    r"(?:.*/)?(?P<pair>[\w-]+)/\w*lama(?P<raw>_raw)?/(?P<language>[\w-]+)/(?P<predicate>P\d+)(?P<region>_\w+)?\.jsonl"
)
FACTS_GLOB = "*/*lama*/*/P*.jsonl"
ARCHIVES = (".tar.gz", ".tgz")
TEMPLATES_FOLDER = "templates"
LARGEST_RELEASE = 500_000_000  # bytes, unpacked; the largest release that we know has 30 million


def fact_files(path: Path) -> dict[str, bytes]:
    """Return the content of each file of facts by its path: `<pair>/<kind of objects>/<language>/<file>`."""
    place = facts_place(path)
    return _read_archive(place) if place.is_file() else _read_folder(place)


def facts_place(path: Path) -> Path:
    """Return the archive, or the folder that holds the pairs."""
    if path.is_file():
        return path
    if any(path.glob(FACTS_GLOB)):
        return path
    archives = archives_in(path)
    if len(archives) != 1:
        step = "Give the folder that holds <pair>/dlama/<language>/, or the archive."
        raise BadBenchmark(f"{path} holds no facts of DLAMA.", step)
    return archives[0]


def archives_in(folder: Path) -> list[Path]:
    """Return the archives of the folder, by name."""
    return sorted(path for path in folder.glob("*") if path.name.endswith(ARCHIVES))


def _read_folder(folder: Path) -> dict[str, bytes]:
    """Read the files of facts; return their contents by their path below the folder."""
    paths = sorted(path for path in folder.glob(FACTS_GLOB) if path.is_file())
    if sum(path.stat().st_size for path in paths) > LARGEST_RELEASE:
        raise BadBenchmark(
            f"{folder.name} is larger than {LARGEST_RELEASE:,} bytes.",
            "Leave out the languages or pairs that you do not need.",
        )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _read_archive(archive: Path) -> dict[str, bytes]:
    """Read the files of facts in an archive; nothing of it is written to the disk."""
    contents: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                total += member.size
                if total > LARGEST_RELEASE:
                    raise BadBenchmark(
                        f"{archive.name} unpacks to more than {LARGEST_RELEASE:,} bytes.",
                        "Leave out what you do not need.",
                    )
                file = members.extractfile(member) if member.isfile() and FACTS_PATH.fullmatch(member.name) else None
                if file:
                    contents["/".join(PurePosixPath(member.name).parts[-4:])] = file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BadBenchmark(f"{archive.name} cannot be unpacked ({error}).", "Download it again.") from error
    return dict(sorted(contents.items()))


def templates_folder(path: Path) -> Path:
    """Return the folder of templates in the benchmark's folder or beside it; raise `BadBenchmark` if there is none."""
    places = [folder / TEMPLATES_FOLDER for folder in (path, *path.resolve().parents[:1])]
    near = [place for place in places if place.is_dir()]
    if not near:
        step = f"Put {TEMPLATES_FOLDER}/<language>/{TEMPLATE_FILE} into it or beside it."
        raise BadBenchmark(f"There are no templates for {path.name}.", step)
    return near[0]
