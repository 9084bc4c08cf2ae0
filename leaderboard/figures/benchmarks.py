"""Benchmarks on the site: every imported version is kept, one is current, each has the scores that need no model."""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from django.conf import settings
from django.db import transaction

from leaderboard.models import Benchmark, Run, Score
from leaderboard.models.benchmark import named
from probing.analysis.accuracy import BASELINES, CHANCE
from probing.analysis.specificity_metrics import RARER
from probing.baselines import baseline_scores, rarer_scores
from probing.benchmark import Benchmark as Content
from probing.catalog import CATALOG
from probing.errors import BadInput, ProbingError
from probing.files.folders import new_folder
from probing.formats import FORMATS, read_version
from probing.plan import Plan, all_templates, plan, plan_of, read_usual_settings, template_counts
from probing.probes import probe_named
from probing.settings import Settings
from probing.time_left import estimate_work


def current(name: str) -> Benchmark:
    """Return the version that new runs use, of a benchmark with its main probe or with another one (`named`)."""
    here = Benchmark.objects.filter(current=True).exclude(path="")
    benchmark = here.filter(named(name)).first()
    if benchmark is None:
        names = [row.name for row in here.order_by("slug", "-main", "probe")]
        choice = f"Choose from: {', '.join(names)}." if names else "Import one with manage.py import_benchmark."
        raise BadInput(f"There is no benchmark {name!r} here.", choice)
    return benchmark


def is_main(slug: str, probe: str) -> bool:
    """Tell whether a probe is the main one of a benchmark: as it is here already, or else in the catalog."""
    main = Benchmark.objects.filter(slug=slug, main=True).order_by("-current").first()
    if main:
        return main.probe == probe
    return slug not in CATALOG or CATALOG[slug].probe == probe


def title_with_probe(title: str, probe: str) -> str:
    """Return the title of a benchmark with another probe than its main one."""
    return f"{title} ({probe.replace('_', ' ')})"


def read(benchmark: Benchmark) -> Content:
    """Return the relations and items, read from the files of this version."""
    return _read_files(benchmark.format, folder_of(benchmark), benchmark.digest, benchmark.slug)


def usual_plan(benchmark: Benchmark, chosen: Mapping[str, Any]) -> Plan:
    """Return the plan of a run with the benchmark's usual settings, but for those that somebody chose."""
    return plan(read(benchmark), benchmark.settings_with(chosen))


def plan_of_run(run: Run) -> Plan:
    return plan_of(read(run.benchmark), Settings.from_json(run.settings))


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


def tag_values(benchmark: Benchmark, tag: str) -> list[str]:
    """Return the values of a tag in the relations that the benchmark's probe can ask; none where they are not here."""
    if not benchmark.path:
        return []
    try:
        relations = read(benchmark).relations
    except ProbingError:
        return []
    why_not = probe_named(benchmark.probe)().why_not
    return sorted({str(relation.tags[tag]) for relation in relations if tag in relation.tags and not why_not(relation)})


@lru_cache(maxsize=8)
def _read_files(format: str, folder: Path, digest: str, slug: str) -> Content:
    content = read_version(format, folder, digest)
    if content is None:
        raise BadInput(f"The files of {slug} in {folder.name} were changed.", "Import the benchmark again.")
    return replace(content, slug=slug)


def install(format: str, folder: Path, slug: str = "", title: str = "", probe: str = "") -> tuple[Benchmark, bool]:
    """Copy a folder's files into the data folder as the current version of `slug`, for each of its probes.

    A new benchmark is asked by `probe`, or else by its usual probe and by the further ones that its files offer. For
    one that is here already, `probe` adds a probe with figures of its own. The main probe's usual settings are those of
    the plan that the folder states, else those of the catalog, else all templates; a version that was imported before
    keeps the ones it has, as its runs were made with them. The facts that it shares with other benchmarks are counted.
    Returns the benchmark with `probe` or its main probe, and False as the second value if these files are its current
    version with all its probes already.
    """
    if format not in FORMATS:
        raise BadInput(f"There is no format {format!r}.", f"Choose from: {', '.join(FORMATS)}.")
    content = FORMATS[format](folder)
    slug = slug or folder.resolve().name.lower().split(".")[0]
    probes = _probes(content, slug, probe_named(probe).name if probe else "")
    plans = _plans(folder, content, slug, title, probes)
    here = Benchmark.objects.filter(slug=slug, digest=content.digest, current=True).exclude(path="")
    present = {row.probe: row for row in here}
    for row in present.values():
        if row.work is None:
            _store_work(row, content)
    missing = [name for name in probes if name not in present]
    path = _copy(folder, slug, content) if missing else ""
    with transaction.atomic():
        facts = _facts(format, content, slug) | {"path": path}
        new = {name: _store(slug, name, content, facts | plans[name]) for name in missing}
    return {**present, **new}[probe or probes[0]], bool(missing)


def _probes(content: Content, slug: str, probe: str) -> list[str]:
    """Return the probes for which a benchmark is imported, the main one first.

    `probe`: the one that was chosen, if any. Probes that the benchmark has here keep asking its current version.
    """
    here = Benchmark.objects.filter(slug=slug, current=True).order_by("-main", "pk")
    stored = list(here.exclude(path="").values_list("probe", flat=True))
    usual = CATALOG[slug].probe if slug in CATALOG else content.probe
    offered = [usual, *content.further_probes] if usual == content.probe else [usual]
    if stored:
        further = offered if stored[0] == usual else []
        return list(dict.fromkeys([*stored, *further, *([probe] if probe else [])]))
    return [probe] if probe and probe != usual else offered


def _store(slug: str, probe: str, content: Content, facts: dict[str, object]) -> Benchmark:
    """Make these files the current version of a benchmark with this probe."""
    main = is_main(slug, probe) or not Benchmark.objects.filter(slug=slug, main=True).exists()
    Benchmark.objects.filter(slug=slug, probe=probe, current=True).update(current=False)
    why_not = probe_named(probe)().why_not
    relations = [relation for relation in content.relations if not why_not(relation)]
    counts = {"relations": len(relations), "items": sum(len(relation.items) for relation in relations)}
    benchmark, _ = Benchmark.objects.update_or_create(
        slug=slug, version=content.version, probe=probe, defaults=facts | counts | {"main": main}
    )
    store_baselines(benchmark, plan_of(content, benchmark.settings_with({})))
    _store_work(benchmark, content)
    return benchmark


def _store_work(benchmark: Benchmark, content: Content) -> None:
    """Store the expected work of a usual run, from which the submit form says how long one takes."""
    with suppress(BadInput):
        usual = plan(content, benchmark.settings_with({}))
        benchmark.work = sum(estimate_work(usual, part, "causal").work for part in usual.parts)
        benchmark.save(update_fields=["work"])


def _facts(format: str, content: Content, slug: str) -> dict[str, object]:
    entry = CATALOG.get(slug)
    facts = {
        "digest": content.digest,
        "format": format,
        "current": True,
    }
    return facts | ({"citation": entry.citation, "licence": entry.licence, "source": entry.source} if entry else {})


def _plans(
    folder: Path, content: Content, slug: str, title: str, probes: Sequence[str]
) -> dict[str, dict[str, object]]:
    """Return the title and the usual settings with each probe; the first is the main one, which plans are about."""
    entry, main = CATALOG.get(slug), probes[0]
    stated_title, stated_settings = read_usual_settings(folder, content, probe_named(main))
    title = title or stated_title or (entry.title if entry else slug)
    usual = {probe: {"templates": all_templates(content, Settings(probe=probe))} for probe in probes}
    if entry and main == entry.probe:
        usual[main] = dict(entry.settings)
    usual[main] |= stated_settings
    imported = Benchmark.objects.filter(slug=slug, version=content.version, probe__in=probes).exclude(path="")
    usual |= {row.probe: row.settings for row in imported}
    titles = {probe: title if probe == main else title_with_probe(title, probe) for probe in probes}
    return {probe: {"title": titles[probe], "settings": usual[probe]} for probe in probes}


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


# What is reached without a model. Chance is what guessing reaches; the other baselines use how often answers are right
# (`probing.analysis.accuracy`), or how often they occur in texts.


def store_baselines(benchmark: Benchmark, plan: Plan) -> None:
    """Store what is reached without a model on this version; a baseline that cannot be computed is left out.

    That of the rarer answer, which needs counts of words, stays until it is computed again.
    """
    scores = baseline_scores(plan)
    overall = scores[(scores.dimension == "overall") & scores.value.notna()]
    values = dict(zip(overall.metric, overall.value, strict=True))
    rarer = {RARER: benchmark.baselines[RARER]} if RARER in benchmark.baselines else {}
    benchmark.baselines = {name: values[name] for name in (CHANCE, *BASELINES) if name in values} | rarer
    benchmark.save(update_fields=["baselines"])


def store_rarer_answer(benchmark: Benchmark, plan: Plan, counts: Mapping[str, float]) -> float:
    """Store and return what is reached by always choosing the rarer answer of a pair."""
    scores = rarer_scores(plan, counts)
    value = float(scores[scores.dimension == "overall"].value.iloc[0])
    benchmark.baselines |= {RARER: value}
    benchmark.save(update_fields=["baselines"])
    return value


# Scores of a run in the database.


def replace_scores(run: Run, scores: pd.DataFrame) -> None:
    """Make these tidy scores the run's only ones; NaN is stored as NULL."""
    columns = [str(column) for column in scores.columns]
    values = scores.astype(object).where(scores.notna(), None)
    run.scores.all().delete()
    Score.objects.bulk_create(
        Score(run=run, **dict(zip(columns, row, strict=True))) for row in values.itertuples(index=False, name=None)
    )
