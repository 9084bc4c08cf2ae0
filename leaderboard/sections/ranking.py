"""Culture pairs: both sides of each predicate, the gap between them, prompt languages, predictions (methods 4.5)."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from leaderboard import benchmarks, cells, charts, items, queries
from leaderboard.charts import Chart, Point
from leaderboard.models import Benchmark, Run, Score
from leaderboard.sections.section import Section, Sections
from leaderboard.tables import Column, Table
from probing.analysis.culture import WEST, common_predictions
from probing.analysis.entropy import entropies
from probing.errors import ProbingError

PREDICTIONS = [
    *("culture_pair", "language", "relation", "culture", "correct", "prediction_label", "prediction_cultures"),
]
Row = dict[str, Any]


class Sides(NamedTuple):
    """A predicate, or a whole pair, in one language: P@1 of either culture and the gap between them."""

    run: Run
    pair: str
    language: str
    relation: str
    cultures: Mapping[str, Score]
    gap: Score | None
    p: Score | None

    @property
    def named(self) -> list[tuple[str, Score]]:
        """Culture and score, the West last."""
        return sorted(self.cultures.items(), key=lambda side: (side[0] == WEST, side[0]))

    @property
    def difference(self) -> float | None:
        """As measured, or of two published figures."""
        if self.gap:
            return self.gap.value
        values = [score.value for _, score in self.named]
        return values[0] - values[1] if len(values) == 2 and None not in values else None


def of_run(run: Run) -> list[Section]:
    whole, by_relation = sides([run])
    groups: dict[tuple[str, str], list[Sides]] = {}
    for row in by_relation:
        groups.setdefault((row.pair, row.language), []).append(row)
    beside, _ = sides(queries.runs_beside(run))
    found = [gaps(whole), *(predicates(pair, language, rows) for (pair, language), rows in groups.items())]
    return [*(section for section in found if section), languages(beside), *predictions(run)]


def of_benchmark(benchmark: Benchmark) -> list[Section]:
    whole, _ = sides(queries.finished_runs(benchmark))
    return [section for section in (models(whole), answers(benchmark)) if section]


def of_comparison(runs: Sequence[Run]) -> list[Section]:
    whole, _ = sides(runs)
    return [models(whole)] if whole else []


def sides(runs: Sequence[Run]) -> tuple[list[Sides], list[Sides]]:
    """Whole pairs, and predicates; one query. Published figures name their pair and language in their settings."""
    by_run = {run.pk: run for run in runs}
    found: dict[tuple[int, str, str, str], dict[str, Score]] = {}
    wanted = ("p_at_1", "culture_gap", "culture_gap_p")
    for score in Score.objects.filter(run__in=by_run, metric__in=wanted).order_by("pk"):
        if place := _place(by_run[score.run_id], score):
            *key, culture = place
            found.setdefault((score.run_id, *key), {})[culture or score.metric] = score
    rows = [_sides(by_run[run], where, scores) for (run, *where), scores in found.items()]
    kept = [row for row in rows if len(row.cultures) == 2]
    return [row for row in kept if not row.relation], [row for row in kept if row.relation]


def _sides(run: Run, where: Sequence[str], scores: Mapping[str, Score]) -> Sides:
    cultures = {name: score for name, score in scores.items() if score.metric == "p_at_1"}
    return Sides(run, *where, cultures, scores.get("culture_gap"), scores.get("culture_gap_p"))


def _place(run: Run, score: Score) -> tuple[str, str, str, str] | None:
    """Pair, language, relation and culture that a score is about, empty where it is about all."""
    if run.provenance == Run.Provenance.PUBLISHED:
        return _published_place(run, score)
    if score.dimension == "culture_pair_language" and score.metric != "p_at_1":
        pair, language = score.group.split(" ", 1)
        return pair, language, "", ""
    if score.dimension == "culture_pair_language_culture" and score.metric == "p_at_1":
        pair, language, culture = score.group.split(" ", 2)
        return pair, language, "", culture
    if score.dimension == "culture_pair_language_relation" and score.metric != "p_at_1":
        return *score.group.split(" ", 2), ""
    if score.dimension == "culture_pair_language_relation_culture" and score.metric == "p_at_1":
        return tuple(score.group.split(" ", 3))
    return None


def _published_place(run: Run, score: Score) -> tuple[str, str, str, str] | None:
    pair, language = (str(run.settings.get(name, "")) for name in ("pair", "language"))
    if score.dimension == "culture":
        return pair, language, "", score.group
    if score.dimension == "relation_culture":
        relation, culture = score.group.split(" ", 1)
        return pair, language, relation, culture
    return None


def predicates(pair: str, language: str, rows: Sequence[Sides]) -> Section:
    """Dumbbells: the two cultures of each predicate."""
    name = f"sides-{pair}-{language}"
    title = f"{title_of(pair)}, asked in {language}"
    columns = [Column("relation", "Relation", lambda row: cells.text(row.relation), align="head"), *_figures(rows)]
    table = Table(name=name, caption=f"{title}: P@1 by relation and culture", columns=columns, rows=rows)
    better = sum((row.difference or 0) > 0 for row in rows)
    first = rows[0].named[0][0]
    summary = f"{first} facts are known better in {better} of {len(rows)} relations."
    lines = {row.relation: [_point(*side) for side in row.named] for row in rows}
    return Section(name, title, table, Chart(name, title, summary, charts.dumbbells(lines, "P@1")))


def title_of(pair: str) -> str:
    """south-america-west becomes South America and West."""
    *first, second = pair.split("-")
    return f"{' '.join(first).title()} and {second.title()}"


def _point(culture: str, score: Score) -> Point:
    return Point(culture, float("nan") if score.value is None else score.value, score.low, score.high)


def gaps(rows: Sequence[Sides]) -> Section | None:
    """The gap of each pair and language with its interval."""
    if not rows:
        return None
    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="head"),
        Column("language", "Language", lambda row: cells.text(row.language)),
        *_figures(rows),
    ]
    table = Table(name="gaps", caption="P@1 by pair, language and culture", columns=columns, rows=rows)
    points = [
        Point(f"{row.pair}, {row.language}", row.gap.value, row.gap.low, row.gap.high)
        for row in rows
        if row.gap and row.gap.value is not None
    ]
    title = "The gap between cultures"
    clear = sum(bool(p.low is not None and p.high is not None and p.low * p.high > 0) for p in points)
    summary = f"P@1 of the first culture minus that of the West; {clear} of {len(points)} intervals leave out zero."
    figure = charts.differences(points, "first culture minus West")
    return Section("gaps", title, table, Chart("gaps", title, summary, figure) if points else None)


def _figures(rows: Sequence[Sides]) -> list[Column[Sides]]:
    """Either side's score; the columns are called after the cultures where all rows have the same."""
    names = {tuple(name for name, _ in row.named) for row in rows}
    first, second = names.pop() if len(names) == 1 else ("First culture", "West")

    def side(place: int) -> Callable[[Sides], Score]:
        return lambda row: row.named[place][1]

    return [
        *_side_columns("first", first, side(0)),
        *_side_columns("second", second, side(1)),
        Column("gap", "Gap", lambda row: _signed(row.difference), f"{first} minus {second}.", align="number"),
        Column("gap_low", "95 % low", lambda row: _signed(getattr(row.gap, "low", None)), align="number bound"),
        Column("gap_high", "95 % high", lambda row: _signed(getattr(row.gap, "high", None)), align="number bound"),
        Column("p", "p", lambda row: _p(row.p), "Two-sided z-test of the gap.", align="number"),
    ]


def _side_columns(name: str, title: str, score: Callable[[Sides], Score]) -> list[Column[Sides]]:
    return [
        Column(name, title, lambda row: cells.of_score(score(row)), align="score"),
        Column(f"{name}_low", "95 % low", lambda row: cells.bound(score(row).low), align="number bound"),
        Column(f"{name}_high", "95 % high", lambda row: cells.bound(score(row).high), align="number bound"),
        Column(f"{name}_n", "Items", lambda row: cells.items(score(row).n), align="number"),
    ]


def _signed(value: float | None) -> cells.Cell:
    return cells.number(None) if value is None else cells.signed(value)


def _p(score: Score | None) -> cells.Cell:
    return cells.p_value(score.value) if score and score.value is not None else cells.number(None)


def languages(rows: Sequence[Sides]) -> Section:
    """The same model asked in each language, in this run, in others and in papers."""
    title = "Prompt languages side by side"
    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="head"),
        Column("language", "Language", lambda row: cells.text(row.language)),
        Column("run", "Run", lambda row: cells.text(f"run {row.run.pk}", href=row.run.get_absolute_url())),
        *_figures(rows),
        Column("provenance", "Source", lambda row: cells.text(row.run.get_provenance_display())),
    ]
    table = Table(name="languages", caption=title, columns=columns, rows=rows)
    lines: dict[str, list[Point]] = {}
    for row in rows:
        for culture, score in row.named:
            name = f"{title_of(row.pair)}: {culture}"
            label = f"{row.language}, run {row.run.pk}"
            lines.setdefault(name, []).append(_point(culture, score)._replace(label=label))
    asked = sorted({row.language for row in rows})
    figure = charts.lines(lines, "P@1")
    chart = Chart("languages", title, f"P@1 of either culture, asked in {', '.join(asked)}.", figure) if rows else None
    return Section("languages", title, table, chart)


def predictions(run: Run) -> list[Section]:
    """What the model says most often, right and wrong (the paper's Table 3)."""
    if not run.artefact or not set(PREDICTIONS) <= set(items.names(run)):
        return []
    title = "Most common predictions"
    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row["culture_pair"]))),
        Column("language", "Language", lambda row: cells.text(row["language"])),
        Column("relation", "Relation", lambda row: cells.text(row["relation"]), align="head"),
        Column("culture", "Culture", lambda row: cells.text(row["culture"])),
        Column("correct", "Right", lambda row: cells.yes_no(row["correct"])),
        Column("prediction", "Prediction", lambda row: cells.text(row["prediction_label"], lang=row["language"])),
        Column("share", "Share", lambda row: cells.share(row["share"]), "Of all predictions.", align="score"),
        Column("items", "Items", lambda row: cells.number(row["items"]), align="number"),
    ]
    rows = _predictions(run.pk)
    table = Table(name="predictions", caption=title, columns=columns, rows=rows, page_size=60, cards=True)
    note = "Up to three right and three wrong ones of each relation and culture; shares are of all its predictions."
    return [Section("predictions", title, table, note=note)]


@lru_cache(maxsize=32)
def _predictions(run: int) -> list[Row]:
    """A finished run never changes."""
    found = Run.objects.get(pk=run)
    rows = pd.DataFrame(items.rows(found, items.find(found, items.ItemFilter()), PREDICTIONS))
    return common_predictions(rows).to_dict("records")


def models(rows: Sequence[Sides]) -> Section | None:
    """Every run on every pair, measured and published."""
    if not rows:
        return None
    title = "Models on each pair"
    columns = [
        Column("model", "Model", lambda r: cells.text(r.run.model.hub_id, href=r.run.get_absolute_url()), align="head"),
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair))),
        Column("language", "Language", lambda row: cells.text(row.language)),
        Column("objects", "Objects", lambda row: cells.text(_objects(row.run))),
        *_figures(rows),
        Column("provenance", "Source", lambda row: cells.text(row.run.get_provenance_display())),
    ]
    table = Table(name="pairs", caption=title, columns=columns, rows=rows, page_size=50, cards=True)
    measured = [row for row in rows if row.gap and row.gap.value is not None]
    points = [
        Point(f"{row.run.model.hub_id}, {row.pair}, {row.language}", row.gap.value, row.gap.low, row.gap.high)
        for row in measured[:30]
    ]
    summary = f"Gaps between cultures of {len(points)} measured rows, P@1 of the first minus that of the West."
    figure = charts.differences(points, "first culture minus West")
    return Section("pairs", title, table, Chart("pairs", title, summary, figure) if points else None)


def _objects(run: Run) -> str:
    return str({**run.settings, **run.settings.get("options", {})}.get("objects", "augmented"))


def answers(benchmark: Benchmark) -> Section | None:
    """Items and entropies by relation and culture (the paper's Table 2)."""
    rows = _entropies(benchmark.pk) if benchmark.path else []
    if not rows:
        return None
    title = "How varied the answers are"
    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row["culture_pair"]))),
        Column("language", "Language", lambda row: cells.text(row["language"])),
        Column("objects", "Objects", lambda row: cells.text(row["objects"])),
        Column("relation", "Relation", lambda row: cells.text(row["relation"]), align="head"),
        Column("culture", "Culture", lambda row: cells.text(row["culture"])),
        Column("items", "Items", lambda row: cells.number(row["items"]), align="number"),
        Column("entropy", "Entropy, bits", lambda row: cells.number(row["entropy"], 1), align="number"),
    ]
    table = Table(name="entropies", caption=title, columns=columns, rows=rows, page_size=60)
    note = "An entropy of 0 means that one object is right for all items: a model need not know the subject."
    return Section("entropies", title, table, note=note)


@lru_cache(maxsize=8)
def _entropies(benchmark: int) -> list[Row]:
    """A version of a benchmark never changes."""
    try:
        return entropies(benchmarks.read(Benchmark.objects.get(pk=benchmark))).to_dict("records")
    except ProbingError:
        return []


SECTIONS = Sections(of_run, of_benchmark, of_comparison)
