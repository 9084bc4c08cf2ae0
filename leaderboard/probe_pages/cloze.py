"""What cloze adds: fact types by head, examples with the answer marked, encoders and generators side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, NamedTuple

from django.urls import reverse

from leaderboard.display import cells, charts, labels
from leaderboard.display.breakdowns import bounds, provenance, settings_column, summary
from leaderboard.display.cells import Cell
from leaderboard.display.charts import Chart, Point
from leaderboard.display.sections import Section, Sections, Switch
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import fact_types
from leaderboard.probe_pages.fact_types import HEADS, Average, FactTypes
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemFilter, ItemsMissing
from probing.analysis.cloze import MAJOR
from probing.statements.geography.fact_types import FACT_TYPES

Row = dict[str, Any]
ENCODERS, GENERATORS = "encoders", "generators"
SIDES = {"masked": ENCODERS, "causal": GENERATORS}
# Within five, as the paper compares the two: in-top-5 of encoders, in-near-5 of generators.
FIVE = {ENCODERS: "in_top_5", GENERATORS: "in_near_5"}
SWITCHES_NOTE = f"Major fact types have {MAJOR} sentences or more. Leaky sentences give their answer away."
NONE_LEFT = "No fact type is left."
EXAMPLE = (
    "relation",
    "template",
    "index",
    "statement",
    "answer_label",
    "rank",
    "predictions",
    "continuation",
    "method",
)


def of_run(run: Run, major_only: bool, no_leaks: bool) -> list[Section]:
    found = fact_types.choose([run.pk], major_only, no_leaks)
    types, said = found.runs.get(run.pk, {}), fact_types.said(major_only, no_leaks)
    averaged = [_averages(types, said)] if found.divided else []
    return [*averaged, *_fact_types(types, said, found.divided), *_examples(run)]


def of_benchmark(benchmark: Benchmark, major_only: bool, no_leaks: bool) -> list[Section]:
    runs = list(queries.finished_runs(benchmark).order_by("model__hub_id", "pk"))
    return [*_difficulty(runs, major_only, no_leaks), *_side_by_side(benchmark, runs)]


def _averages(types: FactTypes, said: str) -> Section:
    rows = fact_types.averages(types)
    points = [Point(row.name, row.main.value, row.main.low, row.main.high) for row in rows if row.main]
    title = "Macro-averages"
    drawn = Chart(
        "head", title, summary(title + said, points), charts.dots(points, title=labels.metric("accuracy").lower())
    )
    return Section("head", title, _averages_table(rows, said), drawn if rows else None, SWITCHES_NOTE, switched=True)


def _averages_table(rows: Sequence[Average], said: str) -> Table[Average]:
    return Table(
        name="head",
        caption=f"Means over fact types{said}",
        columns=[
            Column("group", "Head", lambda row: cells.text(row.name), align="head"),
            Column("fact_types", "Fact types", lambda row: cells.number(row.fact_types), align="number"),
            *_figures(rows),
        ],
        rows=rows,
        empty=NONE_LEFT,
    )


@dataclass(frozen=True)
class FactTypeRow:
    """One fact type's scores of a run, by metric."""

    key: str
    scores: Mapping[str, Score]

    @property
    def main(self) -> Score | None:
        return self.scores.get("accuracy")

    @property
    def value(self) -> float | None:
        return self.main.value if self.main else None


def _fact_types(types: FactTypes, said: str, divided: bool) -> list[Section]:
    rows = _by_head([FactTypeRow(key, scores) for key, scores in types.items()])
    if not rows and not divided:
        return []
    known = [(row.key, row.main) for row in rows if row.main and row.main.value is not None]
    points = [Point(_name(key), score.value, score.low, score.high) for key, score in known]
    title = "Fact types by head"
    drawn = charts.headed_dots(
        points, {_name(row.key): _head(row.key) for row in rows}, labels.metric("accuracy").lower()
    )
    chart = Chart("fact_type", title, summary(title + said, points), drawn) if rows else None
    return [Section("fact_type", title, _fact_types_table(rows, said), chart, switched=divided)]


def _by_head(rows: Sequence[FactTypeRow]) -> list[FactTypeRow]:
    """Head by head, within a head the best first."""
    return sorted(rows, key=lambda row: (HEADS.index(_head(row.key)), -(row.value or 0.0)))


def _fact_types_table(rows: Sequence[FactTypeRow], said: str) -> Table[FactTypeRow]:
    return Table(
        name="fact_type",
        caption=f"Fact types by head{said}",
        columns=[
            Column("fact_type", "Fact type", lambda row: cells.text(_name(row.key)), align="head"),
            *_figures(rows),
            Column("head", "Head", lambda row: cells.text(_head(row.key)), align="kind"),
        ],
        rows=rows,
        empty=NONE_LEFT,
    )


def _figures(rows: Sequence[Average] | Sequence[FactTypeRow]) -> list[Column[Any]]:
    """Accuracy with its interval, over how many sentences, then every other metric."""
    others = dict.fromkeys(name for row in rows for name in row.scores if name != "accuracy")

    def column(metric: str) -> Column[Any]:
        def cell(row: Average | FactTypeRow) -> Cell:
            return cells.number(row.scores[metric].value if metric in row.scores else None)

        return Column(metric, labels.metric(metric), cell, align="number")

    def sentences(row: Average | FactTypeRow) -> Cell:
        return cells.items(row.main.n if row.main and row.main.n else None)

    return [
        Column("value", labels.metric("accuracy"), lambda row: cells.of_score(row.main), align="score"),
        *bounds(lambda row: row.main),
        Column("n", "Sentences", sentences, align="number"),
        *map(column, others),
    ]


def _examples(run: Run) -> list[Section]:
    try:
        rows = list(item_rows.rows(run, firsts(run), EXAMPLE))
    except ItemsMissing:
        return []
    return [Section("examples", "Examples", examples_table(run, rows), note=EXAMPLES_NOTE)]


def firsts(run: Run) -> list[int]:
    """The number of the first row of each relation that was asked."""
    found: dict[str, int] = {}
    for number, row in enumerate(item_rows.rows(run, item_rows.find(run, ItemFilter()), ["relation", "method"])):
        if row["method"]:
            found.setdefault(row["relation"], number)
    return list(found.values())


EXAMPLES_NOTE = "The first sentence of each fact type, and what the model put at its blank; the answer is marked."


GIVEN = {"top": "Top ten", "near": "Goes on with"}


def examples_table(run: Run, rows: Sequence[Row]) -> Table[Row]:
    def statement(row: Row) -> Cell:
        href = reverse("item", args=[run.pk, row["relation"], row["template"], row["index"]])
        return cells.text(row["statement"], href=href)

    return Table(
        name="examples",
        caption="Examples",
        columns=[
            Column("statement", "Sentence", statement, align="head"),
            Column("answer", "Answer", lambda row: cells.text(row["answer_label"])),
            Column(
                "given",
                GIVEN[rows[0]["method"]] if rows else "",
                lambda row: cells.marked(given(row), row["answer_label"]),
                align="wide",
            ),
            Column("rank", "Found at", lambda row: cells.number(row["rank"]), "Place, or tokens.", align="number"),
        ],
        rows=rows,
        cards=True,
    )


def given(row: Row) -> str:
    """What the model put at the blank."""
    return " · ".join(row["predictions"]) if row["method"] == "top" else " ".join(row["continuation"].split())


class Difficulty(NamedTuple):
    """The mean over each group's runs on one fact type, and how many models they are of."""

    key: str
    means: Mapping[str, float]
    models: Mapping[str, int]


def _difficulty(runs: Sequence[Run], major_only: bool, no_leaks: bool) -> list[Section]:
    """The paper's Figure 1, with published figures beside the measured ones: they are of other sentences."""
    asked = {run.pk: run for run in runs if run.model.kind in SIDES}
    found = fact_types.choose(asked, major_only, no_leaks)
    rows, said = difficulty(found.runs, asked), fact_types.said(major_only, no_leaks)
    if not rows and not found.divided:
        return []
    points = [Point(_name(row.key), value, group=group) for row in rows for group, value in row.means.items()]
    title = "Difficulty of fact types"
    drawn = charts.headed_dots(points, {_name(row.key): _head(row.key) for row in rows}, "within five")
    chart = Chart("difficulty", title, summary(title + said, points), drawn) if rows else None
    note = SWITCHES_NOTE if found.divided else ""
    return [Section("difficulty", title, _difficulty_table(rows, said), chart, note, found.divided)]


def difficulty(found: Mapping[int, FactTypes], runs: Mapping[int, Run]) -> list[Difficulty]:
    """Head by head, the easiest fact type first."""
    values: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for number, types in found.items():
        run = runs[number]
        for key, scores in types.items():
            score = scores.get(FIVE[SIDES[run.model.kind]])
            if score and score.value is not None:
                values.setdefault(key, {}).setdefault(_group(run), []).append((run.model.hub_id, score.value))
    rows = [
        Difficulty(
            key,
            {group: mean(value for _, value in known) for group, known in by.items()},
            {group: len({model for model, _ in known}) for group, known in by.items()},
        )
        for key, by in values.items()
    ]
    return sorted(rows, key=lambda row: (HEADS.index(_head(row.key)), -max(row.means.values())))


def _group(run: Run) -> str:
    side = SIDES[run.model.kind]
    return side if run.provenance == Run.Provenance.MEASURED else f"{side}, published"


def _difficulty_table(rows: Sequence[Difficulty], said: str) -> Table[Difficulty]:
    known = {group for row in rows for group in row.means}
    groups = [group for side in FIVE for group in (side, f"{side}, published") if group in known]

    def columns(group: str) -> list[Column[Difficulty]]:
        title, metric = group.capitalize(), FIVE[group.partition(",")[0]].replace("_", "-")
        name = group.replace(", ", "_")
        return [
            Column(name, title, lambda row: cells.score(row.means.get(group)), metric, align="score"),
            Column(
                f"{name}_models", f"{title}, models", lambda row: cells.number(row.models.get(group)), align="number"
            ),
        ]

    return Table(
        name="difficulty",
        caption=f"Mean over models of the share found within five, by fact type{said}",
        columns=[
            Column("fact_type", "Fact type", lambda row: cells.text(_name(row.key)), align="head"),
            *(column for group in groups for column in columns(group)),
            Column("head", "Head", lambda row: cells.text(_head(row.key)), align="kind"),
        ],
        rows=rows,
        empty=NONE_LEFT,
    )


@dataclass(frozen=True)
class Side:
    """A run on the sentences that both kinds of model can be asked."""

    run: Run
    score: Score

    @property
    def side(self) -> str:
        return SIDES[self.run.model.kind]


def _side_by_side(benchmark: Benchmark, runs: Sequence[Run]) -> list[Section]:
    """Encoders and generators on the same sentences: those that end in their blank."""
    found = {run.pk: run for run in runs if run.model.kind in SIDES}
    scores = Score.objects.filter(run__in=found, dimension="blank", group="last", metric="accuracy").order_by("-value")
    rows = [Side(found[score.run_id], score) for score in scores]
    if not rows:
        return []
    points = [
        Point(row.run.name, row.score.value, row.score.low, row.score.high, group=row.side)
        for row in rows
        if row.score.value is not None
    ]
    title = "Encoders and generators on the same sentences"
    drawn = charts.headed_dots(points, {point.label: point.group.capitalize() for point in points}, "within k")
    chart = Chart("sides", title, f"Only sentences that end in their blank. {summary(title, points)}", drawn)
    return [Section("sides", title, _sides_table(rows), chart)]


def _sides_table(rows: Sequence[Side]) -> Table[Side]:
    return Table(
        name="sides",
        caption="Models on the sentences that end in their blank",
        columns=[
            Column(
                "model",
                "Model",
                lambda row: cells.text(row.run.model.hub_id, href=row.run.get_absolute_url()),
                align="head",
            ),
            Column("side", "Kind", lambda row: cells.text(row.side.removesuffix("s"))),
            Column("value", labels.metric("accuracy"), lambda row: cells.of_score(row.score), align="score"),
            *bounds(lambda row: row.score),
            Column("n", "Sentences", lambda row: cells.items(row.score.n), align="number"),
            *settings_column(rows, lambda row: row.run),
            Column("provenance", "Source", lambda row: provenance(row.run)),
        ],
        rows=rows,
        cards=True,
    )


def _name(key: str) -> str:
    return FACT_TYPES[key].name


def _head(key: str) -> str:
    return FACT_TYPES[key].head


SECTIONS = Sections(
    of_run,
    of_benchmark,
    switches=(
        Switch("types", "major", "All fact types", "Major only"),
        Switch("sentences", "not-leaky", "All sentences", "Without leaky ones"),
    ),
)
