"""The pages of cloze: fact types by kind of place, macro-averages, difficulty, and encoders beside generators."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan
from statistics import mean
from typing import Any, NamedTuple

import pandas as pd

from leaderboard.figures import benchmarks
from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import finished_runs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes.breakdowns import group_href
from leaderboard.probes.cloze_items import ITEM_COLUMNS, MODEL_ANSWER, run_answer
from leaderboard.probes.further_training import TRAINING_METRICS, training_sections
from leaderboard.probes.probe_pages import Json, ProbePages, notes_section
from leaderboard.probes.wording import ONE_ANSWER
from leaderboard.ui import cells, charts
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Point, kind_symbol
from leaderboard.ui.sections import Section, Switch, section
from leaderboard.ui.tables import (
    Column,
    Table,
    interval_columns,
    model_column,
    score_points,
    settings_column,
    source_column,
    summary,
)
from probing.analysis.breakdowns import CELL, split_group
from probing.analysis.cloze_metrics import MAJOR, mean_share
from probing.errors import ProbingError
from probing.formats.geography import LEFT_OUT
from probing.judging import QUESTIONS, stored_agreement
from probing.probes.cloze import INSTRUCTIONS
from probing.statements.geography_sentences import FACT_TYPES

METRIC_LABELS = {
    **{f"in_top_{k}": f"In top {k}" for k in (1, 5, 10)},
    "in_near_1": "Within 1 token",
    **{f"in_near_{k}": f"Within {k} tokens" for k in (5, 15)},
    "not_one_token": "Answer not one token",
    "accuracy_with_aliases": "Accuracy, other names count",
    "relative_accuracy_lm_pub_quiz": "Accuracy kept after training, multiple choice",
    "relative_accuracy_mask_predict": "Accuracy kept after training, filled blank",
    "accuracy_lm_pub_quiz": "Accuracy before training, multiple choice",
    "accuracy_mask_predict": "Accuracy before training, filled blank",
}
HEADS = list(dict.fromkeys(fact_type.head for fact_type in FACT_TYPES.values()))
SWITCHES_NOTE = f"Major fact types have {MAJOR} sentences or more. Leaky sentences contain their own answer."
BASELINE_NOTE = "Here, as many answers are given as count. There is no chance, because any word may stand at a blank."
DIFFICULTY_LEAD = "The share of answers found within five, by fact type and kind of model."
LEFT_OUT_LEAD = "Facts of the source that became no question."
JUDGED_LEAD = "What judges answered about samples of the sentences, and how far they agree."
NONE_LEFT = "No fact type remains with these choices."


def run_sections(run: Run, major_only: bool, no_leaks: bool) -> list[Section]:
    """Return the macro-averages and the fact types of a run."""
    chosen = choose([run.pk], major_only, no_leaks)
    types, suffix = chosen.runs.get(run.pk, {}), choice_suffix(major_only, no_leaks)
    averages = [_averages_section(run, types, suffix)] if chosen.divided else []
    return [*averages, *_fact_types_section(run, types, suffix, chosen.divided)]


def benchmark_sections(benchmark: Benchmark, major_only: bool, no_leaks: bool) -> list[Section]:
    """Return how difficult fact types are, encoders and generators side by side, and what training leaves of them."""
    runs = list(finished_runs(benchmark).order_by("model__hub_id", "pk"))
    chosen = choose([run.pk for run in runs], major_only, no_leaks)
    difficulty = difficulty_section(runs, chosen, choice_suffix(major_only, no_leaks))
    return [
        *side_by_side(runs),
        *training_sections(runs),
        *(replace(section, lead=DIFFICULTY_LEAD) for section in difficulty),
        *notes_section(benchmark, "left_out", "What is left out", LEFT_OUT_LEAD),
        *judged_section(benchmark),
    ]


@lru_cache(maxsize=8)
def judged(benchmark: int) -> Sequence[Row]:
    """Return how judges answered each question about the sentences, remembered, as a version never changes.

    Where its files cannot be read, the error is raised, so that they are read again the next time.
    """
    files = benchmarks.read(Benchmark.objects.get(pk=benchmark)).files
    return [row for path in files if path.name == LEFT_OUT for row in records(stored_agreement(path))]


def judged_section(benchmark: Benchmark) -> list[Section]:
    """Return how judges answered each question about the sentences; nothing where none were asked (section 2.2)."""
    rows: Sequence[Row] = ()
    with suppress(ProbingError):
        rows = judged(benchmark.pk) if benchmark.path else ()
    if not rows:
        return []

    def number(name: str, title: str, help_text: str = "") -> Column[Row]:
        return Column(name, title, lambda row: cells.number(row[name]), help_text, align="number")

    columns: list[Column[Row]] = [
        Column("question", "Question", lambda row: cells.text(QUESTIONS[row["question"]]), align="head"),
        Column("sample", "Sample", lambda row: cells.text(str(row["sample"]))),
        number("judges", "Judges"),
        number("sentences", "Sentences"),
        number("yes", "Yes", "Share of all answers."),
        number("agreement", "Agreement", "Share of the pairs of judges who agree, as a mean over sentences."),
        number("kappa", "Kappa", "Agreement beyond chance: Cohen's for two judges, Fleiss' for more."),
    ]
    table = Table("judged", "How the sentences were judged", columns, rows, sortable=False)
    return [replace(section(table), lead=JUDGED_LEAD)]


ScoresByFactType = Mapping[str, Mapping[str, Score]]  # by key of the fact type and metric


def _averages_section(run: Run, types: ScoresByFactType, suffix: str) -> Section:
    rows = macro_averages(types)
    points = score_points(
        ((row.name, row.main) for row in rows), lambda head: group_href(run, "head", head) if head in HEADS else ""
    )
    title = "Macro-averages"
    drawing = (summary(title + suffix, points), charts.dots(points, title="accuracy")) if rows else None
    return section(_averages_table(rows, suffix), drawing, SWITCHES_NOTE, title=title, switched=True)


@dataclass(frozen=True)
class MacroAverage:
    """The macro-averages over all fact types, or over those of one head, by metric."""

    name: str
    fact_types: int
    scores: Mapping[str, Score]

    @property
    def main(self) -> Score | None:
        return self.scores.get("accuracy")


def _averages_table(rows: Sequence[MacroAverage], suffix: str) -> Table[MacroAverage]:
    return Table(
        name="head",
        caption=f"Means over fact types{suffix}",
        columns=[
            Column("group", "Kind of place", lambda row: cells.text(row.name), align="head"),
            Column("fact_types", "Fact types", lambda row: cells.number(row.fact_types), align="number"),
            *_score_columns(rows),
        ],
        rows=rows,
        empty=NONE_LEFT,
    )


@dataclass(frozen=True)
class FactTypeKey:
    """The fact type that a row of a table is about."""

    key: str

    @property
    def name(self) -> str:
        return FACT_TYPES[self.key].name

    @property
    def head(self) -> str:
        return FACT_TYPES[self.key].head


@dataclass(frozen=True)
class FactTypeRow(FactTypeKey):
    """One fact type's scores of a run, by metric."""

    scores: Mapping[str, Score]

    @property
    def main(self) -> Score | None:
        return self.scores.get("accuracy")

    @property
    def value(self) -> float | None:
        return self.main.value if self.main else None


def _fact_types_section(run: Run, types: ScoresByFactType, suffix: str, divided: bool) -> list[Section]:
    rows = _by_head([FactTypeRow(key, scores) for key, scores in types.items()])
    if not rows and not divided:
        return []
    addresses = {row.name: group_href(run, "fact_type", row.key) for row in rows}
    points = score_points(((row.name, row.main) for row in rows), addresses.__getitem__)
    title = "Fact types by kind of place"
    figure = charts.headed_dots(points, {row.name: row.head for row in rows}, "accuracy")
    drawing = (summary(title + suffix, points), figure) if rows else None
    return [section(_fact_types_table(rows, suffix), drawing, title=title, switched=divided)]


def _by_head(rows: Sequence[FactTypeRow]) -> list[FactTypeRow]:
    """Sort head by head, within a head the best first."""
    return sorted(rows, key=lambda row: (HEADS.index(row.head), -(row.value or 0.0)))


def _fact_types_table(rows: Sequence[FactTypeRow], suffix: str) -> Table[FactTypeRow]:
    return Table(
        name="fact_type",
        caption=f"Fact types by kind of place{suffix}",
        columns=[
            name_column(),
            *_score_columns(rows),
            head_column(),
        ],
        rows=rows,
        empty=NONE_LEFT,
    )


def _score_columns(rows: Sequence[MacroAverage] | Sequence[FactTypeRow]) -> list[Column[Any]]:
    """Return accuracy with its interval, the number of sentences, then every other metric."""
    others = dict.fromkeys(name for row in rows for name in row.scores if name != "accuracy")

    def column(metric: str) -> Column[Any]:
        def cell(row: MacroAverage | FactTypeRow) -> Cell:
            return cells.number(row.scores[metric].value if metric in row.scores else None)

        return Column(metric, PAGES.metric_label(metric), cell, align="number")

    def sentences(row: MacroAverage | FactTypeRow) -> Cell:
        return cells.items(row.main.n if row.main else None)

    return [
        Column("value", "Accuracy", lambda row: cells.of_score(row.main), align="score"),
        *interval_columns(lambda row: row.main),
        Column("n", "Sentences", sentences, align="number"),
        *map(column, others),
    ]


def published_scores(settings: Json, scores: Sequence[Json]) -> list[Json]:
    """Return published shares within five as accuracies: that is what counts as right in a measured run."""
    return [{**score, "metric": "accuracy"} for score in scores if score["metric"] in ("in_top_5", "in_near_5")]


INSTRUCTION_LABELS = {0: "0: none, the sentence alone"} | {
    number: f"{number}: {text.format('[sentence]')}" for number, text in enumerate(INSTRUCTIONS) if number
}


# The fact types that a reader chose, and the macro-averages over them (methods 5.5).


def name_column() -> Column[Any]:
    """Return the column with the name of a row's fact type."""
    return Column("fact_type", "Fact type", lambda row: cells.text(row.name), align="head")


def head_column() -> Column[Any]:
    """Return the column with the kind of place that a row's fact type is about."""
    return Column("head", "Kind of place", lambda row: cells.text(row.head), align="kind")


@dataclass(frozen=True)
class ChosenFactTypes:
    """The scores of each run's fact types; `divided` tells whether the runs can be narrowed to fewer fact types."""

    runs: Mapping[int, ScoresByFactType]
    divided: bool


def choose(runs: Collection[int], major_only: bool = False, no_leaks: bool = False) -> ChosenFactTypes:
    """Return the chosen fact types of runs by number. One query.

    Published figures do not tell leaky sentences from others, so that `no_leaks` leaves them out.
    """
    stored = list(Score.objects.filter(run__in=runs, dimension__in=("fact_type", CELL)).order_by("pk"))
    by_cell = [(FactTypeCell(*split_group(CELL, score.group)), score) for score in stored if score.dimension == CELL]
    majors = {cell.fact_type for cell, _ in by_cell if cell.size == "major"}
    if no_leaks:
        scores = [(cell.fact_type, score) for cell, score in by_cell if cell.leak == "not leaky"]
    else:
        scores = [(score.group, score) for score in stored if score.dimension == "fact_type"]
    by_run: dict[int, dict[str, dict[str, Score]]] = {}
    for key, score in scores:
        if key in FACT_TYPES and (key in majors or not major_only):
            by_run.setdefault(score.run_id, {}).setdefault(key, {})[score.metric] = score
    return ChosenFactTypes(by_run, bool(by_cell))


class FactTypeCell(NamedTuple):
    """The sentences of one fact type that are leaky or are not; `size` tells whether the fact type is major."""

    fact_type: str
    size: str
    leak: str


def choice_suffix(major_only: bool, no_leaks: bool) -> str:
    """Return what is put behind a title to say what was chosen."""
    return (", major only" if major_only else "") + (", without leaky sentences" if no_leaks else "")


def macro_averages(types: ScoresByFactType) -> list[MacroAverage]:
    """Return the averages over all fact types, then head by head; a head without fact types is left out."""
    groups = {"All fact types": list(types)}
    groups |= {head: [key for key in types if FACT_TYPES[key].head == head] for head in HEADS}
    return [_macro_average(name, [types[key] for key in keys]) for name, keys in groups.items() if keys]


def _macro_average(name: str, types: list[Mapping[str, Score]]) -> MacroAverage:
    metrics = dict.fromkeys(metric for scores in types for metric in scores)
    means = {metric: _mean([scores[metric] for scores in types if metric in scores]) for metric in metrics}
    return MacroAverage(name, len(types), means)


def _mean(scores: list[Score]) -> Score:
    values, numbers = (pd.Series([getattr(score, name) for score in scores]) for name in ("value", "n"))
    figures = (None if isnan(figure) else figure for figure in mean_share(values, numbers))
    names = ("value", "n", "low", "high", "cluster_low", "cluster_high")
    return Score(metric=scores[0].metric, **dict(zip(names, figures, strict=True)))


# Comparisons of models on cloze: the difficulty of fact types, and all kinds of model on the same sentences.


ENCODERS, GENERATORS, ENCODER_DECODERS = "encoders", "generators", "encoder-decoders"
SIDES = {"masked": ENCODERS, "causal": GENERATORS, "encoder-decoder": ENCODER_DECODERS}
# Within five, as the paper compares the first two: in-top-5 of encoders, in-near-5 of models that write.
WITHIN_FIVE = {ENCODERS: "in_top_5", GENERATORS: "in_near_5", ENCODER_DECODERS: "in_near_5"}
# Symbol and colour of each group of models, the same in both charts: hollow where the figures are published.
MARKERS = {
    f"{side}{', published' if published else ''}": (kind_symbol(kind, hollow=published), f"var(--series-{number})")
    for number, (kind, side) in enumerate(SIDES.items(), start=1)
    for published in (False, True)
}


@dataclass(frozen=True)
class Difficulty(FactTypeKey):
    """One fact type: for each group of models the mean share found within five, and the number of models."""

    means: Mapping[str, float]
    models: Mapping[str, int]


def difficulty_section(runs: Sequence[Run], chosen: ChosenFactTypes, suffix: str) -> list[Section]:
    """Return the paper's Figure 1; published figures stand beside the measured ones, as they are of other sentences."""
    rows = difficulty(chosen, {run.pk: run for run in runs if run.model.kind in SIDES})
    if not rows and not chosen.divided:
        return []
    points = [Point(row.name, value, group=group) for row in rows for group, value in row.means.items()]
    title = "Difficulty of fact types"
    heads = {row.name: row.head for row in rows}
    figure = charts.headed_dots(points, heads, "share found within five", markers=MARKERS)
    drawing = (summary(title + suffix, points), figure) if rows else None
    table, note = _difficulty_table(rows, suffix), SWITCHES_NOTE if chosen.divided else ""
    return [section(table, drawing, note, title=title, switched=chosen.divided)]


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


def _difficulty_table(rows: Sequence[Difficulty], suffix: str) -> Table[Difficulty]:
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
        empty=NONE_LEFT,
    )


def _group_columns(group: str) -> list[Column[Difficulty]]:
    title, metric = group.capitalize(), WITHIN_FIVE[group.partition(",")[0]].replace("_", "-")
    name, is_published = group.replace(", ", "_"), "," in group

    def cell(row: Difficulty) -> Cell:
        value = row.means.get(group)
        return cells.not_reported() if value is None and is_published else cells.score(value)

    return [
        Column(name, title, cell, metric, align="score"),
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
    heads = {point.label: point.group.capitalize() for point in points}
    figure = charts.headed_dots(points, heads, "accuracy", markers=MARKERS)
    words = f"Only sentences that end in their blank. {summary(title, points)}"
    return [section(_sides_table(rows), (words, figure), title=title)]


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


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    asked_by="a blank, filled with any word, for which one answer counts",
    offers_options=False,
    baseline_note=BASELINE_NOTE,
    training_metrics=TRAINING_METRICS,
    option_labels={
        "k": "Places that count",
        "closed": "Rank only the answers",
        "chat": "Use the chat template",
        "tokens": "Tokens to write",
    },
    choice_labels={"instruction": INSTRUCTION_LABELS},
    hidden_dimensions=(CELL,),
    fine_dimensions=(CELL,),
    secondary_metrics=("in_top_1", "in_top_10", "in_near_1", "in_near_15"),
    default_dimensions=("head",),
    published_scores=published_scores,
    # These figures are relative to those of the same model before its training.
    published_metrics={"trex": "relative_accuracy_lm_pub_quiz"},
    item_columns=ITEM_COLUMNS,
    run_answer=run_answer,
    model_answer=MODEL_ANSWER,
    question_form=ONE_ANSWER,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    switches=(
        Switch("types", "major", "All fact types", "Major only"),
        Switch("sentences", "not-leaky", "All sentences", "Without leaky ones"),
    ),
)
