"""Sections on what a benchmark is about: its facts by culture or questions by country, and those that others have."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.maps import world
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.country_shares import LEAST_COUNTRIES, countries_of
from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from leaderboard.stored.shared_facts import SharedFacts, shared_facts
from probing.analysis.breakdown import ALL
from probing.analysis.diversity import UNKNOWN, diversity, facts_of
from probing.errors import ProbingError

NAME, TITLE = "diversity", "How diverse the questions are"
MOST_DRAWN = 12  # countries
PAGE_SIZE = 12
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
        page_size=PAGE_SIZE,
    )
    largest = counted.groups[:MOST_DRAWN]
    most = largest[0]
    name = labels.culture(most.group) if counted.kind == "culture" else most.group
    share = f"{100 * most.share:.1f} %"
    words = f"{caption}: {len(counted.groups)} groups, the largest is {name} ({most.number:,}, {share})."
    figure = charts.dots([Point(row.group, row.share) for row in largest], title=f"share of the {counted.unit}")
    # The shares of many groups are small; on an axis from 0 to 1 they could not be told apart.
    figure.update_layout(xaxis={"range": [0, 1.05 * most.share], "tickformat": ".0%"})
    return [Section(NAME, TITLE, table, Chart(NAME, caption, words, figure), counted.note)]


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
    return [Section(OVERLAP, OVERLAP_TITLE, table, note=OVERLAP_NOTE)]


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
