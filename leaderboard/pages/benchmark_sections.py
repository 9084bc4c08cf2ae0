"""Sections of a benchmark's page: published figures, shared facts, and replicates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from django.http import QueryDict

from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.figures.outcomes import SharedFacts, shared_facts
from leaderboard.figures.runs import ANY_VERSION, finished_runs
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import (
    Standing,
    differs,
    published_version,
)
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, pair_columns, settings_in_words
from leaderboard.probes.probe_pages import Parts
from leaderboard.ui import cells, labels
from leaderboard.ui.sections import Fold, Section, section
from leaderboard.ui.tables import (
    PAGE_SIZE,
    PUBLISHED,
    Column,
    Table,
    citation,
    model_column,
    score_cell,
    settings_column,
    source_column,
)
from probing.analysis.intervals import over_seeds

# The sections with published figures that share no column, axis or rank with measured ones.


PUBLISHED_TITLE = "Published figures"
PREFIX = "published-"  # of tables and charts that stand beside those of measured runs
PUBLISHED_NOTE = (
    "These figures come from their authors and share no column, axis or rank with the runs that were measured here."
)


@dataclass(frozen=True)
class PublishedRow:
    """A published run with its scores by metric, and those of the groups beside them by metric and slice."""

    run: Run
    scores: Mapping[str, Score]
    beside: Mapping[tuple[str, Slice], Score]

    @property
    def heading(self) -> str:
        """The source of its group."""
        return f"{PUBLISHED}: {citation(self.run)}"

    @property
    def metric(self) -> str:
        return self.run.benchmark.main_metric

    def score(self, metric: str, part: Slice) -> Score | None:
        return self.beside.get((metric, part))

    @property
    def value(self) -> float:
        """The first of its figures, by which the rows of a group are sorted."""
        return next((score.value for score in self.scores.values() if score.value is not None), 0.0)


def published_sections(benchmark: Benchmark, pair: PairInLanguage | None = None) -> list[Section]:
    """Return the table of a benchmark's published figures.

    They are about the chosen pair where there is one.

    A version that has only published figures shows these in its usual sections, and here what they are about.
    """
    if benchmark.version == ANY_VERSION:
        return [Section("published", "About the published figures", note=_differences(finished_runs(benchmark)))]
    version = published_version(benchmark)
    if version is None:
        return []
    return published_slice(benchmark, pair.part if pair else OVERALL_SLICE, pair)


def published_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    """Return what the probe shows of a benchmark's published figures, with names of their own for tables and charts."""
    version = published_version(benchmark)
    parts = pages_of(version).benchmark_parts(version, query, pair) if version else {}
    if not parts:
        return {}
    charts = {name: replace(chart, name=f"{PREFIX}{chart.name}") for name, chart in parts["charts"].items()}
    files = {f"{PREFIX}{name}": file for name, file in parts["files"].items()}
    return {**parts, "charts": charts, "files": files, "prefix": PREFIX}


def published_slice(
    benchmark: Benchmark, part: Slice = OVERALL_SLICE, pair: PairInLanguage | None = None
) -> list[Section]:
    """Return the section with the published figures of a slice, which stands below the measured ones, if any.

    Those of a pair have the figures of its two cultures beside them.
    """
    version = published_version(benchmark)
    rows = _published_rows(version, part, pair) if version else []
    if version is None or not rows:
        return []
    note = f"{PUBLISHED_NOTE} {_differences(row.run for row in rows)}"
    return [section(_published_table(version, rows, pair), note=note)]


def _differences(runs: Iterable[Run]) -> str:
    """Return in what the figures of runs differ from measured ones, each difference once."""
    return " ".join(filter(None, dict.fromkeys(differs(run) for run in runs)))


def _published_table(
    version: Benchmark, rows: Sequence[PublishedRow], pair: PairInLanguage | None
) -> Table[PublishedRow]:
    """Return one row per published run, in groups of one source; rows with the same settings stand together."""
    pages = pages_of(version)
    metrics = dict.fromkeys(metric for row in rows for metric in row.scores)
    return Table(
        name="published",
        caption=PUBLISHED_TITLE,
        columns=[
            model_column(lambda row: row.run),
            settings_column(lambda row: row.run),
            *(_metric_column(metric, pages.metric_label(metric)) for metric in metrics),
            *pair_columns(pair, pages.metric_label(version.main_metric)),
            Column("differs", "", lambda row: cells.text(differs(row.run)), shown=False),
            source_column(lambda row: row.run, shown=False),
        ],
        rows=sorted(rows, key=lambda row: (row.heading, settings_in_words(row.run), -row.value)),
        heading=lambda row: row.heading,
        page_size=PAGE_SIZE,
    )


def _published_rows(version: Benchmark, part: Slice, pair: PairInLanguage | None) -> list[PublishedRow]:
    """Return the runs with their scores of a slice, and of a pair with those of both cultures.

    In the slice of everything a run has a row also if only figures of single groups were published. Figures that are
    relative to a model before its training have a section of their own.
    """
    by_run: dict[int, dict[str, Score]] = {}
    beside: dict[int, dict[tuple[str, Slice], Score]] = {}
    runs = list(finished_runs(version).order_by("model__hub_id", "pk"))
    slices = {part, *(pair.sides if pair else ())}
    dimensions, groups = zip(*slices, strict=True)
    for score in Score.objects.filter(run__in=runs, dimension__in=dimensions, group__in=groups).order_by("pk"):
        of_score = Slice(score.dimension, score.group)
        beside.setdefault(score.run_id, {})[score.metric, of_score] = score
        if of_score == part:
            by_run.setdefault(score.run_id, {})[score.metric] = score
    training = set(pages_of(version).training_metrics)
    return [
        PublishedRow(run, {name: score for name, score in own.items() if name not in training}, beside.get(run.pk, {}))
        for run in runs
        if ((own := by_run.get(run.pk, {})) or part == OVERALL_SLICE) and not (own and own.keys() <= training)
    ]


def _metric_column(metric: str, title: str) -> Column[PublishedRow]:
    return Column(metric, title, lambda row: score_cell(row.run, row.scores.get(metric)), align="score")


# The section on the facts of a benchmark that others have as well.


OVERLAP = "Facts that other benchmarks have as well"
OVERLAP_NOTE = (
    "A fact is shared if the other benchmark asks for the same predicate and subject and accepts one of the same "
    "answers. Counted when the later of the two was imported."
)


def overlap_fold(benchmark: Benchmark, versions: Iterable[Benchmark]) -> list[Fold]:
    """Return how many of the facts other benchmarks have as well, as counted on import; nothing without any.

    `versions`: those of the other benchmarks.
    """
    rows = shared_facts(benchmark, versions)
    if not rows:
        return []
    table = Table(
        name="overlap",
        caption=OVERLAP,
        columns=[
            Column("other", "Benchmark", _other_cell, align="head"),
            Column("culture", "Culture", lambda row: cells.text(row.culture), shown=any(row.culture for row in rows)),
            Column("facts", "Facts", lambda row: cells.number(row.facts), align="number"),
            Column("shared", "Shared", lambda row: cells.number(row.shared), align="number"),
            Column("share", "Share", lambda row: cells.share(row.shared / row.facts), align="score"),
        ],
        rows=rows,
        sortable=False,
    )
    return [Fold("fold-overlap", OVERLAP, "", [section(table, note=OVERLAP_NOTE)])]


def _other_cell(row: SharedFacts) -> cells.Cell:
    return replace(cells.text(row.other.slug, row.other.get_absolute_url()), text=row.other.title)


# Replicates in one row: runs of a benchmark, and steps of trainings, that differ in nothing but a seed.


REPLICATES_LEAD = "Mean and spread of models and runs that differ in nothing but a seed."
TOLD_APART_BY = ("model", "settings", "provenance")  # what tells runs apart, in words
SPREAD_TITLES = {"mean": "Mean", "sd": "Standard deviation", "lowest": "Lowest", "highest": "Highest"}


def replicates_fold(standings: Sequence[Standing]) -> list[Section]:
    """Return the section, or nothing where no two rows differ in a seed alone. Baselines and publications have none."""
    rows = [
        (row.hub_id, row.group, row.run.provenance, row.main.value)
        for row in standings
        if row.main and not row.is_baseline and not row.run.is_published
    ]
    settings = Column[Row]("settings", "Settings", lambda row: cells.text(labels.sentence(row["settings"])))
    return _replicates_section(rows, TOLD_APART_BY, settings)


def _replicates_section(rows: Sequence[tuple[object, ...]], names: Sequence[str], second: Column[Row]) -> list[Section]:
    table = over_seeds(pd.DataFrame(rows, columns=[*names, "value"]), names)
    return [replace(section(_replicates_table(records(table), second)), lead=REPLICATES_LEAD)] if len(table) else []


def _replicates_table(rows: Sequence[Row], second: Column[Row]) -> Table[Row]:
    def figure(name: str, title: str) -> Column[Row]:
        return Column(name, title, lambda row: cells.number(row[name]), align="number")

    columns: list[Column[Row]] = [
        Column("model", "Model", lambda row: cells.text(row["model"]), align="head"),
        second,
        Column("runs", "Runs", lambda row: cells.number(row["runs"]), align="number"),
        *(figure(name, title) for name, title in SPREAD_TITLES.items()),
    ]
    return Table("replicates", "Replicates", columns, rows)
