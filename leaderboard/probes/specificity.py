"""The pages of specificity (methods 2): promptings side by side, factors, and runs compared on common pairs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records, short_names
from leaderboard.figures.runs import runs_beside, with_printed
from leaderboard.figures.scores import figures
from leaderboard.models import Benchmark, Entry, Run, Score
from leaderboard.probes.breakdowns import group_href, hover_label
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, answer_among_options, answer_in_template
from leaderboard.probes.probe_pages import Parts, ProbePages, parts, run_columns
from leaderboard.probes.wording import AnswerWords, group_title, read_relations, relation_name, relation_names
from leaderboard.tables import Row, score_columns, values_of
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
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
TITLES = {"promptings": "Specificity by prompting", "factors": "Factors"}
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
ScoresByGroup = Mapping[tuple[str, str], Score]  # by metric and group
Titles = Sequence[tuple[str, str]]  # columns of scores with their titles
MEAN = "mean"  # what tables call the mean over relations


# A run: its specificity beside that of other runs of its model, and its factors, by relation.


def run_parts(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    runs = by_prompting_order(runs_beside(run))
    scores = figures(runs)
    names = labels.distinct({each.pk: label_of(each) for each in runs})
    factors = [(metric, title) for metric, title in FACTORS.items() if (metric, ALL) in scores[run.pk]]
    rows = {"factors": by_relation(run, {metric: _of_metric(scores[run.pk], metric) for metric, _ in factors})}
    titles = {"factors": factors, "promptings": [(name, name) for name in names.values()]}
    if len(runs) > 1:
        rows["promptings"] = by_relation(
            run, {name: _of_metric(scores[pk], "specificity") for pk, name in names.items()}
        )
    tables = {name: (("relation", *score_columns(titles[name])), rows[name]) for name in rows}
    return parts(query, tables, [_chart(name, rows[name], titles[name]) for name in rows], columns=titles)


def _of_metric(scores: ScoresByGroup, metric: str) -> dict[str, Score]:
    return {group: score for (name, group), score in scores.items() if name == metric}


def by_relation(run: Run, columns: Mapping[str, Mapping[str, Score]]) -> list[Row]:
    """Return a row for each relation, in stored order, and one for their mean; `columns`: the scores by group."""
    relations = relation_names(run)
    groups = dict.fromkeys(group for scores in columns.values() for group in scores if group != ALL)
    rows: list[Row] = [
        {
            "relation": group,
            "title": (title := group_title("relation", group, relations)),
            "hover": hover_label(group, title),
            "href": group_href(run, "relation", group),
            "scores": {name: scores.get(group) for name, scores in columns.items()},
        }
        for group in groups
    ]
    means = {name: scores.get(ALL) for name, scores in columns.items()}
    rows.append(
        {**dict.fromkeys(("relation", "title", "hover"), MEAN), "href": run.get_absolute_url(), "scores": means}
    )
    return [row | values_of(row["scores"]) for row in rows]


def _chart(name: str, rows: Sequence[Row], titles: Titles) -> Chart:
    """Return the chart with a series of dots for each of the columns."""
    points = [
        Point(row["hover"], score.value, score.low, score.high, group=title, href=row["href"])
        for key, title in titles
        for row in rows
        if (score := row["scores"][key]) and score.value is not None
    ]
    means = [f"{title}: {'not measured' if rows[-1][key] is None else f'{rows[-1][key]:.3f}'}" for key, title in titles]
    names = {row["hover"]: row["title"] for row in rows}
    chance = dict.fromkeys(names, NO_PREFERENCE)
    figure = charts.beside(points, dict.fromkeys(names, ""), "share of pairs", names, chance=chance)
    return Chart(name, TITLES[name], f"Means: {'; '.join(means)}.", figure)


# A benchmark: what prompting changes, in the means over relations of runs that differ in nothing else, and the factors
# of all models by relation, for vanilla prompting (the paper's Table 5).


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    runs = by_prompting_order(with_printed(benchmark))
    scores = figures(runs)
    prompted, factors = prompted_runs(runs, scores), factors_by_relation(runs, scores)
    metrics = [metric for metric in BY_PROMPTING if any(row["scores"][metric] for row in prompted)]
    names = {relation.label: relation_name(relation) for relation in read_relations(benchmark)}
    groups = [name for name in (factors[0]["scores"] if factors else ()) if name != MEAN]
    ends = [name for name in score_columns([(metric, "") for metric in metrics]) if not name.endswith("_n")]
    tables = {
        "factor_promptings": (("model", "prompting", *ends, "provenance"), prompted),
        "factors_by_relation": (("model", "factor", *groups, MEAN, "provenance"), factors),
    }
    return parts(
        query,
        tables,
        _promptings_chart(prompted),
        metrics=[(metric, METRIC_LABELS[metric]) for metric in metrics],
        change=CHANGE,
        groups=[*((group, group_title("relation", group, names)) for group in groups), (MEAN, MEAN)],
    )


def prompted_runs(runs: Sequence[Entry], scores: Mapping[int, ScoresByGroup]) -> list[Row]:
    """Return the runs of models that were asked by several promptings, with their scores over all relations."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for run in runs:
        groups[comparable_settings(run)].append(run)
    rows: list[Row] = [
        {
            **run_columns(run),
            "prompting": settings_in_words(run),
            "scores": {metric: scores[run.pk].get((metric, ALL)) for metric in BY_PROMPTING},
        }
        for group in groups.values()
        if len({settings_in_words(run) for run in group}) > 1
        for run in group
    ]
    return [row | values_of(row["scores"]) for row in rows]


def _promptings_chart(rows: Sequence[Row]) -> list[Chart]:
    """Return specificity against naturalness of the runs that have both; published ones are groups of their own."""
    drawn = [row for row in rows if row["specificity"] is not None and row["naturalness"] is not None]
    if not drawn:
        return []
    points = [
        Point(
            row["run"].name,
            row["specificity"],
            x=row["naturalness"],
            group=f"{row['prompting']}, published" if row["run"].is_published else row["prompting"],
            href=row["run"].get_absolute_url(),
        )
        for row in drawn
    ]
    models = labels.number_of(len({row["run"].model.hub_id for row in drawn}), "model")
    words = f"Specificity against naturalness of {models} by prompting; one half means no preference."
    figure = charts.changes(points, "naturalness", "specificity", neutral=NO_PREFERENCE)
    return [Chart("factor_promptings", "What prompting changes", words, figure)]


def factors_by_relation(runs: Sequence[Entry], scores: Mapping[int, ScoresByGroup]) -> list[Row]:
    """Return naturalness and relatedness of each run with vanilla prompting, by relation."""
    lines = [
        (run, factor, _of_metric(scores[run.pk], factor))
        for run in runs
        if prompting(run) == VANILLA
        for factor in ("naturalness", "relatedness")
        if (factor, ALL) in scores[run.pk]
    ]
    groups = dict.fromkeys(group for _, _, by_group in lines for group in by_group if group != ALL)
    rows = []
    for run, factor, by_group in lines:
        of_groups = {**{group: by_group.get(group) for group in groups}, MEAN: by_group[ALL]}
        values = {group: score and score.value for group, score in of_groups.items()}
        rows.append({**run_columns(run), "factor": FACTORS[factor], "scores": of_groups, **values})
    return rows


def prompting(run: Entry) -> str:
    return str(run.option("prompting", VANILLA))


def by_prompting_order(runs: Sequence[Entry]) -> list[Entry]:
    order: list[str] = list(PROMPTINGS)
    with_prompting = [run for run in runs if prompting(run) in order]
    return sorted(with_prompting, key=lambda run: (order.index(prompting(run)), run.provenance, abs(run.pk)))


def label_of(run: Entry) -> str:
    return f"{settings_in_words(run)}, published" if run.is_published else settings_in_words(run)


def settings_in_words(run: Entry) -> str:
    """Return the prompting and every other setting that is not the usual one."""
    others = [words for name, words in run.differences.items() if name != "prompting"]
    return ", ".join([prompting(run), *others])


def comparable_settings(run: Entry) -> tuple[Any, ...]:
    """Return what two runs must share for their promptings to be compared."""
    others = {name: value for name, value in run.differences.items() if name not in ("prompting", "shots")}
    return run.model_id, run.provenance, *sorted(others.items())


# A comparison: on what all models have in common, the pairs and the answers that are single tokens.


COMPARED_METRICS = (*FACTORS, "acc_at_10_either", "acc_at_10_fine")
PAIR = ("answer_label", "coarse_label", "specific", "best")
PAIR_VALUES = ("rank", "natural_log_prob", "cosine")
COMMON_COLUMNS = (*ROW_KEY, *PAIR, *(f"{side}_{value}" for side in ("fine", "coarse") for value in PAIR_VALUES))


def comparison_parts(runs: Sequence[Run], query: QueryDict, pair: PairInLanguage | None) -> Parts:
    number, scores = in_common(runs)
    titles = [(metric, METRIC_LABELS[metric]) for metric in COMPARED_METRICS]
    by_name = zip(short_names(runs), scores, strict=False)
    compared = [(name, {metric: of_run.get(metric) for metric in COMPARED_METRICS}) for name, of_run in by_name]
    rows = [{"run": name, "scores": of_run, **values_of(of_run)} for name, of_run in compared]
    tables = {"common_answers": (("run", *score_columns(titles)), rows)}
    return parts(query, tables, metrics=titles, number=number)


def in_common(runs: Sequence[Run]) -> tuple[int, list[dict[str, Score]]]:
    """Return the number of common answers, and the overall scores of each run by metric; nothing in common: none."""
    rows = {str(run.pk): item_rows.frame(run, COMMON_COLUMNS) for run in runs}
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


# Single items.


WORDS = AnswerWords(
    right="finer",
    wrong="coarser",
    answer="Finer answer",
    one_prefers="prefers the finer answer",
    several_prefer="prefer the finer answer",
    other="prefers the coarser answer",
    both_true=True,
    sure="Coarser answer, preferred most",
    sure_note=(
        "Both answers are true. The model preferred the coarser one most clearly here: the margin is the "
        "log-probability of the finer answer minus that of the coarser one, and questions are ordered by it, as a "
        "multiple of the usual margin of their wording."
    ),
)


def run_answer(item: ItemRow) -> RunAnswer:
    """Return the answer to a pair; a cascade has a template of its own."""
    if item.row["prompting"] == "cascade":
        return answer_in_template(item, item.relation.cascades[item.row["template"]], WORDS)
    return answer_among_options(item, WORDS)


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    option_labels={"shots": "Demonstrations"},
    secondary_metrics=("acc_at_10_either", "acc_at_10_fine"),
    topic="Precision",
    asked_by="a finer and a coarser answer, both true",
    count_title="Pairs",
    not_counted="the others are not single tokens",
    item_columns=ItemColumns(
        (
            *("subject", "answer_label", "coarse_label", "prediction_label", "specific", "correct"),
            *("fine_log_prob", "coarse_log_prob"),
        ),
        titles=lambda run, values: ITEM_TITLES,
        help={"fine_log_prob": AT_THE_BLANK, "coarse_log_prob": AT_THE_BLANK},
        note=lambda run, values: ITEM_NOTE,
        yes_no={"specific": "Specific", "correct": "Specific, all pairs"},
        file_only=("scores", "exact", "best", "prompt"),
    ),
    run_answer=run_answer,
    words=WORDS,
    template="probes/specificity.html",
    run_parts=run_parts,
    benchmark_parts=benchmark_parts,
    comparison_parts=comparison_parts,
)
