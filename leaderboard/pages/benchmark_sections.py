"""Sections of a benchmark's page: published figures beside measured ones, and what the questions are about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from leaderboard.figures import benchmarks
from leaderboard.figures.country_shares import LEAST_COUNTRIES, countries_of
from leaderboard.figures.outcomes import SharedFacts, shared_facts
from leaderboard.figures.runs import ANY_VERSION, finished_runs
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import differs, published_version
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, pair_columns, settings_in_words
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.columns import PUBLISHED, citation, model_column, score_cell, settings_column, source_column
from leaderboard.ui.sections import Fold, Section, section
from leaderboard.ui.tables import PAGE_SIZE, Column, Table
from leaderboard.ui.world_map import world
from probing.analysis.breakdowns import ALL
from probing.analysis.facts_by_culture import UNKNOWN, diversity, facts_of
from probing.errors import ProbingError

# The sections with published figures that share no column, axis or rank with measured ones.


PUBLISHED_TITLE = "Published figures"
NOTE = "These figures come from their authors and share no column, axis or rank with the runs that were measured here."


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
    """Return the table of a benchmark's published figures, and the sections that its probe makes of them.

    They are about the chosen pair where there is one.

    A version that has only published figures shows these in its usual sections, and here what they are about.
    """
    if benchmark.version == ANY_VERSION:
        return [Section("published", "About the published figures", note=_differences(finished_runs(benchmark)))]
    version = published_version(benchmark)
    if version is None:
        return []
    pages = pages_of(version)
    sections = pages.benchmark_sections(version, *pages.chosen_group(pair), *(False for _ in pages.switches))
    return [*published_slice(benchmark, pair.part if pair else OVERALL_SLICE, pair), *map(_renamed, sections)]


def published_slice(
    benchmark: Benchmark, part: Slice = OVERALL_SLICE, pair: PairInLanguage | None = None
) -> list[Section]:
    """Return the section with the published figures of a slice, which stands below the measured ones, if any.

    Those of a pair have the figures of its two cultures beside them.
    """
    version = published_version(benchmark)
    rows = _rows(version, part, pair) if version else []
    if version is None or not rows:
        return []
    note = f"{NOTE} {_differences(row.run for row in rows)}"
    return [section(_published_table(version, rows, pair), note=note)]


def _differences(runs: Iterable[Run]) -> str:
    """Return in what the figures of runs differ from measured ones, each difference once."""
    return " ".join(filter(None, dict.fromkeys(differs(run) for run in runs)))


def _renamed(section: Section) -> Section:
    """Return a section under names of its own, beside the one of the measured runs."""
    name = f"published-{section.name}"
    table = replace(section.table, name=f"published-{section.table.name}") if section.table else None
    chart = replace(section.chart, name=f"published-{section.chart.name}") if section.chart else None
    return replace(
        section, name=name, title=f"{PUBLISHED_TITLE}: {section.title}", table=table, chart=chart, switched=False
    )


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


def _rows(version: Benchmark, part: Slice, pair: PairInLanguage | None) -> list[PublishedRow]:
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
        place = Slice(score.dimension, score.group)
        beside.setdefault(score.run_id, {})[score.metric, place] = score
        if place == part:
            by_run.setdefault(score.run_id, {})[score.metric] = score
    training = set(pages_of(version).training_metrics)
    return [
        PublishedRow(run, {name: score for name, score in own.items() if name not in training}, beside.get(run.pk, {}))
        for run in runs
        if ((own := by_run.get(run.pk, {})) or part == OVERALL_SLICE) and not (own and own.keys() <= training)
    ]


def _metric_column(metric: str, title: str) -> Column[PublishedRow]:
    return Column(metric, title, lambda row: score_cell(row.run, row.scores.get(metric)), align="score")


# Sections on what a benchmark is about: its facts by culture or questions by country, and those that others have.


NAME, DIVERSITY_TITLE = "diversity", "How diverse the questions are"
MOST_DRAWN = 12  # countries
FACTS_ON_A_PAGE = 12
OF_CULTURES = (
    "Facts by the culture that the benchmark names, each counted once, in however many languages and pairs it is. "
    "A fact of two cultures counts in both."
)
OF_COUNTRIES = "Questions whose subject or answer is a country, by that country."
OVERLAP, OVERLAP_TITLE = "overlap", "Facts that other benchmarks have as well"
OVERLAP_NOTE = (
    "A fact is shared if the other benchmark asks for the same predicate and subject and accepts one of the same "
    "answers. Counted when the later of the two was imported."
)


class GroupSize(NamedTuple):
    """A culture or a country with the number of facts or questions about it, and their share."""

    group: str
    number: int
    share: float


class Diversity(NamedTuple):
    """The groups of a benchmark, the largest first. `kind` and `unit` are what is a group, and what is counted."""

    kind: str
    unit: str
    note: str
    groups: tuple[GroupSize, ...]


def about_questions(benchmark: Benchmark, versions: Iterable[Benchmark]) -> list[Fold]:
    """Return what the facts of a benchmark are about and which other benchmarks have them; nothing where unknown."""
    folds = [
        (NAME, DIVERSITY_TITLE, diversity_sections(benchmark)),
        (OVERLAP, OVERLAP_TITLE, overlap_sections(benchmark, versions)),
    ]
    return [
        Fold(f"fold-{name}", title, sections[0].chart.summary if sections[0].chart else "", sections)
        for name, title, sections in folds
        if sections
    ]


def diversity_sections(benchmark: Benchmark) -> list[Section]:
    """Return the section of a benchmark whose facts name cultures or countries; nothing for any other."""
    counted = group_sizes(benchmark) if benchmark.path else None
    if counted is None:
        return []
    caption = f"{labels.sentence(counted.unit)} by {counted.kind}"
    table = Table(
        name=NAME,
        caption=caption,
        columns=[
            Column("group", labels.sentence(counted.kind), lambda row: cells.text(row.group), align="head"),
            Column("number", labels.sentence(counted.unit), lambda row: cells.number(row.number), align="number"),
            Column("share", "Share", lambda row: cells.share(row.share), align="score"),
        ],
        rows=counted.groups,
        page_size=FACTS_ON_A_PAGE,
    )
    largest = counted.groups[:MOST_DRAWN]
    most = largest[0]
    name = labels.culture(most.group) if counted.kind == "culture" else most.group
    share = f"{100 * most.share:.1f} %"
    words = f"{caption}: {len(counted.groups)} groups, the largest is {name} ({most.number:,}, {share})."
    figure = charts.dots([Point(row.group, row.share) for row in largest], title=f"share of the {counted.unit}")
    # The shares of many groups are small; on an axis from 0 to 1 they could not be told apart.
    figure.update_layout(xaxis={"range": [0, 1.05 * most.share], "tickformat": ".0%"})
    return [Section(NAME, DIVERSITY_TITLE, table, Chart(NAME, caption, words, figure), counted.note)]


def overlap_sections(benchmark: Benchmark, versions: Iterable[Benchmark]) -> list[Section]:
    """Return how many of the facts other benchmarks have as well, as counted on import; nothing without any.

    `versions`: those of the other benchmarks.
    """
    rows = shared_facts(benchmark, versions)
    if not rows:
        return []
    table = Table(
        name=OVERLAP,
        caption=OVERLAP_TITLE,
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
    return [section(table, note=OVERLAP_NOTE)]


def _other_cell(row: SharedFacts) -> cells.Cell:
    return replace(cells.text(row.other.slug, row.other.get_absolute_url()), text=row.other.title)


@lru_cache(maxsize=16)
def group_sizes(benchmark: Benchmark) -> Diversity | None:
    """Count the facts of each culture, else the questions of each country; None where a benchmark names neither.

    It is remembered, as a version of a benchmark never changes.
    """
    try:
        table = diversity(facts_of(benchmarks.read(benchmark)))
        countries = list(countries_of(benchmark).values())
    except ProbingError:
        return None
    table = table[table["relation"] == ALL]
    if not (table["group"] == UNKNOWN).any():
        columns = (table[name].tolist() for name in ("group", "facts", "share"))
        sizes = [GroupSize(labels.group(group), facts, share) for group, facts, share in zip(*columns, strict=True)]
        return Diversity("culture", "facts", OF_CULTURES, _largest_first(sizes))
    if len(set(countries)) < LEAST_COUNTRIES:
        return None
    numbers = {code: countries.count(code) for code in set(countries)}
    sizes = [
        GroupSize(world().countries[code].name, number, number / len(countries)) for code, number in numbers.items()
    ]
    return Diversity("country", "questions", OF_COUNTRIES, _largest_first(sizes))


def _largest_first(sizes: list[GroupSize]) -> tuple[GroupSize, ...]:
    return tuple(sorted(sizes, key=lambda row: (-row.number, row.group)))
