"""The sections with published figures that share no column, axis or rank with measured ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.display import cells
from leaderboard.display.columns import PUBLISHED, citation, model_column, score_cell, settings_column, source_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists.published import differs, published_version
from leaderboard.lists.runs import ANY_VERSION, finished_runs
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.culture.places import Place, settings_in_words

TITLE = "Published figures"
NOTE = "These figures come from their authors and share no column, axis or rank with the runs that were measured here."


@dataclass(frozen=True)
class PublishedRow:
    """A published run with its scores by metric."""

    run: Run
    scores: Mapping[str, Score]

    @property
    def heading(self) -> str:
        """The source of its group, and the settings where they are not the usual ones."""
        return ", ".join(filter(None, [f"{PUBLISHED}: {citation(self.run)}", settings_in_words(self.run)]))

    @property
    def value(self) -> float:
        """The first of its figures, by which the rows of a group are sorted."""
        return next((score.value for score in self.scores.values() if score.value is not None), 0.0)


def published_sections(benchmark: Benchmark, place: Place | None = None) -> list[Section]:
    """Return the table of a benchmark's published figures, and the sections that its probe makes of them.

    They are about the chosen place where there is one.

    A version that has only published figures shows these in its usual sections, and here what they are about.
    """
    if benchmark.version == ANY_VERSION:
        return [Section("published", "About the published figures", note=_differences(finished_runs(benchmark)))]
    version = published_version(benchmark)
    if version is None:
        return []
    pages = pages_of(version)
    sections = pages.benchmark_sections(version, *pages.chosen_group(place), *(False for _ in pages.switches))
    return [*published_slice(benchmark, place.part if place else OVERALL), *map(_renamed, sections)]


def published_slice(benchmark: Benchmark, part: Slice = OVERALL) -> list[Section]:
    """Return the section with the published figures of a slice, which stands below the measured ones, if any."""
    version = published_version(benchmark)
    rows = _rows(version, part) if version else []
    if version is None or not rows:
        return []
    note = f"{NOTE} {_differences(row.run for row in rows)}"
    return [Section("published", TITLE, _published_table(version, rows), note=note)]


def _differences(runs: Iterable[Run]) -> str:
    """Return in what the figures of runs differ from measured ones, each difference once."""
    return " ".join(filter(None, dict.fromkeys(differs(run) for run in runs)))


def _renamed(section: Section) -> Section:
    """Return a section under names of its own, beside the one of the measured runs."""
    name = f"published-{section.name}"
    table = replace(section.table, name=f"published-{section.table.name}") if section.table else None
    chart = replace(section.chart, name=f"published-{section.chart.name}") if section.chart else None
    return replace(section, name=name, title=f"{TITLE}: {section.title}", table=table, chart=chart, switched=False)


def _published_table(version: Benchmark, rows: Sequence[PublishedRow]) -> Table[PublishedRow]:
    """Return one row per published run, in groups of equal source and settings, which answered the same items."""
    pages = pages_of(version)
    metrics = dict.fromkeys(metric for row in rows for metric in row.scores)
    return Table(
        name="published",
        caption=TITLE,
        columns=[
            model_column(lambda row: row.run),
            settings_column(lambda row: row.run),
            *(_metric_column(metric, pages.metric_label(metric)) for metric in metrics),
            Column("differs", "", lambda row: cells.text(differs(row.run)), shown=False),
            source_column(lambda row: row.run, shown=False),
        ],
        rows=sorted(rows, key=lambda row: (row.heading, -row.value)),
        heading=lambda row: row.heading,
        page_size=PAGE_SIZE,
    )


def _rows(version: Benchmark, part: Slice) -> list[PublishedRow]:
    """Return the runs with their scores of a slice.

    In the slice of everything a run has a row also if only figures of single groups were published. Figures that are
    relative to a model before its training have a section of their own.
    """
    by_run: dict[int, dict[str, Score]] = {}
    runs = list(finished_runs(version).order_by("model__hub_id", "pk"))
    scores = Score.objects.filter(run__in=runs, dimension=part.dimension, group=part.group)
    for score in scores.order_by("pk"):
        by_run.setdefault(score.run_id, {})[score.metric] = score
    training = set(pages_of(version).training_metrics)
    return [
        PublishedRow(run, {name: score for name, score in own.items() if name not in training})
        for run in runs
        if ((own := by_run.get(run.pk, {})) or part == OVERALL) and not (own and own.keys() <= training)
    ]


def _metric_column(metric: str, title: str) -> Column[PublishedRow]:
    return Column(metric, title, lambda row: score_cell(row.run, row.scores.get(metric)), align="score")
