"""The benchmarks that are known by name, which `known_benchmarks.toml` lists and explains."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.downloads import HubFolder, fetch_archive, fetch_file
from probing.formats import FORMATS
from probing.formats.own_wordings import PROJECT, source_note

# The benchmarks that ship with the project are inside the installed library, or beside it in a checkout.
PACKAGED = Path(__file__).resolve().parent / "embedded"
EMBEDDED = PACKAGED if PACKAGED.is_dir() else PACKAGED.parents[1] / "fixtures"


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


def known_benchmark(slug: str) -> KnownBenchmark:
    """Return an entry of the catalog; raise `BadInput` if there is none of this name."""
    if slug not in CATALOG:
        raise BadInput(f"No benchmark is called {slug!r}.", f"Choose from: {', '.join(CATALOG)}.")
    return CATALOG[slug]


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
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {slug: _entry(slug, values, content["citations"]) for slug, values in content["benchmarks"].items()}


CATALOG = _read_catalog()
