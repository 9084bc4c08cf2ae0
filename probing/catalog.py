"""The catalog: benchmarks known by name are downloaded from their sources, and all are opened by name or folder.

`known_benchmarks.toml` lists and explains them.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadBenchmark, BadInput, DigestMismatch, nearest, suggestion
from probing.files.downloads import HubFolder, compare_or_record, digests_file, fetch_archive, fetch_file
from probing.files.folders import missing_path, near_path, new_folder
from probing.formats import FORMATS, format_of
from probing.formats.dlama import TEMPLATES_FOLDER
from probing.formats.own_wordings import PROJECT, source_note, write_questions, write_templates
from probing.formats.table import SUFFIXES

# The benchmarks that ship with the project are inside the installed library, or beside it in a checkout.
PACKAGED = Path(__file__).resolve().parent / "embedded"
EMBEDDED = PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[1] / "fixtures"
PAPERS_TEMPLATES = "mlama"  # the downloaded benchmark whose templates are those of the papers that have none
OTHER_NAMES = {"lama": "trex"}  # of LAMA, its facts from T-REx are known here


@dataclass(frozen=True)
class Download:
    """A file that is fetched, or with `paths` an archive of which these are kept in the folder `into`."""

    address: str
    paths: tuple[str, ...] = ()
    into: str = ""

    def fetch(self, folder: Path, by_hand: str) -> None:
        target = folder / self.into
        target.mkdir(parents=True, exist_ok=True)
        if self.paths:
            fetch_archive(self.address, self.paths, target, by_hand)
        else:
            fetch_file(self.address, target, by_hand)


@dataclass(frozen=True)
class KnownBenchmark:
    """A benchmark of the catalog; its fields are those of an entry of `known_benchmarks.toml`."""

    slug: str
    title: str
    format: str
    description: str
    licence: str
    probe: str = "multiple_choice"
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    commit: str = ""
    downloads: tuple[Download | HubFolder, ...] = ()
    digest: str = ""
    citation: str = ""
    lacks_templates: bool = False

    def read(self, folder: Path) -> Benchmark:
        """Read the benchmark in `folder`, under the name, title and probe of the catalog.

        The title says so where templates of this project stand in for the authors', which is another measurement.
        """
        content = FORMATS[self.format](folder)
        has_own = self.lacks_templates and any(note.startswith(source_note(PROJECT)) for note in content.notes)
        title = f"{self.title} with templates of {PROJECT}" if has_own else self.title
        return replace(content, slug=self.slug, title=title, probe=self.probe)


def open_benchmark(name: str | Path, data_dir: Path | None = None) -> Benchmark:
    """Open a benchmark by its slug, or else by its folder or archive; ./bear is a folder even if bear is a slug.

    `data_dir`: the folder with the benchmarks that were downloaded; by default that of the command `download`.
    Raises `BadInput` where there is no such benchmark, and `BadBenchmark` with file and line where one cannot be read.

    Examples:
        >>> import probing
        >>> benchmark = probing.open_benchmark("starter")
        >>> benchmark.size, benchmark["country_capital"].templates[0]
        (1352, 'The capital of [X] is [Y].')
    """
    if not isinstance(name, str | Path):
        if hasattr(name, "columns"):
            raise BadInput("A table is no benchmark.", "Make one of it: probing.Benchmark.from_frame(table).")
        raise BadInput(f"{name!r:.80} is no benchmark.", f"Give a folder or one of: {', '.join(CATALOG)}.")
    if entry := CATALOG.get(known_name(name)):
        return entry.read(known_folder(entry, data_dir))
    if not Path(name).exists():
        if Path(name).suffix in SUFFIXES:
            raise BadInput(*missing_path(Path(name), "file"))
        near = nearest(str(name), CATALOG) or near_path(Path(name))
        step = f"Did you mean {near!r}?" if near else f"Give a folder or one of: {', '.join(CATALOG)}."
        raise BadInput(f"{name} is neither a folder nor a known benchmark.", step)
    return FORMATS[format_of(Path(name))](Path(name))


def named_folder(name: str | Path) -> Path:
    """Return the folder of the known benchmark of this name, or else the folder that is named."""
    entry = CATALOG.get(known_name(name))
    return known_folder(entry) if entry else Path(name)


def known_name(name: str | Path) -> str:
    """Return the name in the catalog of a benchmark that may be called otherwise; other names stay as they are."""
    return OTHER_NAMES.get(str(name), str(name))


def benchmarks_folder() -> Path:
    """Return the folder of downloaded benchmarks: `benchmarks` in the folder that CLOZEBOARD_DATA names."""
    return Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "benchmarks"


def known_benchmark(slug: str) -> KnownBenchmark:
    """Return an entry of the catalog; raise `BadInput` if there is none of this name."""
    if slug not in CATALOG:
        raise BadInput(f"No benchmark is called {slug!r}.", suggestion(slug, CATALOG))
    return CATALOG[slug]


def known_folder(benchmark: KnownBenchmark, data_dir: Path | None = None) -> Path:
    """Return the folder of a known benchmark; raise `BadInput` where it has not been downloaded yet."""
    folder = (data_dir or benchmarks_folder()) if benchmark.downloads else EMBEDDED
    if not (folder / benchmark.slug).is_dir():
        step = f"Fetch it with: python -m probing download {benchmark.slug}, or give the folder that has it."
        raise BadInput(f"The benchmark {benchmark.slug} is not on this machine.", step)
    return folder / benchmark.slug


def download(slug: str, target: Path, templates: Path | None = None) -> Benchmark:
    """Download the benchmark into the folder `target` unless it is there; either way its files are checked.

    They must have the digest of the catalog. Where that has none, they must be those of the first download, whose
    SHA-256 stay beside the folder (`digests_file`). `templates`: the user's folder of templates for a benchmark whose
    source has none; by default the folder `templates` beside the target, or else mLAMA there, whose templates DLAMA's
    paper uses, if there is either.
    """
    benchmark = known_benchmark(slug)
    if not benchmark.downloads:
        raise BadInput(f"The benchmark {slug} ships with this project.", "There is nothing to download.")
    there = target.is_dir() and any(target.iterdir())
    _refuse_templates(benchmark, templates, there)
    if there:
        return _checked(benchmark, target, target)
    with new_folder(target) as folder:
        for part in benchmark.downloads:
            part.fetch(folder, _by_hand(benchmark))
        if benchmark.lacks_templates:
            folders_beside = [target.parent / name for name in (TEMPLATES_FOLDER, PAPERS_TEMPLATES)]
            users = templates or next((folder for folder in folders_beside if folder.is_dir()), None)
            write_templates(folder / TEMPLATES_FOLDER, users)
            write_questions(folder / TEMPLATES_FOLDER, users)
        content = _checked(benchmark, folder, target)
    return content


def how_checked(slug: str, target: Path) -> str:
    """Return a sentence on what the files of a downloaded benchmark were compared with."""
    benchmark = known_benchmark(slug)
    if benchmark.digest:
        return f"Its files have the digest in the catalog ({benchmark.digest[:12]})."
    pinned = benchmark.commit and all(benchmark.commit in part.address for part in benchmark.downloads)
    which = f"for commit {benchmark.commit[:12]}" if pinned else "at present"
    return (
        f"The catalog has no digest of {benchmark.title} to compare with: these files are what its source gives "
        f"{which}. Their SHA-256 are in {digests_file(target)}, and later downloads are compared with them."
    )


def _refuse_templates(benchmark: KnownBenchmark, templates: Path | None, there: bool) -> None:
    if templates and not benchmark.lacks_templates:
        raise BadInput(f"{benchmark.title} has templates of its own.", "Leave out --templates.")
    if templates and there:
        step = f"Remove its folder first, or change the files in its folder {TEMPLATES_FOLDER}."
        raise BadInput(f"{benchmark.title} is downloaded already, with other templates.", step)


def _checked(benchmark: KnownBenchmark, folder: Path, target: Path) -> Benchmark:
    """Read the downloaded benchmark in `folder`, which is or becomes `target`.

    Raises `DigestMismatch` if its files are not those of the catalog, or not those of the first download.
    """
    step = "Download it again into an empty folder; if it stays so, the source has changed."
    try:
        content = benchmark.read(folder)
    except BadBenchmark as error:
        raise DigestMismatch(f"This is not the expected {benchmark.title}. {error.message}", step) from error
    if not benchmark.digest:
        added = (TEMPLATES_FOLDER,) if benchmark.lacks_templates else ()
        compare_or_record(folder, digests_file(target), added)
    elif content.digest != benchmark.digest:
        actual, expected = content.digest[:12], benchmark.digest[:12]
        raise DigestMismatch(f"The files of {benchmark.title} have the digest {actual}, expected {expected}.", step)
    return content


def _by_hand(benchmark: KnownBenchmark) -> str:
    addresses = " and ".join(part.address for part in benchmark.downloads)
    return (
        f"Try again later, or download {addresses} by hand ({benchmark.source} tells about it), unpack it, and use its "
        f"folder (on the site: manage.py import_benchmark {benchmark.format} FOLDER)."
    )


def _entry(slug: str, values: Mapping[str, Any], citations: Mapping[str, str]) -> KnownBenchmark:
    settings = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.get("settings", {}).items()
    }
    commit = values.get("commit", "")
    downloads = tuple(_download(part, commit) for part in values.get("downloads", ()))
    citation = citations[values["citation"]] if "citation" in values else ""
    return KnownBenchmark(slug, **{**values, "settings": settings, "downloads": downloads, "citation": citation})


def _download(values: Mapping[str, Any], commit: str) -> Download | HubFolder:
    if "data_set" in values:
        return HubFolder(values["data_set"], values["folder"])
    address = values["address"].format(commit=commit)
    return Download(address, tuple(values.get("paths", ())), values.get("into", ""))


def _read_catalog() -> dict[str, KnownBenchmark]:
    content = tomllib.loads(Path(__file__).with_name("known_benchmarks.toml").read_text(encoding="utf-8"))
    return {slug: _entry(slug, values, content["citations"]) for slug, values in content["benchmarks"].items()}


CATALOG = _read_catalog()
