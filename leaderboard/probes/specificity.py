"""The pages of specificity (methods 2): promptings side by side, factors, and runs compared on common pairs."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records, short_names, stored_results
from leaderboard.figures.runs import finished_runs, runs_beside
from leaderboard.figures.scores import figures
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes.breakdowns import group_href, hover_label, titled_cell
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, answer_among_options, answer_in_template
from leaderboard.probes.probe_pages import CountColumn, ProbePages
from leaderboard.probes.wording import AnswerWords, group_title, read_relations, relation_name, relation_names
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.sections import Drawing, Section, section
from leaderboard.ui.tables import Column, Table, model_column, score_cell, score_columns, source_column
from probing.analysis.breakdowns import ALL, OVERALL
from probing.analysis.specificity_metrics import NO_PREFERENCE, common_answers, common_pairs, unified_scores
from probing.benchmark import ROW_KEY
from probing.statements.prompting import PROMPTINGS

FACTORS = {"specificity": "Specificity", "naturalness": "Naturalness", "relatedness": "Relatedness"}
VANILLA = "vanilla"
CHANGE = "acc_at_10_fine_change"  # the paper prints no absolute figure
METRIC_LABELS = {
    **FACTORS,
    "acc_at_10_either": "Acc@10, either answer",
    "acc_at_10_fine": "Acc@10, fine answer",
    CHANGE: "Change of Acc@10, fine answer",
    "specificity_all_pairs": "Specificity, all pairs",
    "specificity_whole_clause": "Specificity, whole clause",
}
BY_PROMPTING = (*FACTORS, "acc_at_10_fine", CHANGE)
AT_THE_BLANK = "Log-probability at the blank. Empty where the answer is not a single token of the model's vocabulary."
ITEM_NOTE = (
    "Specific: at the blank, the finer answer is more probable than the coarser one. The specificity of the run counts "
    "the pairs that have a yes or no there: both answers are single tokens of the model's vocabulary. "
    "Specific, all pairs: the whole answers are compared, whatever their length."
)
ITEM_TITLES = {
    "answer_label": "Finer",
    "coarse_label": "Coarser",
    "correct": "Specific, all pairs",
    "fine_log_prob": "log P, finer",
    "coarse_log_prob": "log P, coarser",
}


def run_sections(run: Run) -> list[Section]:
    """Return the sections with the run beside other runs of its model, and with its factors."""
    runs = by_prompting_order(runs_beside(run))
    scores = figures(runs)
    return [by_prompting(run, runs, scores), by_factor(run, scores[run.pk])]


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return the sections on what prompting changes, and on the factors of all models by relation."""
    finished = [run for run in finished_runs(benchmark) if run.provenance != Run.Provenance.BASELINE]
    runs = by_prompting_order(finished)
    scores = figures(runs)
    prompted = [PromptedRun.of(run, settings_in_words(run), scores[run.pk]) for run in runs]
    return [*promptings_section(prompted), *factors_by_relation(benchmark, runs, scores)]


def run_answer(item: ItemRow) -> RunAnswer:
    """Return the answer to a pair; a cascade has a template of its own."""
    if item.row["prompting"] == "cascade":
        return answer_in_template(item, item.relation.cascades[item.row["template"]], WORDS)
    return answer_among_options(item, WORDS)


# The factors of a run by relation, beside other runs of its model.


PROMPTINGS_LEAD = "What a prompting does to specificity, its factors, and the ten best words."
FACTORS_LEAD = "How natural and how related each model finds the answers of each relation."
FACTORS_NOTE = (
    "Specificity: the share of pairs in which the model prefers the finer answer. "
    "Naturalness: the same share when the subject is hidden. "
    "Relatedness: the share of pairs in which the finer answer is closer to the subject."
)


class RelationLine(NamedTuple):
    """A relation, or the mean over relations, with a score per column."""

    group: str
    scores: Mapping[str, Score]


class RelationLabel(NamedTuple):
    """What pages call a relation, or the mean over relations: in words, and in the hover of a point with its id."""

    group: str
    title: str
    hover: str
    href: str

    @classmethod
    def of(cls, run: Run, relations: Mapping[str, str], group: str) -> "RelationLabel":
        if group == ALL:
            return cls(group, "mean", "mean", run.get_absolute_url())
        title = group_title("relation", group, relations)
        return cls(group, title, hover_label(group, title), group_href(run, "relation", group))


ScoresByGroup = Mapping[tuple[str, str], Score]  # by metric and group


def by_prompting(run: Run, runs: Sequence[Run], scores: Mapping[int, ScoresByGroup]) -> Section:
    """Return the section with specificity by relation, one column per run of the run's model."""
    titles = labels.distinct({run.pk: label_of(run) for run in runs})
    columns = {title: scores[pk] for pk, title in titles.items()}

    def line(group: str) -> RelationLine:
        key = ("specificity", group)
        return RelationLine(group, {title: by_group[key] for title, by_group in columns.items() if key in by_group})

    lines = [line(group) for group in _groups(list(columns.values()))]
    return _relations_section(run, "promptings", "Specificity by prompting", {title: title for title in columns}, lines)


def _groups(scores: Sequence[ScoresByGroup], metric: str = "specificity") -> list[str]:
    """Return the relations in stored order, then their mean."""
    relations = dict.fromkeys(
        group for by_group in scores for name, group in by_group if name == metric and group != ALL
    )
    return [*relations, ALL]


def by_factor(run: Run, scores: ScoresByGroup) -> Section:
    """Return the section with specificity, naturalness and relatedness by relation."""
    titles = {metric: title for metric, title in FACTORS.items() if (metric, ALL) in scores}
    lines = [
        RelationLine(group, {metric: scores[metric, group] for metric in titles if (metric, group) in scores})
        for group in _groups([scores])
    ]
    return _relations_section(run, "factors", "Factors", titles, lines, FACTORS_NOTE)


def _relations_section(
    run: Run, name: str, title: str, titles: Mapping[str, str], lines: Sequence[RelationLine], note: str = ""
) -> Section:
    """Return a section with a column and a series of dots for each of the titles."""
    relations = relation_names(run)
    groups = [RelationLabel.of(run, relations, line.group) for line in lines]
    by_group = {label.group: label for label in groups}

    def relation(line: RelationLine) -> cells.Cell:
        label = by_group[line.group]
        return titled_cell(_group_name(line.group), label.title, label.href)

    columns: list[Column[RelationLine]] = [Column("relation", "Relation", relation, align="head")]
    for key, heading in titles.items():
        columns += [*score_columns(key, heading, _score_of(key)), _number_column(key, "Pairs")]
    points = [
        _point(by_group[line.group], line.scores[key], heading)
        for key, heading in titles.items()
        for line in lines
        if key in line.scores
    ]
    table = Table(name=name, caption=title, columns=columns, rows=lines, sortable=False)
    summary = "; ".join(f"{heading}: {_mean(points, heading)}" for heading in titles.values())
    names = {label.hover: label.title for label in groups}
    chance = dict.fromkeys(names, NO_PREFERENCE)
    figure = charts.beside(points, dict.fromkeys(names, ""), "share of pairs", names, chance=chance)
    return section(table, (f"Means: {summary}.", figure), note)


def _score_of(key: str) -> Callable[[Any], Score | None]:
    """Return the function that gives the score of a row under a metric, or under what else its scores are sorted by."""
    return lambda row: row.scores.get(key)


def _number_column(key: str, title: str, *, shown: bool = True) -> Column[Any]:
    """Return the column with the number of pairs that a score counts."""
    score = _score_of(key)
    return Column(
        f"{key}_n", title, lambda row: cells.items(getattr(score(row), "n", None)), align="number", shown=shown
    )


def _group_name(group: str) -> str:
    return "mean" if group == ALL else group


def _point(label: RelationLabel, score: Score, heading: str) -> Point:
    value = np.nan if score.value is None else score.value
    return Point(label.hover, value, score.low, score.high, group=heading, href=label.href)


def _mean(points: Sequence[Point], heading: str) -> str:
    value = next((point.value for point in points if (point.label, point.group) == ("mean", heading)), np.nan)
    return "not measured" if np.isnan(value) else f"{value:.3f}"


# What prompting changes, in the means over relations of runs that differ in nothing else.


PROMPTINGS_NOTE = (
    "Means over relations. The runs of a model differ in nothing but the prompting. Naturalness is the same share with "
    "the subject hidden: where a prompting raises both alike, its wording makes finer answers more probable, whatever "
    "the subject."
)


@dataclass(frozen=True)
class PromptedRun:
    """A run with its scores over all relations by metric; `prompting` says in words how it was asked."""

    run: Run
    prompting: str
    scores: Mapping[str, Score]

    @classmethod
    def of(cls, run: Run, prompting: str, scores: Mapping[tuple[str, str], Score]) -> "PromptedRun":
        """Keep the scores over all relations from those by metric and group."""
        return cls(run, prompting, {metric: score for (metric, group), score in scores.items() if group == ALL})


def promptings_section(rows: Sequence[PromptedRun]) -> list[Section]:
    """Return the section on models that were asked by several promptings, nothing where there are none."""
    groups: dict[tuple[Any, ...], list[PromptedRun]] = defaultdict(list)
    for row in rows:
        groups[comparable_settings(row.run)].append(row)
    shown = [row for group in groups.values() if len({row.prompting for row in group}) > 1 for row in group]
    if not shown:
        return []
    metrics = {name: METRIC_LABELS[name] for name in BY_PROMPTING if any(name in row.scores for row in shown)}
    return [
        replace(
            section(_promptings_table(shown, metrics), _promptings_drawing(shown), PROMPTINGS_NOTE),
            lead=PROMPTINGS_LEAD,
        )
    ]


def _promptings_table(rows: Sequence[PromptedRun], metrics: Mapping[str, str]) -> Table[PromptedRun]:
    columns: list[Column[PromptedRun]] = [
        model_column(lambda row: row.run),
        Column("prompting", "Prompting", lambda row: cells.text(row.prompting)),
        *(column for name, heading in metrics.items() for column in _prompting_columns(name, heading)),
        source_column(lambda row: row.run),
    ]
    return Table("factor_promptings", "What prompting changes", columns, rows)


def _prompting_columns(metric: str, heading: str) -> list[Column[PromptedRun]]:
    score = _score_of(metric)
    return score_columns(metric, heading, score, lambda row: score_cell(row.run, score(row)))


def _promptings_drawing(rows: Sequence[PromptedRun]) -> Drawing | None:
    points = [point for row in rows if (point := _prompting_point(row))]
    if not points:
        return None
    models = labels.number_of(len({row.run.model.hub_id for row in rows if _prompting_point(row)}), "model")
    summary = f"Specificity against naturalness of {models} by prompting; one half means no preference."
    return summary, charts.changes(points, "naturalness", "specificity", neutral=NO_PREFERENCE)


def _prompting_point(row: PromptedRun) -> Point | None:
    """Return the point of a run that has both figures; published ones are groups of their own."""
    specificity, naturalness = (row.scores.get(name) for name in ("specificity", "naturalness"))
    if not specificity or not naturalness or specificity.value is None or naturalness.value is None:
        return None
    group = f"{row.prompting}, published" if row.run.is_published else row.prompting
    address = row.run.get_absolute_url()
    return Point(row.run.name, specificity.value, x=naturalness.value, group=group, href=address)


class FactorLine(NamedTuple):
    """A run with its scores in one factor by relation."""

    run: Run
    factor: str
    scores: Mapping[str, Score]


def factors_by_relation(
    benchmark: Benchmark, runs: Sequence[Run], scores: Mapping[int, ScoresByGroup]
) -> list[Section]:
    """Return the section with naturalness and relatedness by relation, for vanilla prompting (the paper's Table 5)."""
    lines = [
        FactorLine(run, factor, {group: score for (metric, group), score in scores[run.pk].items() if metric == factor})
        for run in runs
        if prompting(run) == VANILLA
        for factor in ("naturalness", "relatedness")
        if (factor, ALL) in scores[run.pk]
    ]
    if not lines:
        return []
    names = {relation.label: relation_name(relation) for relation in read_relations(benchmark)}
    columns: list[Column[FactorLine]] = [
        model_column(lambda line: line.run),
        Column("factor", "Factor", lambda line: cells.text(FACTORS[line.factor])),
        *(_group_column(group, names) for group in _groups([scores[line.run.pk] for line in lines], lines[0].factor)),
        source_column(lambda line: line.run),
    ]
    table = Table("factors_by_relation", "Naturalness and relatedness by relation", columns, lines)
    return [replace(section(table, note=FACTORS_NOTE), lead=FACTORS_LEAD)]


def _group_column(group: str, names: Mapping[str, str]) -> Column[FactorLine]:
    def cell(line: FactorLine) -> cells.Cell:
        return replace(score_cell(line.run, line.scores.get(group)), bar=None)

    title = _group_name(group) if group == ALL else group_title("relation", group, names)
    return Column(_group_name(group), title, cell, align="score")


def prompting(run: Run) -> str:
    return str(run.option("prompting", VANILLA))


def by_prompting_order(runs: Sequence[Run]) -> list[Run]:
    order: list[str] = list(PROMPTINGS)
    with_prompting = [run for run in runs if prompting(run) in order]
    return sorted(with_prompting, key=lambda run: (order.index(prompting(run)), run.provenance, run.pk))


def label_of(run: Run) -> str:
    return f"{settings_in_words(run)}, published" if run.is_published else settings_in_words(run)


def settings_in_words(run: Run) -> str:
    """Return the prompting and every other setting that is not the usual one."""
    others = [words for name, words in run.differences.items() if name != "prompting"]
    return ", ".join([prompting(run), *others])


def comparable_settings(run: Run) -> tuple[Any, ...]:
    """Return what two runs must share for their promptings to be compared."""
    others = {name: value for name, value in run.differences.items() if name not in ("prompting", "shots")}
    return run.model_id, run.provenance, *sorted(others.items())


WORDS = AnswerWords(
    right="finer",
    wrong="coarser",
    answer="Finer answer",
    one_prefers="prefers the finer answer",
    several_prefer="prefer the finer answer",
    other="prefers the coarser answer",
    more="prefers the finer answer {points} points more often than {other}",
    both_true=True,
    sure="Coarser answer, preferred most",
    sure_note=(
        "Both answers are true. The model preferred the coarser one most clearly here: the margin is the "
        "log-probability of the finer answer minus that of the coarser one, and questions are ordered by it, as a "
        "multiple of the usual margin of their wording."
    ),
    lucky="Finer answer, but only just",
    lucky_note="Finer answers with the narrowest margin for their wording.",
)


# Comparisons on what all models have in common: the pairs, and the answers that are single tokens.


COMPARED_METRICS = (*FACTORS, "acc_at_10_either", "acc_at_10_fine")
NUMBERS = {"specificity": "Pairs", "acc_at_10_fine": "Pairs of Acc@10"}  # which a page shows; the CSV has all of them
COMMON_LEAD = (
    "Acc@10 among the answers that all these models have as single tokens, beside specificity and its factors."
)
PAIR = ("answer_label", "coarse_label", "specific", "best")
PAIR_VALUES = ("rank", "natural_log_prob", "cosine")
COMMON_COLUMNS = (*ROW_KEY, *PAIR, *(f"{side}_{value}" for side in ("fine", "coarse") for value in PAIR_VALUES))


class ComparedLine(NamedTuple):
    """A run, what it is called, and its scores by metric."""

    run: Run
    name: str
    scores: dict[str, Score]


def comparison_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the section with all metrics of the runs on what their models have in common; nothing where it is none."""
    number, scores = in_common(*stored_results([run.pk for run in runs]))
    if not scores:
        return []
    rows = [ComparedLine(*line) for line in zip(runs, short_names(runs), scores, strict=True)]
    columns: list[Column[ComparedLine]] = [Column("run", "Run", lambda row: cells.text(row.name), align="head")]
    for metric in COMPARED_METRICS:
        columns += score_columns(metric, METRIC_LABELS[metric], _score_of(metric))
        columns.append(_number_column(metric, NUMBERS.get(metric, ""), shown=metric in NUMBERS))
    table = Table("common_answers", "Common pairs and answers", columns, rows, sortable=False)
    note = (
        "On the pairs whose answers are single tokens of all these models. Acc@10 does not depend on the size of a "
        f"vocabulary here: it ranks an answer among the {number:,} answers of the benchmark that all of them have, and "
        "counts the pairs whose hundred best tokens include ten of these."
    )
    return [replace(section(table, note=note, title="On common pairs and answers"), lead=COMMON_LEAD)]


@lru_cache(maxsize=8)
def in_common(*stored: tuple[int, str]) -> tuple[int, list[dict[str, Score]]]:
    """Return the number of common answers, and the overall scores of each run, of runs by `stored_results`.

    It is cached, as the folder of a result never changes.
    """
    runs = Run.objects.select_related("benchmark").in_bulk([number for number, _ in stored])
    rows = {str(number): item_rows.frame(runs[number], COMMON_COLUMNS) for number, _ in stored}
    answers = common_answers(rows)
    words = next(iter(answers.values()))
    if not words:
        return 0, []
    table = unified_scores(common_pairs(rows, words), answers).astype(object)
    scores: dict[str, dict[str, Score]] = {name: {} for name in rows}
    for values in records(table.where(table.notna(), None)):
        if values["dimension"] == OVERALL:
            result = values.pop("result")
            scores[result][values["metric"]] = Score(**values)
    return len(words), list(scores.values())


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    option_labels={"shots": "Demonstrations"},
    secondary_metrics=("acc_at_10_either", "acc_at_10_fine"),
    topic="Precision",
    asked_by="a finer and a coarser answer, both true",
    count_column=CountColumn(
        "Pairs",
        "Pairs whose two answers are single tokens of the model. A comparison of runs counts the pairs common to them.",
        "the others are not single tokens",
    ),
    item_columns=ItemColumns(
        (
            *("subject", "answer_label", "coarse_label", "prediction_label", "specific", "correct"),
            *("fine_log_prob", "coarse_log_prob"),
        ),
        titles=lambda run, values: ITEM_TITLES,
        help={"fine_log_prob": AT_THE_BLANK, "coarse_log_prob": AT_THE_BLANK},
        note=lambda run, values: ITEM_NOTE,
        yes_no={"specific": "Specific", "correct": "Specific, all pairs"},
        file_only=("scores", "exact", "best"),
    ),
    run_answer=run_answer,
    words=WORDS,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    comparison_sections=comparison_sections,
)
