"""The relations of a benchmark as rows: an example, and how difficult they are, with one dot per model."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from django.urls import reverse

from leaderboard.figures.kept_lists import KeptLists
from leaderboard.figures.questions import PAIR_TAGS
from leaderboard.figures.scores import DOMAIN, RELATION, DotScore, Slice, StripScores, dot_scores
from leaderboard.figures.standings import Leaderboard, LeaderboardFilter, made_of_rows
from leaderboard.models import Benchmark
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import example_cell, language_of, relation_name, tag_text
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell, Dot, figure
from leaderboard.ui.tables import Column, Table
from probing.benchmark import Relation

HIDDEN_TAGS = (*PAIR_TAGS, "predicate", "fact_type")
PAGE_SIZE = 25  # relations
STRIP_HELP = "The mean of all models, and one dot per model, from 0 to 1. Filled dots were measured here."


@dataclass(frozen=True)
class RelationRow:
    """A relation with the scores of models on it, the lowest first."""

    benchmark: Benchmark
    relation: Relation
    scores: Sequence[DotScore]

    @property
    def values(self) -> list[float]:
        return [score.value for score in self.scores]

    @property
    def heading(self) -> str:
        """The culture pair and the language of its items, where it has them."""
        tags = self.relation.tags
        return ", ".join(tag_text(name, tags[name]) for name in PAIR_TAGS if name in tags)


# The scores of twenty models in eighty groups take about 0.2 MB.
_STRIPS = KeptLists[StripScores](most=4)


def strip_scores(filters: LeaderboardFilter, board: Leaderboard, relations: Sequence[Relation]) -> StripScores:
    """Return the scores of runs with the usual settings in relations and domains.

    One query where a figure of the benchmark has changed since they were read, or else none.
    """
    pages = pages_of(filters.benchmark)
    metric = pages.main_metric(filters.benchmark)
    dimensions = {DOMAIN, RELATION, *(pages.relation_slice(relation, relation.id)[0] for relation in relations)}

    def scores(board: Leaderboard) -> StripScores:
        runs = [row.run for row in board.standings if row.is_baseline or not row.group]
        return dot_scores(runs, metric, dimensions)

    return made_of_rows(_STRIPS, filters, board, scores)


def relation_rows(
    benchmark: Benchmark, relations: Sequence[Relation], pair: PairInLanguage | None, scores: StripScores
) -> list[RelationRow]:
    """Return the relations, those of the chosen pair if there is one."""
    chosen = [relation for relation in relations if pair is None or pair.has(relation)]
    slices = {relation.id: Slice(*pages_of(benchmark).relation_slice(relation, relation.id)) for relation in chosen}
    return [RelationRow(benchmark, relation, scores.models.get(slices[relation.id], [])) for relation in chosen]


def relations_table(
    benchmark: Benchmark, rows: Sequence[RelationRow], pair: PairInLanguage | None
) -> Table[RelationRow]:
    """Return the table; relations of several pairs and languages stand in groups."""
    named = [(name, str(value)) for row in rows for name, value in row.relation.tags.items() if name not in HIDDEN_TAGS]
    tags = [name for name in dict.fromkeys(name for name, _ in named) if len({v for n, v in named if n == name}) > 1]
    return Table(
        name="relations",
        caption="Relations, with an example and the answer",
        columns=[
            Column("name", "Relation", _name, align="head"),
            Column("relation", "", lambda row: cells.text(row.relation.id), shown=False),
            Column("example", "Example", lambda row: example_cell(row.relation), align="wide"),
            Column("difficulty", _difficulty_title(rows), strip, STRIP_HELP, align="score"),
            *map(_tag_column, tags),
            Column(
                "items", benchmark.nouns.capitalize(), lambda row: cells.number(len(row.relation.items)), align="number"
            ),
            Column("options", "Options", _options, "Answers to choose from.", align="number"),
            Column("best", "", lambda row: cells.number(max(row.values, default=None)), shown=False),
            Column("template", "", _template, shown=False),
        ],
        rows=rows,
        heading=lambda row: "" if pair else row.heading,
        page_size=PAGE_SIZE,
        empty="The files of this benchmark are not on this site; only published figures are shown.",
    )


def _difficulty_title(rows: Sequence[RelationRow]) -> str:
    """Return what the dots are: shares of right answers, or the main metric where answers are not right or wrong."""
    if not rows or rows[0].benchmark.correctness.column:
        return "Right"
    pages = pages_of(rows[0].benchmark)
    return pages.metric_label(pages.main_metric(rows[0].benchmark))


def strip(row: RelationRow) -> Cell:
    """Return the mean of the scores with a dot for each of them."""
    if not row.values:
        return cells.number(None)
    dots = tuple(Dot(100 * value, score.run.is_published) for score, value in zip(row.scores, row.values, strict=True))
    low, high = row.scores[0], row.scores[-1]
    note = f"From {row.values[0]:.3f} ({low.run.model.hub_id}) to {row.values[-1]:.3f} ({high.run.model.hub_id})"
    average = mean(row.values)
    return Cell(average, figure(average), note=note if len(dots) > 1 else "", kind="score", dots=dots)


def _name(row: RelationRow) -> Cell:
    href = reverse("relation", args=[row.benchmark.name, row.relation.id])
    return cells.text(relation_name(row.relation), href, row.relation.id)


def _options(row: RelationRow) -> Cell:
    return cells.number(len(row.relation.answer_space) or None)


def _template(row: RelationRow) -> Cell:
    return cells.text(row.relation.templates[0], lang=language_of(row.relation))


def _tag_column(name: str) -> Column[RelationRow]:
    def cell(row: RelationRow) -> Cell:
        return cells.text(tag_text(name, row.relation.tags.get(name, "")))

    return Column(name, labels.dimension(name), cell, align="kind")
