"""Benchmarks on the site. Every imported version is kept; one version of each benchmark is current."""

import shutil
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import transaction

from leaderboard.models import Benchmark
from leaderboard.stored import chance, changes
from probing import catalog
from probing.benchmark import Benchmark as Content
from probing.errors import BadInput, ProbingError
from probing.estimate.work import estimate_work
from probing.files.folders import new_folder
from probing.formats import FORMATS, read_version
from probing.probes import probe_named
from probing.probes.normalise import all_templates, normalised
from probing.probes.parts import parts, template_counts
from probing.probes.plan import read_plan
from probing.settings import Settings


def current(slug: str) -> Benchmark:
    """Return the version that new runs use."""
    benchmark = Benchmark.objects.filter(slug=slug, current=True).exclude(path="").first()
    if benchmark is None:
        slugs = Benchmark.objects.filter(current=True).exclude(path="").values_list("slug", flat=True)
        choice = f"Choose from: {', '.join(slugs)}." if slugs else "Import one with manage.py import_benchmark."
        raise BadInput(f"There is no benchmark {slug!r} here.", choice)
    return benchmark


def read(benchmark: Benchmark) -> Content:
    """Return the relations and items, read from the files of this version."""
    return _read_files(benchmark.format, folder_of(benchmark), benchmark.digest, benchmark.slug)


def folder_of(benchmark: Benchmark) -> Path:
    """Return where the files of this version are: a folder, which may hold a single archive."""
    return settings.DATA / benchmark.path


def templates_to_choose(benchmark: Benchmark) -> range:
    """Return the numbers of the templates that all relations have; none where the files cannot be read."""
    if not benchmark.path:
        return range(0)
    try:
        return range(min(template_counts(read(benchmark), benchmark.settings_with({})), default=0))
    except ProbingError:
        return range(0)


@lru_cache(maxsize=8)
def _read_files(format: str, folder: Path, digest: str, slug: str) -> Content:
    content = read_version(format, folder, digest)
    if content is None:
        raise BadInput(f"The files of {slug} in {folder.name} were changed.", "Import the benchmark again.")
    return replace(content, slug=slug)


def install(format: str, folder: Path, slug: str = "", title: str = "", probe: str = "") -> tuple[Benchmark, bool]:
    """Copy a folder's files into the data folder as the current version of `slug`.

    Models are asked by `probe`, or by the probe that is usual for the benchmark. Its usual settings are those of the
    plan that the folder states, else those of the catalog, else all templates; a version that was imported before keeps
    the ones it has, as its runs were made with them. Returns False as the second value if these files are the current
    version already, and then changes nothing. Raises `BadInput` if the slug has another probe, as figures of different
    probes never share a board.
    """
    if format not in FORMATS:
        raise BadInput(f"There is no format {format!r}.", f"Choose from: {', '.join(FORMATS)}.")
    content = FORMATS[format](folder)
    slug = slug or folder.resolve().name.lower().split(".")[0]
    if probe:
        _refuse_other_probe(slug, probe_named(probe).name)
    probe = probe or _usual_probe(content, slug)
    facts = _facts(format, content, slug, probe) | _plan(folder, content, slug, title, probe)
    same = Benchmark.objects.filter(slug=slug, digest=content.digest)
    if present := same.filter(current=True).exclude(path="").first():
        if present.work is None:
            _store_work(present, content)
        return present, False
    path = _copy(folder, slug, content)
    with transaction.atomic():
        Benchmark.objects.filter(slug=slug, current=True).update(current=False)
        benchmark, _ = Benchmark.objects.update_or_create(
            slug=slug, version=content.version, defaults=facts | {"path": path}
        )
        chance.store_chance(benchmark, content, benchmark.settings_with({}))
        _store_work(benchmark, content)
        changes.record_version(benchmark)
    return benchmark, True


def _store_work(benchmark: Benchmark, content: Content) -> None:
    """Store the expected work of a usual run, from which the submit form says how long one takes."""
    with suppress(BadInput):
        usual = normalised(benchmark.settings_with({}), content)
        benchmark.work = sum(estimate_work(content, usual, part, "causal").positions for part in parts(content, usual))
        benchmark.save(update_fields=["work"])


def _refuse_other_probe(slug: str, probe: str) -> None:
    current = Benchmark.objects.filter(slug=slug, current=True).exclude(path="").first()
    if current and current.probe != probe:
        raise BadInput(
            f"Benchmark {slug} is imported for the probe {current.probe}.",
            f"Choose another name for it: --slug {slug}-{probe.replace('_', '-')}.",
        )


def _usual_probe(content: Content, slug: str) -> str:
    return catalog.CATALOG[slug].probe if slug in catalog.CATALOG else content.probe


def _facts(format: str, content: Content, slug: str, probe: str) -> dict[str, object]:
    entry = catalog.CATALOG.get(slug)
    facts = {
        "digest": content.digest,
        "format": format,
        "probe": probe,
        "relations": len(content.relations),
        "items": content.size,
        "current": True,
    }
    return facts | ({"citation": entry.citation, "licence": entry.licence, "source": entry.source} if entry else {})


def _plan(folder: Path, content: Content, slug: str, title: str, probe: str) -> dict[str, object]:
    """Return the title and the usual settings."""
    entry, kind = catalog.CATALOG.get(slug), probe_named(probe)
    plan = read_plan(folder, content, kind)
    usual = entry.settings if entry else {"templates": all_templates(content, Settings(probe=kind.name))}
    imported = Benchmark.objects.filter(slug=slug, version=content.version).exclude(path="").first()
    return {
        "title": title or plan.title or (entry.title if entry else slug),
        "settings": imported.settings if imported else {**usual, **plan.settings},
    }


def _copy(source: Path, slug: str, content: Content) -> str:
    """Copy the folder or archive, and the files outside it that the reader used; return the path in the data folder.

    The copy appears complete, by one rename, or not at all.
    """
    path = f"benchmarks/{slug}@{content.version}"
    target = settings.DATA / path
    if not target.exists():
        with new_folder(target) as new:
            if source.is_dir():
                shutil.copytree(source, new, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
            for file in content.files:
                if not file.resolve().is_relative_to(source.resolve()) or source.is_file():
                    _copy_file(file.resolve(), source.resolve(), new)
    return path


def _copy_file(file: Path, source: Path, new: Path) -> None:
    """Copy a file of another folder, keeping its path relative to the folder that contains both."""
    shared = next(folder for folder in source.parents if file.is_relative_to(folder))
    (new / file.relative_to(shared)).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, new / file.relative_to(shared))
