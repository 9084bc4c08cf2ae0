"""The fold on template sensitivity: components of variance, and the accuracy of each relation with each template."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart
from leaderboard.display.sections import Fold, Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import records
from leaderboard.lists.scores import group_url
from leaderboard.models import Run, Score
from leaderboard.probe_pages.breakdowns import answer_space_titles, hover_label, titled_cell
from leaderboard.probe_pages.details import flips
from leaderboard.probe_pages.questions_in_words import wording
from leaderboard.stored import benchmarks, item_rows
from leaderboard.stored.highlights import highlights
from leaderboard.stored.item_rows import Row
from probing.analysis.answer_spaces import VERSIONED, space_dimension
from probing.analysis.crossed import BY_CULTURE, join_group, split_group
from probing.analysis.templates import FLIPS, RANGE, VARIANCE_SHARES
from probing.benchmark import Relation
from probing.errors import ProbingError

# What each component of variance means to a reader.
MEANINGS: Mapping[str, tuple[str, str]] = {
    "relation": ("Relation", "Some relations are easier than others."),
    "item": ("Question", "Within a relation, some questions are known and some are not, however they are put."),
    "template": ("Wording", "Within a relation, some sentences do worse for all questions: a bad wording."),
    "item_template": (
        "Question × wording",
        "A question is right with one sentence and wrong with another: luck, or knowledge that is not firm.",
    ),
}
VARIANCE_NOTE = (
    "Whether an answer is right varies. The shares say how much of that variance goes back to the relation, the "
    "question, the sentence, and the question in a particular sentence. Of firm knowledge, little goes back to the "
    "last two."
)
WORDING_NOTE = (
    "Accuracy of each relation with each of its wordings; the relations whose wordings differ most come first. "
    "A field is red where the sentence does worse than the mean of its row, so a bad wording stands out. A difference "
    "of a few questions is chance."
)
FLIPS_HELP = "Share of questions whose prediction is not the same with all wordings."
Relations = Mapping[str, Relation]  # by the name of the answer space


def fold(run: Run, scores: Sequence[Score]) -> Fold | None:
    """Return the fold, or None for a run whose items were put with one template each."""
    overall = {score.metric: score for score in scores if score.dimension == "overall"}
    if FLIPS not in overall:
        return None
    changing = flips.section(run)
    sections = [*_variance_sections(overall), _wording_section(run), *([changing] if changing else [])]
    return Fold("wording", "Does the wording matter?", _lead(overall), sections)


def _lead(overall: Mapping[str, Score]) -> str:
    share = 100 * (overall[FLIPS].value or 0)
    flips = f"{share:.0f} % of the questions get another answer when the sentence is worded differently"
    if RANGE not in overall:
        return f"{flips}."
    points = 100 * (overall[RANGE].value or 0)
    return f"{flips}; the best wording is right {points:.1f} points more often than the worst."


def _variance_sections(overall: Mapping[str, Score]) -> list[Section]:
    shares = [(name, overall[metric].value or 0.0) for name, metric in VARIANCE_SHARES.items() if metric in overall]
    if not shares:
        return []
    title = "What right and wrong answers depend on"
    table = Table(
        name="variance",
        caption=title,
        columns=[
            Column("component", "Depends on", lambda row: cells.text(MEANINGS[row[0]][0]), align="head"),
            Column("share", "Share", lambda row: cells.share(row[1]), align="score"),
            Column("meaning", "In words", lambda row: cells.text(MEANINGS[row[0]][1]), align="wide"),
        ],
        rows=shares,
        sortable=False,
    )
    return [Section("variance", title, table, note=VARIANCE_NOTE)]


def _wording_section(run: Run) -> Section:
    rows = pd.DataFrame(highlights(run).wordings)
    templates = [name for name in rows.columns if name.isdigit()]
    title = "Accuracy by relation and wording"
    summary = f"{title}: {len(rows)} relations with up to {len(templates)} wordings. The table has the same figures."
    relations = rows["relation"].to_list()
    titles = answer_space_titles(run, relations)
    figure = charts.deviations(
        {hover_label(name, titles[name]): titles[name] for name in relations},
        [wording(name) for name in templates],
        _fields(rows, templates),
        [_relation_href(run, name) for name in relations],
    )
    chart = Chart("wordings", title, summary, figure)
    return Section("wordings", title, _table(run, rows, templates), chart, WORDING_NOTE)


def _fields(rows: pd.DataFrame, templates: Sequence[str]) -> list[list[float | None]]:
    return [[None if pd.isna(value) else float(value) for value in row] for row in rows[list(templates)].to_numpy()]


def _table(run: Run, rows: pd.DataFrame, templates: Sequence[str]) -> Table[Row]:
    relations = _relations(run, space_dimension(item_rows.names(run)))
    titles = answer_space_titles(run, rows["relation"])

    def name(row: Row) -> cells.Cell:
        return titled_cell(row["relation"], titles[row["relation"]], _relation_href(run, row["relation"]))

    def worst(row: Row) -> cells.Cell:
        return cells.text(_worst_wording(row, templates, relations))

    def accuracy(template: str, row: Row) -> cells.Cell:
        return cells.number(None if pd.isna(row[template]) else row[template])

    return Table(
        name="wordings",
        caption="Accuracy by relation and wording",
        columns=[
            Column("relation", "Relation", name, align="head"),
            *(Column(f"template_{t}", wording(t), partial(accuracy, t), align="number") for t in templates),
            Column("range", "Best − worst", lambda row: cells.number(row["range"]), align="number"),
            Column("flips", "Flips", lambda row: cells.number(row["flips"]), FLIPS_HELP, align="number"),
            Column("items", "Questions", lambda row: cells.number(int(row["items"])), align="number"),
            Column("worst", "Worst wording", worst, align="wide"),
        ],
        rows=records(rows),
        page_size=20,
    )


def _relation_href(run: Run, name: str) -> str:
    """Return the address of the relation of an answer space."""
    relation = split_group(space_dimension(item_rows.names(run)), name)[-1]
    return group_url(run.benchmark, "relation", relation)


def _relations(run: Run, dimension: str) -> Relations:
    """Return the benchmark's relations by the names that their answer spaces have; none without its files."""
    try:
        content = benchmarks.read(run.benchmark).relations if run.benchmark.path else ()
    except ProbingError:
        return {}
    if dimension == "relation":
        return {relation.label: relation for relation in content}
    return {join_group(_tag_values(relation)): relation for relation in content}


def _tag_values(relation: Relation) -> list[str]:
    return [*(str(relation.tags.get(tag, "")) for tag in BY_CULTURE[VERSIONED][:-1]), relation.label]


def _worst_wording(row: Mapping[str, Any], templates: Sequence[str], relations: Relations) -> str:
    """Return the sentence of the template that is right least often; empty where the files are not here."""
    accuracies = {int(name): row[name] for name in templates if not pd.isna(row[name])}
    relation, number = relations.get(row["relation"]), min(accuracies, key=lambda name: accuracies[name])
    return relation.templates[number] if relation and number < len(relation.templates) else ""
