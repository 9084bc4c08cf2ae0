"""The pages of multiple choice: domains with a dot for each model, and how difficult questions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from leaderboard.figures.outcomes import ALL_RIGHT, NONE_RIGHT
from leaderboard.figures.scores import DOMAIN, DotScore, StripScores
from leaderboard.models import Benchmark
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import group_title
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.dot_plots import ModelDot, Strip
from leaderboard.ui.sections import Section
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
    """Say to how many questions no answer is right, and to how many every one; nothing before a model was measured."""
    counts: list[int] = benchmark.difficulty
    if not counts:
        return []
    total, none, every = sum(counts), counts[NONE_RIGHT], counts[ALL_RIGHT]
    words = (
        f"{total:,} questions. No answer is right to {none:,} of them ({100 * none / total:.0f} %), "
        f"and every answer to {every:,} ({100 * every / total:.0f} %)."
    )
    return [Section("difficulty", "Difficulty of questions", note=f"{words} {EVERY_ANSWER}")]


# The pages of multiple choice, whose rows are what the defaults of `ProbePages` show.


PAGES = ProbePages(
    asked_by="multiple choice",
    strip_sections=strip_sections,
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
)
