"""The sections with published figures that share no column, axis or rank with measured ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from leaderboard.display import cells
from leaderboard.display.columns import model_column, settings_column, source_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists.published import differs, published_version
from leaderboard.lists.runs import ANY_VERSION, finished_runs
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import pages_of

TITLE = "Published figures"
NOTE = (
    "These figures come from their authors and are about another sample, version or way of measuring. They share no "
    "column, axis or rank with the runs that were measured here."
)


@dataclass(frozen=True)
class PublishedRow:
    """A published run with its scores by metric."""

    run: Run
    scores: Mapping[str, Score]


def published_sections(benchmark: Benchmark) -> list[Section]:
    """Return the table of a benchmark's published figures, and the sections that its probe makes of them.

    A version that has only published figures shows these in its usual sections, and here what they are about.
    """
    if benchmark.version == ANY_VERSION:
        notes = dict.fromkeys(differs(run) for run in finished_runs(benchmark))
        return [Section("published", TITLE, note=" ".join(filter(None, notes)))]
    version = published_version(benchmark)
    if version is None:
        return []
    pages = pages_of(version)
    sections = pages.benchmark_sections(version, *(False for _ in pages.switches))
    return [Section("published", TITLE, published_table(version), note=NOTE), *map(_renamed, sections)]


def _renamed(section: Section) -> Section:
    """Return a section under names of its own, beside the one of the measured runs."""
    name = f"published-{section.name}"
    table = replace(section.table, name=f"published-{section.table.name}") if section.table else None
    chart = replace(section.chart, name=f"published-{section.chart.name}") if section.chart else None
    return replace(section, name=name, title=f"{TITLE}: {section.title}", table=table, chart=chart, switched=False)


def published_tables(benchmark: Benchmark, part: Slice = OVERALL) -> list[Table[PublishedRow]]:
    """Return the table of the published figures of a slice that stands below that of the measured ones, if any."""
    version = published_version(benchmark)
    table = published_table(version, part) if version else None
    return [table] if table and table.rows else []


def published_table(version: Benchmark, part: Slice = OVERALL) -> Table[PublishedRow]:
    """Return the figures of a slice, one row per published run, each with a sentence on what differs.

    In the slice of everything a run has a row also if only figures of single groups were published.
    """
    rows = _rows(version, part)
    metrics = dict.fromkeys(metric for row in rows for metric in row.scores)
    return Table(
        name="published",
        caption=TITLE,
        columns=[
            model_column(lambda row: row.run),
            settings_column(lambda row: row.run),
            *(_metric_column(metric, pages_of(version).metric_label(metric)) for metric in metrics),
            Column("differs", "What differs", lambda row: cells.text(differs(row.run)), align="wide"),
            source_column(lambda row: row.run, align="wide"),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        cards=True,
    )


def _rows(version: Benchmark, part: Slice) -> list[PublishedRow]:
    by_run: dict[int, dict[str, Score]] = {}
    runs = list(finished_runs(version).order_by("model__hub_id", "pk"))
    scores = Score.objects.filter(run__in=runs, dimension=part.dimension, group=part.group)
    for score in scores.order_by("pk"):
        by_run.setdefault(score.run_id, {})[score.metric] = score
    return [PublishedRow(run, by_run.get(run.pk, {})) for run in runs if part == OVERALL or run.pk in by_run]


def _metric_column(metric: str, title: str) -> Column[PublishedRow]:
    return Column(metric, title, lambda row: cells.of_score(row.scores.get(metric)), align="score")
