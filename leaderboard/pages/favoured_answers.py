"""Which answers models favour, whatever the subject: how far off they are in each relation, and one relation's options.

The page of a run and that of a comparison show both; `bias` in the address names the relation.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from django.http import HttpRequest
from django.urls import reverse

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records
from leaderboard.models import Run, Score
from leaderboard.probes.breakdowns import answer_space_titles
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.tables import FORMATS, Files, Row, page_of
from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import link
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
LEAST_QUESTIONS = 10  # of the relation that the lead names
CHARTED = 10  # options of a chart; the table has all of them
RELATIONS_ON_A_PAGE, OPTIONS_ON_A_PAGE = 5, 10
GOLD, GENERIC_SUBJECTS = "right answers", "generic subjects"
COMPARED_LEAD = "How far each model's answers are off in each relation, and the options of one relation side by side."
COMPARED_TITLES = {BIAS: "answers that the models favour", GENERIC: "answers where the subject says nothing"}
SHARES = {  # the columns of the table of options, with their titles
    "bias": "Probability",
    "low": "Least wording",
    "high": "Greatest wording",
    "gold": "Right",
    "predicted": "Predicted",
}
# The columns of the table of relations: each metric with its title.
FIGURES: Mapping[str, str] = {
    GOLD_DISTANCE: "Off the right answers",
    UNIFORM_DISTANCE: "Off uniform",
    PREDICTION_DISTANCE: "Predictions off",
    ENTROPY: "Entropy",
    GOLD_ENTROPY: "Entropy of answers",
    GENERIC_DISTANCE: "Generic, off uniform",
}


Figures = Mapping[str, Mapping[str, float | None]]  # of relations, by the columns of their table


def favoured_answers(run: Run, scores: Sequence[Score], request: HttpRequest, pair: PairInLanguage | None) -> Row:
    """Return what the page of a run shows: a lead, and what it is about to a reader who asks for it.

    There is only the lead where options have upper bounds, and nothing without scores. `pair`: the culture pair and the
    language that the relations are of.
    """
    if run.settings.get("decide"):
        return {"lead": FULL_RUN_NEEDED}
    by_relation = _by_relation(scores, pair)
    if not by_relation:
        return {}
    titles, chosen = answer_space_titles(run, by_relation), _chosen(request, by_relation)
    lead = _lead(scores, by_relation, titles)
    if NAME not in request.GET and request.GET.get("format") not in FORMATS:  # the answers are read from a file
        return {"lead": lead, "href": f"{link(request.GET, bias=chosen)}#{NAME}"}
    metrics = {metric: title for metric, title in FIGURES.items() if any(metric in of for of in by_relation.values())}
    figures = {
        name: {metric: of[metric].value if metric in of else None for metric in metrics} | {"n": of[GOLD_DISTANCE].n}
        for name, of in by_relation.items()
    }
    relations = _relations(request, "biases", titles, figures, metrics | {"n": run.benchmark.nouns.capitalize()})
    return _shown(lead, relations, [_options(request, run, chosen, titles[chosen])])


def _by_relation(scores: Iterable[Score], pair: PairInLanguage | None) -> dict[str, dict[str, Score]]:
    """Map each relation to its scores by metric, the one in which the model is furthest off first."""
    beginning = f"{pair.part.group} " if pair else ""
    figures: dict[str, dict[str, Score]] = {}
    for score in scores:
        is_of_part = score.dimension == VERSIONED and score.group.startswith(beginning)
        if score.metric in FIGURES and (is_of_part or score.dimension == "relation"):
            figures.setdefault(score.group, {})[score.metric] = score
    return dict(sorted(figures.items(), key=lambda entry: -(entry[1][GOLD_DISTANCE].value or 0)))


def _lead(scores: Iterable[Score], by_relation: Mapping[str, Mapping[str, Score]], titles: Mapping[str, str]) -> str:
    overall = next(score for score in scores if score.metric == GOLD_DISTANCE and score.dimension == "overall")
    share = f"{100 * (overall.value or 0):.0f} % of the probability"
    moved = f"{share} would have to move to match how often answers are right"
    for name, figures in by_relation.items():
        if figures[GOLD_DISTANCE].n >= LEAST_QUESTIONS:
            return f"{moved}; most in {titles[name]}, {100 * (figures[GOLD_DISTANCE].value or 0):.0f} %."
    return f"{moved}."


def _options(request: HttpRequest, run: Run, relation: str, relation_words: str) -> Row:
    stored = _rows(run, relation)
    options = answer_bias(stored).sort_values("bias", ascending=False)
    has_generic = bool(options["generic"].notna().any())
    marks = {"model": BIAS_KINDS[BIAS]} | ({GENERIC_SUBJECTS: BIAS_KINDS[GENERIC]} if has_generic else {})
    shares = SHARES | ({"generic": "Generic"} if has_generic else {})
    return _table(request, run, NAME, f"{relation_words}: favoured answers", stored, options, shares, marks)


def compared_answers(runs: Sequence[Run], request: HttpRequest) -> Row:
    """Return how far the answers of compared runs are off in each relation that all have, and the options of one.

    Nothing where a run lacks such scores. One query.
    """
    by_relation: dict[str, dict[str, float | None]] = {}
    numbers = {run.pk: f"run_{number}" for number, run in enumerate(runs, 1)}
    scores = Score.objects.filter(run__in=runs, metric=GOLD_DISTANCE, dimension__in=("relation", VERSIONED))
    for score in scores.order_by("pk"):
        by_relation.setdefault(score.group, {})[numbers[score.run_id]] = score.value
    shared = {name: figures for name, figures in by_relation.items() if len(figures) == len(runs)}
    if not shared:
        return {}
    titles, chosen = answer_space_titles(runs[0], shared), _chosen(request, shared)
    names = {numbers[run.pk]: run.name for run in runs}
    relations = _relations(request, "compared-biases", titles, shared, names)
    return _shown(COMPARED_LEAD, relations, compared_options(request, runs, chosen, titles[chosen]))


def compared_options(request: HttpRequest, runs: Sequence[Run], relation: str, relation_words: str) -> list[Row]:
    """Return the biases of compared runs in one relation, an answer space, side by side: a table of each kind.

    Nothing where a run lacks the scores of all options, and no table of generic subjects where a run was asked about
    none, or of a kind for which the runs have no options in common.
    """
    stored = {f"run_{number}": _rows(run, relation) for number, run in enumerate(runs, 1)}
    if not all(len(part) and "scores" in part and all_exact(part) for part in stored.values()):
        return []
    biases = {column: answer_bias(rows) for column, rows in stored.items()}
    names = {column: run.name for column, run in zip(stored, runs, strict=True)}
    marks = {name: (column, f"{column}_low", f"{column}_high") for column, name in names.items()}
    shares = names | {"gold": "Right"}
    tables: list[Row] = []
    for kind, words in COMPARED_TITLES.items():
        options, title = biases_beside(biases, kind), f"{relation_words}: {words}"
        if len(options):
            first = stored["run_1"]
            tables.append(_table(request, runs[0], f"compared-{kind}", title, first, options, shares, marks))
    return tables


# What a run and a comparison share: the table of relations, and that of one relation's options with its chart.


def _chosen(request: HttpRequest, relations: Mapping[str, Any]) -> str:
    """Return the relation that the query string asks for, or the first one."""
    chosen = request.GET.get(NAME, "")
    return chosen if chosen in relations else next(iter(relations))


def _relations(
    request: HttpRequest, name: str, relations: Mapping[str, str], figures: Figures, titles: Mapping[str, str]
) -> Row:
    """Return the table of relations with a column for each of the titles; each leads to the options of its relation."""
    columns = ["relation", *titles]
    rows: list[Row] = [
        {**of, "relation": group, "title": relations[group], "href": f"{link(request.GET, bias=group)}#{NAME}"}
        for group, of in figures.items()
    ]
    page = page_of(rows, request, name, RELATIONS_ON_A_PAGE)
    return {"name": name, "titles": titles, "page": page, "file": (columns, rows)}


def _table(
    request: HttpRequest,
    run: Run,
    name: str,
    title: str,
    stored: pd.DataFrame,
    options: pd.DataFrame,
    titles: Mapping[str, str],
    marks: Mapping[str, tuple[str, str, str]],
) -> Row:
    """Return the table of options with a column for each of the titles, and its chart.

    `stored`: the rows of the answer space, which has one language. `marks`: as in `_chart`.
    """
    named, columns = _named(options, run, stored), ["option", *titles]
    rows = [{**row, "option": row["label"]} for row in records(named)]
    return {
        "name": name,
        "title": title,
        "titles": titles,
        "language": str(stored["language"].iloc[0]) if "language" in stored else "",
        "chart": _chart(run, name, title, named, marks),
        "page": page_of(rows, request, name, OPTIONS_ON_A_PAGE),
        "file": (columns, rows),
    }


def _shown(lead: str, relations: Row, options: Sequence[Row]) -> Row:
    files: Files = {table["name"]: table["file"] for table in (relations, *options)}
    return {"lead": lead, "relations": relations, "options": options, "files": files}


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


def _chart(run: Run, name: str, title: str, options: pd.DataFrame, marks: Mapping[str, tuple[str, str, str]]) -> Chart:
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
    part = f" The {CHARTED} most telling options." if len(options) > CHARTED else ""
    return Chart(name, title, f"{title}: {shares} of the questions.{part}", charts.favoured(points, first["uniform"]))


def _items_with(run: Run, option: str) -> str:
    """Return the address of the run's items whose subject, answer or prediction has the text of an option."""
    return f"{reverse('items', args=[run.pk])}?{urlencode({'search': option})}"
