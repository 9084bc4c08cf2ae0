"""Figures of the two cultures of a pair, and the columns and charts that sections about culture pairs share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from leaderboard.figures import benchmarks
from leaderboard.figures.scores import group_url
from leaderboard.models import Benchmark, Run, Score
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Plot, Point
from leaderboard.ui.charts.dot_plots import PUBLISHED
from leaderboard.ui.tables import Column, interval_columns
from probing.analysis.breakdowns import BY_CULTURE, CULTURE, split_group
from probing.analysis.culture_metrics import west_last
from probing.errors import ProbingError
from probing.probes.answering import Answering
from probing.probes.ranking import Ranking

# Figures of the two cultures of a pair, of whole pairs and of predicates, in each prompt language (methods 4.5).


AUGMENTED = "augmented"
# The metrics that are compared between cultures, with their titles: those of answers by ranking and by generation.
MAIN_METRICS = {Ranking.main_metric: "P@1", Answering.main_metric: "Substring accuracy"}
GAP = "culture_gap"  # the figure of the first culture minus that of the West
METRICS = (*MAIN_METRICS, GAP, "culture_gap_p")


class Sides(NamedTuple):
    """A predicate, or a whole pair where `relation` is empty, in one language: its figures and their gap."""

    run: Run
    pair: str
    language: str
    relation: str
    cultures: Mapping[str, Score]
    gap: Score | None
    p: Score | None

    @property
    def ordered(self) -> list[tuple[str, Score]]:
        """Pairs of culture and score, the West last."""
        return sorted(self.cultures.items(), key=lambda side: west_last(side[0]))

    @property
    def metric(self) -> str:
        """The title of the metric that both cultures have a figure in."""
        return MAIN_METRICS[self.ordered[0][1].metric]

    @property
    def difference(self) -> float | None:
        return self.gap.value if self.gap else None


def sides(runs: Sequence[Run]) -> tuple[list[Sides], list[Sides]]:
    """Return the rows of whole pairs and those of predicates. One query."""
    by_run = {run.pk: run for run in runs}
    by_group: dict[tuple[int, str, str, str], dict[str, Score]] = {}
    for score in Score.objects.filter(run__in=by_run, metric__in=METRICS).order_by("pk"):
        if names := _group_names(score):
            pair, language, relation, culture = names
            by_group.setdefault((score.run_id, pair, language, relation), {})[culture or score.metric] = score
    rows = [_sides(by_run[run], group, scores) for (run, *group), scores in by_group.items()]
    complete = [row for row in rows if len(row.cultures) == 2]
    return [row for row in complete if not row.relation], [row for row in complete if row.relation]


def _sides(run: Run, group: Sequence[str], scores: Mapping[str, Score]) -> Sides:
    pair, language, relation = group
    cultures = {name: score for name, score in scores.items() if score.metric in MAIN_METRICS}
    return Sides(run, pair, language, relation, cultures, scores.get(GAP), scores.get("culture_gap_p"))


def _group_names(score: Score) -> tuple[str, str, str, str] | None:
    """Return pair, language, relation and culture of a score; relation and culture are empty where it is about all.

    Scores of other dimensions, and figures of both cultures together, have none.
    """
    tags = BY_CULTURE.get(score.dimension, ())
    if tags[:2] != ("culture_pair", "language") or (score.metric in MAIN_METRICS) != (CULTURE in tags):
        return None
    values = dict(zip(tags, split_group(score.dimension, score.group), strict=True))
    return values["culture_pair"], values["language"], values.get("relation", ""), values.get(CULTURE, "")


def objects_of(run: Run) -> str:
    """Return the kind of objects that a run was asked about."""
    return str(run.option("objects", AUGMENTED))


def pair_title(pair: str) -> str:
    """Return a pair's name for people: south-america-west becomes South America and West."""
    *first, second = pair.split("-")
    return f"{' '.join(first).title()} and {second.title()}"


def run_names(rows: Sequence[Sides]) -> dict[int, str]:
    """Map each run to its model's short name, with the run's number where several have the same; empty for one run."""
    names = {row.run.pk: row.run.model.hub_id.rpartition("/")[2] for row in rows}
    return labels.distinct(names) if len(names) > 1 else {}


def version_of(row: Sides) -> tuple[str, str, str, str]:
    """Return the version of a predicate that a row is about: pair, language, objects, predicate."""
    return row.pair, row.language, objects_of(row.run), row.relation


def predicate_cell(benchmark: Benchmark, version: tuple[str, str, str, str]) -> cells.Cell:
    """Return a predicate's cell with its name in words and, in the CSV, its id.

    It links to the page of that version and has its template as a note.
    """
    relation_id, template = versions(benchmark.pk).get(version, ("", ""))
    href = group_url(benchmark, "relation", relation_id) if relation_id else ""
    return replace(cells.text(version[-1], href, template), text=labels.relation(version[-1]))


@lru_cache(maxsize=8)
def versions(benchmark: int) -> dict[tuple[str, str, str, str], tuple[str, str]]:
    """Map pair, language, objects and predicate to the relation's id and its template, in English if there is one.

    It is empty where the files are not here. It is cached, as a version of a benchmark never changes.
    """
    row = Benchmark.objects.get(pk=benchmark)
    try:
        relations = benchmarks.read(row).relations if row.path else ()
    except ProbingError:
        return {}
    english = {rel.label: rel.templates[0] for rel in relations if rel.tags.get("language") == "en"}
    by_version = {}
    for relation in relations:
        pair, language, objects = (str(relation.tags.get(name)) for name in ("culture_pair", "language", "objects"))
        template = english.get(relation.label, relation.templates[0])
        by_version[pair, language, objects, relation.label] = (relation.id, template)
    return by_version


# The columns and charts that every section about culture pairs shares.


class ChartLine(NamedTuple):
    """A row of a chart: its name under its heading, `detail` that only its label on hover has, and where it leads.

    Without an address of its own it leads to its run.
    """

    row: Sides
    head: str
    name: str
    detail: str | None = None
    address: str = ""

    @property
    def label(self) -> str:
        return comma_separated(self.head, self.name, self.detail)

    @property
    def href(self) -> str:
        return self.address or self.row.run.get_absolute_url()


def comma_separated(*texts: str | None) -> str:
    """Join the texts that are not empty."""
    return ", ".join(filter(None, texts))


def languages_cell(codes: Sequence[str]) -> cells.Cell:
    """Return languages by their English names; the CSV has their codes."""
    return replace(cells.text(", ".join(codes)), text=", ".join(map(labels.language, codes)))


def legend(runs: Iterable[Run]) -> str:
    """Return what the summary of a chart with figures of these runs says about hollow markers, with a space first."""
    return " Hollow markers are published figures." if any(run.is_published for run in runs) else ""


def culture_names(rows: Sequence[Sides]) -> tuple[str, str]:
    """Return what the two sides are called, which is the names of the cultures where all rows have the same two."""
    names = {row.ordered[0][0] for row in rows}
    return names.pop() if len(names) == 1 else "First culture", "West"


def side_columns(rows: Sequence[Sides]) -> list[Column[Sides]]:
    """Return the columns of both cultures' scores and their gap, then intervals and numbers of items.

    They are called after the cultures where all rows have the same two.
    """
    first, second = culture_names(rows)

    def side(number: int) -> Callable[[Sides], Score]:
        return lambda row: row.ordered[number][1]

    return [
        Column("first", first, lambda row: cells.of_score(side(0)(row)), align="score"),
        Column("second", second, lambda row: cells.of_score(side(1)(row)), align="score"),
        Column("gap", "Gap", _gap, f"{first} minus {second}.", align="number"),
        Column("p", "p", _p_value, "Two-sided z-test of the gap.", align="number"),
        *interval_columns(lambda row: row.gap, "gap"),
        *interval_columns(side(0), "first"),
        *interval_columns(side(1), "second"),
        _items_column("first", first, side(0)),
        _items_column("second", second, side(1)),
    ]


def _items_column(name: str, title: str, score: Callable[[Sides], Score]) -> Column[Sides]:
    return Column(f"{name}_n", f"{title}, questions", lambda row: cells.items(score(row).n), align="number")


def _gap(row: Sides) -> cells.Cell:
    low, high = (row.gap.low, row.gap.high) if row.gap else (None, None)
    return cells.signed(row.difference, low=low, high=high)


def _p_value(row: Sides) -> cells.Cell:
    return cells.p_value(row.p.value) if row.p and row.p.value is not None else cells.number(None)


def both_sides(lines: Sequence[ChartLine], names: Sequence[str]) -> Plot:
    """Draw the figures of both cultures in each line, filled where they were measured here.

    `names` are what the legend calls the two sides.
    """
    points = [
        Point(
            *(line.label, float("nan") if score.value is None else score.value, score.low, score.high),
            group=name,
            href=line.href,
        )
        for line in lines
        for name, (_, score) in zip(names, line.row.ordered, strict=True)
    ]
    published = [line.label for line in lines if line.row.run.is_published]
    return charts.beside(points, _heads(lines), _metric(lines), _short_names(lines), published)


def gaps_forest(lines: Sequence[ChartLine]) -> Plot:
    """Draw the gap of each line, filled where it was measured here."""
    points = [
        Point(
            *(line.label, gap.value, gap.low, gap.high),
            group=PUBLISHED if line.row.run.is_published else "",
            href=line.href,
        )
        for line in lines
        if (gap := line.row.gap) and gap.value is not None
    ]
    return charts.forest(points, _heads(lines), f"gap in {_metric(lines)} to the West", _short_names(lines))


def _metric(lines: Sequence[ChartLine]) -> str:
    """Return the metric of the lines as the title of an axis, which is the same for all of them."""
    return labels.within(lines[0].row.metric)


def _heads(lines: Sequence[ChartLine]) -> dict[str, str]:
    return {line.label: line.head for line in lines}


def _short_names(lines: Sequence[ChartLine]) -> dict[str, str]:
    return {line.label: line.name for line in lines}
