"""The fold on answer bias: how far each relation's answers are off, and the options of one relation."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

import pandas as pd
from django.http import QueryDict
from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.models import Run, Score
from leaderboard.probes.breakdowns import answer_space_titles, titled_cell
from leaderboard.ui import cells, charts
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.links import link
from leaderboard.ui.sections import Drawing, Fold, Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.bias import (
    BIAS,
    BIAS_KINDS,
    CHOICE_COLUMNS,
    ENTROPY,
    GENERIC,
    GENERIC_DISTANCE,
    GOLD_DISTANCE,
    GOLD_ENTROPY,
    PREDICTION_DISTANCE,
    UNIFORM_DISTANCE,
    answer_bias,
    biases_beside,
)
from probing.analysis.breakdowns import BY_CULTURE, split_group
from probing.analysis.option_scores import FULL_RUN_NEEDED, VERSIONED, all_exact

NAME = "bias"  # of the fold, and of the parameter that chooses a relation
TITLE = "Which answers does the model favour?"
COMPARED_TITLE = "Which answers do the models favour?"
COMPARED_LEAD = "How far each model's answers are off in each relation, and the options of one relation side by side."
LEAST_QUESTIONS = 10  # of the relation that the lead names
CHARTED = 20  # options of a chart; the table has all of them
RELATIONS_NOTE = (
    "The probabilities that the model gives to the options, on average over all subjects of a relation, against how "
    "often each option is right. A distance is the share of probability that would have to move. An entropy of 1 means "
    "that all options are equally likely, 0 that one has everything. Choose a relation to see its options."
)
OPTIONS_NOTE = (
    "Dots are the mean probability of an option over all subjects and wordings, bars the least and the greatest "
    "wording. The vertical line is where every option would be without any preference."
)
GOLD, GENERIC_SUBJECTS = "right answers", "generic subjects"
COMPARED_TITLES = {BIAS: "answers that the models favour", GENERIC: "answers where the subject says nothing"}
# The columns of the table of relations: each metric with its title and its tooltip.
FIGURES: Mapping[str, tuple[str, str]] = {
    GOLD_DISTANCE: ("Off the right answers", "Distance between the model's mean probabilities and the right answers."),
    UNIFORM_DISTANCE: ("Off uniform", "Distance between the model's mean probabilities and equal ones."),
    PREDICTION_DISTANCE: ("Predictions off", "Distance between the shares of predictions and the right answers."),
    ENTROPY: ("Entropy", "Entropy of the model's mean probabilities, as a share of the largest possible one."),
    GOLD_ENTROPY: ("Entropy of answers", "The same of the right answers."),
    GENERIC_DISTANCE: ("Generic, off uniform", "Distance from equal probabilities with subjects that say nothing."),
}
Figures = Mapping[str, Score]  # the scores of a relation by metric


def bias_fold(run: Run, scores: Sequence[Score], query: QueryDict) -> Fold | None:
    """Return the fold; without sections where options have upper bounds, None where the run has no such scores."""
    if run.settings.get("decide"):
        return Fold(NAME, TITLE, FULL_RUN_NEEDED)
    by_relation = _by_relation(scores)
    if not by_relation:
        return None
    chosen = query.get(NAME, "")
    relation = chosen if chosen in by_relation else next(iter(by_relation))
    titles = answer_space_titles(run, by_relation)
    sections = [_relations_section(by_relation, titles), _options_section(run, relation, titles[relation])]
    return Fold(NAME, TITLE, _lead(scores, by_relation, titles), sections)


def compared_fold(runs: Sequence[Run], query: QueryDict) -> Fold | None:
    """Return how far the answers of compared runs are off in each relation that all have, and the options of one.

    The query string names that relation as `bias`. None where a run lacks such scores. One query.
    """
    by_relation: dict[str, dict[int, Score]] = {}
    scores = Score.objects.filter(run__in=runs, metric=GOLD_DISTANCE, dimension__in=("relation", VERSIONED))
    for score in scores.order_by("pk"):
        by_relation.setdefault(score.group, {})[score.run_id] = score
    shared = {name: figures for name, figures in by_relation.items() if len(figures) == len(runs)}
    if not shared:
        return None
    chosen = query.get(NAME, "")
    relation, titles = chosen if chosen in shared else next(iter(shared)), answer_space_titles(runs[0], shared)
    options = [compared_section(runs, relation, titles[relation], kind) for kind in BIAS_KINDS]
    distances = _compared_distances(runs, shared, titles, query)
    return Fold(NAME, COMPARED_TITLE, COMPARED_LEAD, [distances, *filter(None, options)])


def _compared_distances(
    runs: Sequence[Run], shared: Mapping[str, Mapping[int, Score]], titles: Mapping[str, str], query: QueryDict
) -> Section:
    def relation(row: tuple[str, Mapping[int, Score]]) -> Cell:
        return titled_cell(row[0], titles[row[0]], f"{link(query, bias=row[0])}#section-compared-bias")

    def distance(number: int, run: Run) -> Column[tuple[str, Mapping[int, Score]]]:
        return Column(f"run_{number}", run.name, lambda row: cells.number(row[1][run.pk].value), align="number")

    columns = [Column("relation", "Relation", relation, align="head wide")]
    columns += [distance(number, run) for number, run in enumerate(runs, 1)]
    caption = "How far each model's answers are off"
    table = Table(name="compared-biases", caption=caption, columns=columns, rows=list(shared.items()), page_size=10)
    return section(table, note=RELATIONS_NOTE)


def compared_section(runs: Sequence[Run], relation: str, relation_words: str, kind: str = BIAS) -> Section | None:
    """Return the biases of compared runs in one relation, an answer space, side by side.

    `kind`: that of `biases_beside`. None where a run lacks the scores of all options or was asked about no generic
    subjects, or where the runs have no options in common.
    """
    rows = {f"run_{number}": _rows(run, relation) for number, run in enumerate(runs, 1)}
    if not all(len(part) and "scores" in part and all_exact(part) for part in rows.values()):
        return None
    table = biases_beside(rows, kind)
    if table.empty:
        return None
    table = _named(table, runs[0], next(iter(rows.values())))
    names = {name: run.name for name, run in zip(rows, runs, strict=True)}
    title = f"{relation_words}: {COMPARED_TITLES[kind]}"
    columns: list[Column[Row]] = [
        _option_column(next(iter(rows.values()))),
        *(_share_column(name, model) for name, model in names.items()),
        _share_column("gold", "Right"),
    ]
    marks = {model: (name, f"{name}_low", f"{name}_high") for name, model in names.items()}
    options = Table(name=f"compared-{kind}", caption=title, columns=columns, rows=records(table), page_size=20)
    return section(options, _drawing(runs[0], title, table, marks), OPTIONS_NOTE)


def _by_relation(scores: Sequence[Score]) -> dict[str, Figures]:
    """Map each relation to its scores, the one in which the model is furthest off first."""
    figures: dict[str, dict[str, Score]] = {}
    for score in scores:
        if score.metric in FIGURES and score.dimension in ("relation", VERSIONED):
            figures.setdefault(score.group, {})[score.metric] = score
    return dict(sorted(figures.items(), key=lambda entry: -(entry[1][GOLD_DISTANCE].value or 0)))


def _lead(scores: Sequence[Score], by_relation: Mapping[str, Figures], titles: Mapping[str, str]) -> str:
    overall = next(score for score in scores if score.metric == GOLD_DISTANCE and score.dimension == "overall")
    share = 100 * (overall.value or 0)
    moved = f"{share:.0f} % of the probability would have to move to match how often answers are right"
    distances = {name: figures[GOLD_DISTANCE] for name, figures in by_relation.items()}
    many = [name for name, score in distances.items() if score.n >= LEAST_QUESTIONS]
    if not many:
        return f"{moved}."
    return f"{moved}; most in {titles[many[0]]}, {100 * (distances[many[0]].value or 0):.0f} %."


def _relations_section(by_relation: Mapping[str, Figures], titles: Mapping[str, str]) -> Section:
    metrics = [metric for metric in FIGURES if any(metric in figures for figures in by_relation.values())]

    def relation(row: tuple[str, Figures]) -> Cell:
        return titled_cell(row[0], titles[row[0]], f"?{NAME}={quote(row[0])}#{NAME}")

    table = Table(
        name="biases",
        caption="How far the answers of each relation are off",
        columns=[
            Column("relation", "Relation", relation, align="head"),
            *map(_figure_column, metrics),
            Column("n", "Questions", lambda row: cells.items(row[1][GOLD_DISTANCE].n), align="number"),
        ],
        rows=list(by_relation.items()),
        page_size=10,
    )
    return section(table, note=RELATIONS_NOTE)


def _figure_column(metric: str) -> Column[tuple[str, Figures]]:
    def cell(row: tuple[str, Figures]) -> Cell:
        return cells.number(row[1][metric].value if metric in row[1] else None)

    title, help_text = FIGURES[metric]
    return Column(metric, title, cell, help_text, align="number")


def _options_section(run: Run, relation: str, relation_words: str) -> Section:
    rows = _rows(run, relation)
    options = _named(answer_bias(rows), run, rows)
    title = f"{relation_words}: favoured answers"
    has_generic = bool(options["generic"].notna().any())
    columns: list[Column[Row]] = [
        _option_column(rows),
        _share_column("bias", "Probability"),
        Column("low", "Least wording", lambda row: cells.bound(row["low"]), align="number bound"),
        Column("high", "Greatest wording", lambda row: cells.bound(row["high"]), align="number bound"),
        _share_column("gold", "Right"),
        _share_column("predicted", "Predicted"),
        *([_share_column("generic", "Generic")] if has_generic else []),
    ]
    marks = {"model": BIAS_KINDS[BIAS]}
    marks |= {GENERIC_SUBJECTS: BIAS_KINDS[GENERIC]} if has_generic else {}
    favoured_first = records(options.sort_values("bias", ascending=False))
    table = Table(name=NAME, caption=title, columns=columns, rows=favoured_first, page_size=20)
    return section(table, _drawing(run, title, options, marks), OPTIONS_NOTE)


def _rows(run: Run, relation: str) -> pd.DataFrame:
    """Return the rows of one answer space with the columns that biases need."""
    tags = BY_CULTURE[VERSIONED]
    if not set(tags) <= set(item_rows.names(run)):
        return item_rows.frame(run, CHOICE_COLUMNS, relation)
    values = dict(zip(tags, split_group(VERSIONED, relation), strict=True))
    rows = item_rows.frame(run, [*CHOICE_COLUMNS, *tags], values["relation"])
    return rows[(rows[list(values)] == pd.Series(values)).all(axis=1)]


def _named(options: pd.DataFrame, run: Run, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the options of one answer space with the stored names, also of those that no row predicts or has right."""
    first = rows.iloc[0]
    names = item_rows.option_names(run, first["relation"], int(first["index"]))
    return options.assign(label=[names[number] for number in options["option"]]) if names else options


def _option_column(rows: pd.DataFrame) -> Column[Row]:
    """Return the column with the labels of options, in the language in which the rows of an answer space are asked."""
    lang = str(rows["language"].iloc[0]) if "language" in rows else ""
    return Column("option", "Option", lambda row: cells.text(row["label"], lang=lang), align="head")


def _share_column(name: str, title: str) -> Column[Row]:
    return Column(name, title, lambda row: cells.number(row[name]), align="number")


def _drawing(run: Run, title: str, options: pd.DataFrame, marks: Mapping[str, tuple[str, str, str]]) -> Drawing:
    """Plot the options that matter most, with one mark for each model and one for the right answers.

    `marks`: the columns with value, least and greatest template, by the name of the mark. Points lead to the run's
    items with the option.
    """
    values = [value for value, _, _ in marks.values()]
    largest = options[[*values, "gold"]].max(axis=1).nlargest(CHARTED).index
    rows = records(options.loc[largest].sort_values(values[0], ascending=False))
    points = [
        Point(row["label"], row[value], row[low], row[high], group=mark, href=_items_with(run, row["label"]))
        for mark, (value, low, high) in marks.items()
        for row in rows
    ]
    points += [Point(row["label"], row["gold"], group=GOLD, href=_items_with(run, row["label"])) for row in rows]
    first = rows[0]
    shares = (
        f"the most favoured option has {first[values[0]]:.2f} of the probability and is right for {first['gold']:.2f}"
    )
    summary = f"{title}: {shares} of the questions." + (
        f" The {CHARTED} most telling options." if len(options) > CHARTED else ""
    )
    return summary, charts.favoured(points, first["uniform"])


def _items_with(run: Run, option: str) -> str:
    """Return the address of the run's items whose subject, answer or prediction has the text of an option."""
    return f"{reverse('items', args=[run.pk])}?{urlencode({'search': option})}"
