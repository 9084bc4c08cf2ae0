"""The pages of cloze: fact types by kind of place, examples with the answer marked, and encoders beside generators."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from leaderboard.display import cells, charts
from leaderboard.display.cells import Cell
from leaderboard.display.charts import Chart
from leaderboard.display.columns import interval_columns, score_points, summary
from leaderboard.display.sections import Section, Switch
from leaderboard.display.tables import Column, Table
from leaderboard.lists.runs import finished_runs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import cloze_fact_types as fact_types
from leaderboard.probe_pages.breakdowns import group_href
from leaderboard.probe_pages.cloze_fact_types import HEADS, FactTypeKey, MacroAverage, ScoresByFactType
from leaderboard.probe_pages.cloze_items import ITEM_COLUMNS, MODEL_ANSWER, examples, run_answer
from leaderboard.probe_pages.cloze_models import difficulty_section, side_by_side
from leaderboard.probe_pages.pages import Json, ProbePages
from leaderboard.probe_pages.questions_in_words import TYPED
from leaderboard.probe_pages.training import TRAINING_METRICS, training_sections
from leaderboard.stored import benchmarks
from probing.analysis.cloze import MAJOR
from probing.analysis.crossed import CELL
from probing.errors import ProbingError
from probing.probes.cloze import INSTRUCTIONS

METRIC_LABELS = {
    **{f"in_top_{k}": f"In top {k}" for k in (1, 5, 10)},
    "in_near_1": "Within 1 token",
    **{f"in_near_{k}": f"Within {k} tokens" for k in (5, 15)},
    "not_one_token": "Answer not one token",
    "relative_accuracy_lm_pub_quiz": "Accuracy kept after training, multiple choice",
    "relative_accuracy_mask_predict": "Accuracy kept after training, filled blank",
    "accuracy_lm_pub_quiz": "Accuracy before training, multiple choice",
    "accuracy_mask_predict": "Accuracy before training, filled blank",
}
SWITCHES_NOTE = f"Major fact types have {MAJOR} sentences or more. Leaky sentences contain their own answer."
BASELINE_NOTE = (
    "Here, the options are the right answers of all sentences of the relation, and as many are given as count."
)
NONE_LEFT = "No fact type remains with these choices."


def run_sections(run: Run, major_only: bool, no_leaks: bool) -> list[Section]:
    """Return the macro-averages, the fact types and examples of a run."""
    chosen = fact_types.choose([run.pk], major_only, no_leaks)
    types, suffix = chosen.runs.get(run.pk, {}), fact_types.choice_suffix(major_only, no_leaks)
    averages = [_averages_section(run, types, suffix)] if chosen.divided else []
    return [*averages, *_fact_types_section(run, types, suffix, chosen.divided), *examples(run)]


def benchmark_sections(benchmark: Benchmark, major_only: bool, no_leaks: bool) -> list[Section]:
    """Return how difficult fact types are, encoders and generators side by side, and what training leaves of them."""
    runs = list(finished_runs(benchmark).order_by("model__hub_id", "pk"))
    chosen = fact_types.choose([run.pk for run in runs], major_only, no_leaks)
    suffix = fact_types.choice_suffix(major_only, no_leaks)
    note = SWITCHES_NOTE if chosen.divided else ""
    difficulty = difficulty_section(runs, chosen, suffix, note, NONE_LEFT)
    return [*_left_out_section(benchmark), *difficulty, *side_by_side(runs), *training_sections(runs)]


def _left_out_section(benchmark: Benchmark) -> list[Section]:
    """Return what the version says about sentences that are not asked; nothing where its files are not here."""
    with suppress(ProbingError):
        if notes := benchmarks.read(benchmark).notes if benchmark.path else ():
            return [Section("left_out", "What is left out", note=" ".join(notes))]
    return []


def _averages_section(run: Run, types: ScoresByFactType, suffix: str) -> Section:
    rows = fact_types.macro_averages(types)
    points = score_points(
        ((row.name, row.main) for row in rows), lambda head: group_href(run, "head", head) if head in HEADS else ""
    )
    title = "Macro-averages"
    chart = Chart("head", title, summary(title + suffix, points), charts.dots(points, title="accuracy"))
    table = _averages_table(rows, suffix)
    return Section("head", title, table, chart if rows else None, SWITCHES_NOTE, switched=True)


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
    chart = Chart("fact_type", title, summary(title + suffix, points), figure) if rows else None
    return [Section("fact_type", title, _fact_types_table(rows, suffix), chart, switched=divided)]


def _by_head(rows: Sequence[FactTypeRow]) -> list[FactTypeRow]:
    """Sort head by head, within a head the best first."""
    return sorted(rows, key=lambda row: (HEADS.index(row.head), -(row.value or 0.0)))


def _fact_types_table(rows: Sequence[FactTypeRow], suffix: str) -> Table[FactTypeRow]:
    return Table(
        name="fact_type",
        caption=f"Fact types by kind of place{suffix}",
        columns=[
            fact_types.name_column(),
            *_score_columns(rows),
            fact_types.head_column(),
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
PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    asked_by="a blank, filled with any word",
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
    question_form=TYPED,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    switches=(
        Switch("types", "major", "All fact types", "Major only"),
        Switch("sentences", "not-leaky", "All sentences", "Without leaky ones"),
    ),
)
