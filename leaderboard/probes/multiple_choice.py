"""The pages of multiple choice: domains with a dot for each model, and how difficult questions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.figures.outcomes import ALL_RIGHT, NONE_RIGHT, DifficultyClass, difficulty_classes
from leaderboard.figures.questions import EASIEST, HARDEST
from leaderboard.figures.scores import DOMAIN, DotScore, StripScores
from leaderboard.models import Benchmark
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import group_title
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.dot_plots import ModelDot, Strip
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table

CAPTION = "Accuracy by domain"
SELECTION = "Some of the models are drawn, from the best to the worst in even steps."
EVERY_ANSWER = "Right answers are counted over all models that were measured here and all their wordings."
MEDIAN_HELP = "Half of the models drawn are above this value, and half of them below."


@dataclass(frozen=True)
class GroupRow:
    """A domain with the scores of the drawn models, the lowest first."""

    name: str
    title: str
    scores: Sequence[DotScore]
    chance: float | None

    @property
    def median(self) -> float:
        return median(score.value for score in self.scores)


def strip_sections(benchmark: Benchmark, strips: StripScores) -> list[Section]:
    """Return the sections of a benchmark; those without any figure are left out."""
    return [*_domains_section(strips), *_difficulty_section(benchmark)]


def _domains_section(strips: StripScores) -> list[Section]:
    """Return a row per domain with a dot per model; nothing where there is one domain only, as it has all items."""
    rows = [
        GroupRow(part.group, group_title(DOMAIN, part.group, {}), scores, strips.chance.get(part))
        for part, scores in strips.models.items()
        if part.dimension == DOMAIN
    ]
    if len(rows) < 2:
        return []
    rows.sort(key=lambda row: -row.median)
    dots = [Strip(row.title, [_dot(score) for score in row.scores], row.median, row.chance) for row in rows]
    high, low = (f"{row.median:.3f} ({row.title})" for row in (rows[0], rows[-1]))
    models = labels.number_of(len({score.run.pk for row in rows for score in row.scores}), "model")
    words = f"{CAPTION}, {models}: medians from {low} to {high}."
    chart = Chart("domains", CAPTION, words, charts.strips(dots, "accuracy"))
    return [Section("domains", "By domain", _domains_table(rows), chart, "" if strips.are_all else SELECTION)]


def _dot(score: DotScore) -> ModelDot:
    run = score.run
    return ModelDot(run.model.hub_id, score.value, run.is_published, run.get_absolute_url(), run.model.kind)


def _domains_table(rows: Sequence[GroupRow]) -> Table[GroupRow]:
    """Return the table of the domains; its CSV has every dot of the chart, in a column for each run."""
    return Table(
        name="domains",
        caption=f"{CAPTION}, over models",
        columns=[
            Column("group", "Group", lambda row: cells.Cell(row.name, row.title), align="head"),
            Column(
                "median", "Median", lambda row: cells.score(row.median, chance=row.chance), MEDIAN_HELP, align="score"
            ),
            Column("lowest", "Lowest", lambda row: cells.number(row.scores[0].value), align="number"),
            Column("highest", "Highest", lambda row: cells.number(row.scores[-1].value), align="number"),
            Column("best", "Best model", lambda row: _model_cell(row.scores[-1])),
            Column("chance", "Chance", lambda row: cells.number(row.chance), align="number"),
            *map(_run_column, sorted({score.run.pk for row in rows for score in row.scores})),
        ],
        rows=rows,
    )


def _model_cell(score: DotScore) -> cells.Cell:
    return cells.text(score.run.model.hub_id, score.run.get_absolute_url())


def _run_column(run: int) -> Column[GroupRow]:
    """Return the column of the CSV with the scores of one of the drawn models, by the number of its run."""

    def cell(row: GroupRow) -> cells.Cell:
        return cells.number(next((score.value for score in row.scores if score.run.pk == run), None))

    return Column(f"run_{run}", "", cell, shown=False)


def _difficulty_section(benchmark: Benchmark) -> list[Section]:
    """Return how many questions have which share of right answers; nothing before any model was measured."""
    classes = difficulty_classes(benchmark)
    if not classes:
        return []
    total = sum(part.questions for part in classes)
    none, every = classes[NONE_RIGHT].questions, classes[ALL_RIGHT].questions
    words = (
        f"{total:,} questions. No answer is right to {none:,} of them ({100 * none / total:.0f} %), "
        f"and every answer to {every:,} ({100 * every / total:.0f} %)."
    )
    table = Table(
        name="difficulty",
        caption="Questions by their share of right answers",
        columns=[
            Column("share", "Right answers", lambda part: _class_cell(benchmark, part), align="head"),
            Column("questions", "Questions", lambda part: cells.number(part.questions), align="number"),
            Column("of", "Share", lambda part: cells.share(part.questions / total), align="score"),
        ],
        rows=classes,
        sortable=False,
    )
    return [section(table, note=f"{words} {EVERY_ANSWER}", title="Difficulty of questions")]


def _class_cell(benchmark: Benchmark, part: DifficultyClass) -> cells.Cell:
    """Name a class; the two outermost lead to the questions in the order that begins with them."""
    order = {NONE_RIGHT: HARDEST, ALL_RIGHT: EASIEST}.get(part.number) if part.questions else None
    href = f"{reverse('questions', args=[benchmark.slug])}?{urlencode({'order': order})}" if order else ""
    return cells.text(labels.sentence(part.in_words), href)


# The pages of multiple choice, whose rows are what the defaults of `ProbePages` show.


PAGES = ProbePages(
    asked_by="multiple choice",
    strip_sections=strip_sections,
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
)
