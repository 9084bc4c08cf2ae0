"""Comparisons of models on cloze: the difficulty of fact types, and all kinds of model on the same sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart, Point
from leaderboard.display.columns import interval_columns, model_column, settings_column, source_column, summary
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.cloze_fact_types import HEADS, ChosenFactTypes, FactTypeKey, head_column, name_column

ENCODERS, GENERATORS, ENCODER_DECODERS = "encoders", "generators", "encoder-decoders"
SIDES = {"masked": ENCODERS, "causal": GENERATORS, "encoder-decoder": ENCODER_DECODERS}
# Within five, as the paper compares the first two: in-top-5 of encoders, in-near-5 of models that write.
WITHIN_FIVE = {ENCODERS: "in_top_5", GENERATORS: "in_near_5", ENCODER_DECODERS: "in_near_5"}


@dataclass(frozen=True)
class Difficulty(FactTypeKey):
    """One fact type: for each group of models the mean share found within five, and the number of models."""

    means: Mapping[str, float]
    models: Mapping[str, int]


def difficulty_section(
    runs: Sequence[Run], chosen: ChosenFactTypes, suffix: str, note: str, empty: str
) -> list[Section]:
    """Return the paper's Figure 1; published figures stand beside the measured ones, as they are of other sentences."""
    rows = difficulty(chosen, {run.pk: run for run in runs if run.model.kind in SIDES})
    if not rows and not chosen.divided:
        return []
    points = [Point(row.name, value, group=group) for row in rows for group, value in row.means.items()]
    title = "Difficulty of fact types"
    figure = charts.headed_dots(points, {row.name: row.head for row in rows}, "share found within five")
    chart = Chart("difficulty", title, summary(title + suffix, points), figure) if rows else None
    return [Section("difficulty", title, _difficulty_table(rows, suffix, empty), chart, note, chosen.divided)]


def difficulty(chosen: ChosenFactTypes, runs: Mapping[int, Run]) -> list[Difficulty]:
    """Return a row per fact type, head by head, the easiest first."""
    values: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for run, types in ((runs[number], types) for number, types in chosen.runs.items() if number in runs):
        for key, scores in types.items():
            score = scores.get(WITHIN_FIVE[SIDES[run.model.kind]])
            if score and score.value is not None:
                values.setdefault(key, {}).setdefault(_group(run), []).append((run.model.hub_id, score.value))
    rows = [
        Difficulty(
            key,
            {group: mean(value for _, value in pairs) for group, pairs in by_group.items()},
            {group: len({model for model, _ in pairs}) for group, pairs in by_group.items()},
        )
        for key, by_group in values.items()
    ]
    return sorted(rows, key=lambda row: (HEADS.index(row.head), -max(row.means.values())))


def _group(run: Run) -> str:
    side = SIDES[run.model.kind]
    return side if run.provenance == Run.Provenance.MEASURED else f"{side}, published"


def _difficulty_table(rows: Sequence[Difficulty], suffix: str, empty: str) -> Table[Difficulty]:
    with_values = {group for row in rows for group in row.means}
    groups = [group for side in WITHIN_FIVE for group in (side, f"{side}, published") if group in with_values]
    return Table(
        name="difficulty",
        caption=f"Mean over models of the share found within five, by fact type{suffix}",
        columns=[
            name_column(),
            *(column for group in groups for column in _group_columns(group)),
            head_column(),
        ],
        rows=rows,
        empty=empty,
    )


def _group_columns(group: str) -> list[Column[Difficulty]]:
    title, metric = group.capitalize(), WITHIN_FIVE[group.partition(",")[0]].replace("_", "-")
    name = group.replace(", ", "_")
    return [
        Column(name, title, lambda row: cells.score(row.means.get(group)), metric, align="score"),
        Column(f"{name}_models", f"{title}, models", lambda row: cells.number(row.models.get(group)), align="number"),
    ]


@dataclass(frozen=True)
class RunOnEnds:
    """A run's accuracy on the sentences that end in their blank, which all kinds of model can be asked."""

    run: Run
    score: Score

    @property
    def side(self) -> str:
        return SIDES[self.run.model.kind]


def side_by_side(runs: Sequence[Run]) -> list[Section]:
    """Return encoders and generators on the same sentences: those that end in their blank. One query."""
    by_pk = {run.pk: run for run in runs if run.model.kind in SIDES}
    scores = Score.objects.filter(run__in=by_pk, dimension="blank", group="last", metric="accuracy").order_by("-value")
    rows = [RunOnEnds(by_pk[score.run_id], score) for score in scores]
    if not rows:
        return []
    points = [
        Point(
            *(row.run.name, row.score.value, row.score.low, row.score.high),
            group=row.side,
            href=row.run.get_absolute_url(),
        )
        for row in rows
        if row.score.value is not None
    ]
    title = "Encoders and generators on the same sentences"
    figure = charts.headed_dots(points, {point.label: point.group.capitalize() for point in points}, "accuracy")
    chart = Chart("sides", title, f"Only sentences that end in their blank. {summary(title, points)}", figure)
    return [Section("sides", title, _sides_table(rows), chart)]


def _sides_table(rows: Sequence[RunOnEnds]) -> Table[RunOnEnds]:
    return Table(
        name="sides",
        caption="Models on the sentences that end in their blank",
        columns=[
            model_column(lambda row: row.run),
            Column("side", "Kind", lambda row: cells.text(row.side.removesuffix("s"))),
            Column("value", "Accuracy", lambda row: cells.of_score(row.score), align="score"),
            *interval_columns(lambda row: row.score),
            Column("n", "Sentences", lambda row: cells.items(row.score.n), align="number"),
            settings_column(lambda row: row.run),
            source_column(lambda row: row.run),
        ],
        rows=rows,
    )
