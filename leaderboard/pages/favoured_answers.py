"""Which answers a model favours, whatever the subject: how far off they are in each relation, and one's options.

The page of a run shows both; `bias` in the address names the relation.
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
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import group_title, relation_names
from leaderboard.tables import Files, Row, page_of
from leaderboard.ui import charts
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import link
from leaderboard.ui.table_files import wants_file
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
)
from probing.analysis.breakdowns import BY_CULTURE, split_group
from probing.analysis.option_scores import FULL_RUN_NEEDED, VERSIONED

NAME = "bias"  # of the fold, and of the parameter that chooses a relation
LEAST_QUESTIONS = 10  # of the relation that the lead names
CHARTED = 10  # options of a chart; the table has all of them
RELATIONS_ON_A_PAGE, OPTIONS_ON_A_PAGE = 5, 10
GOLD, GENERIC_SUBJECTS = "right answers", "generic subjects"
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
    titles, chosen = _titles(run, by_relation), _chosen(request, by_relation)
    lead = _lead(scores, by_relation, titles)
    if NAME not in request.GET and not wants_file(request):  # the answers are read from a file
        return {"lead": lead, "href": f"{link(request.GET, bias=chosen)}#{NAME}"}
    relations = _relations(request, run.benchmark.nouns.capitalize(), titles, by_relation)
    options = _options(request, run, chosen, titles[chosen])
    files: Files = {table["name"]: table["file"] for table in (relations, options)}
    return {"lead": lead, "relations": relations, "options": options, "files": files}


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


def _chosen(request: HttpRequest, relations: Mapping[str, Any]) -> str:
    """Return the relation that the query string asks for, or the first one."""
    chosen = request.GET.get(NAME, "")
    return chosen if chosen in relations else next(iter(relations))


def _relations(
    request: HttpRequest, nouns: str, relations: Mapping[str, str], scores: Mapping[str, Mapping[str, Score]]
) -> Row:
    """Return the table of relations with a column for each metric; each leads to the options of its relation."""
    titles = {metric: title for metric, title in FIGURES.items() if any(metric in of for of in scores.values())}
    rows: list[Row] = [
        {
            **{metric: of[metric].value if metric in of else None for metric in titles},
            "n": of[GOLD_DISTANCE].n,
            "relation": relation,
            "title": relations[relation],
            "href": f"{link(request.GET, bias=relation)}#{NAME}",
        }
        for relation, of in scores.items()
    ]
    page = page_of(rows, request, "biases", RELATIONS_ON_A_PAGE)
    titles = titles | {"n": nouns}
    return {"name": "biases", "titles": titles, "page": page, "file": (["relation", *titles], rows)}


def _options(request: HttpRequest, run: Run, relation: str, relation_words: str) -> Row:
    stored = _rows(run, relation)
    options = _named(answer_bias(stored).sort_values("bias", ascending=False), run, stored)
    has_generic = bool(options["generic"].notna().any())
    marks = {"model": BIAS_KINDS[BIAS]} | ({GENERIC_SUBJECTS: BIAS_KINDS[GENERIC]} if has_generic else {})
    titles = SHARES | ({"generic": "Generic"} if has_generic else {})
    rows = [{**row, "option": row["label"]} for row in records(options)]
    title = f"{relation_words}: favoured answers"
    return {
        "name": NAME,
        "title": title,
        "titles": titles,
        "language": str(stored["language"].iloc[0]) if "language" in stored else "",
        "chart": _chart(run, title, options, marks),
        "page": page_of(rows, request, NAME, OPTIONS_ON_A_PAGE),
        "file": (["option", *titles], rows),
    }


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


def _chart(run: Run, title: str, options: pd.DataFrame, marks: Mapping[str, tuple[str, str, str]]) -> Chart:
    """Plot the options that matter most, with a mark for each kind of subject and one for the right answers.

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
    return Chart(NAME, title, f"{title}: {shares} of the questions.{part}", charts.favoured(points, first["uniform"]))


def _items_with(run: Run, option: str) -> str:
    """Return the address of the run's items whose subject, answer or prediction has the text of an option."""
    return f"{reverse('items', args=[run.pk])}?{urlencode({'search': option})}"


def _titles(run: Run, names: Iterable[str]) -> dict[str, str]:
    """Map answer spaces to titles: relations, or on culture pairs a relation of one pair in one language."""
    relations = relation_names(run)
    dimension = VERSIONED if set(BY_CULTURE[VERSIONED]) <= set(item_rows.names(run)) else "relation"
    return {name: group_title(dimension, name, relations) for name in names}
