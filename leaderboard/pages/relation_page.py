"""/benchmarks/<slug>/relations/<relation>/: what a relation asks, and models on it; the table of all relations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import slugify

from leaderboard.figures.benchmarks import CHANCE_ID
from leaderboard.figures.questions import PAIR_TAGS, questions_url
from leaderboard.figures.runs import read_records
from leaderboard.figures.scores import DOMAIN, RELATION, DotScore, Slice, StripScores, dot_scores, slice_scores
from leaderboard.figures.standings import Leaderboard, LeaderboardFilter
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.pages.benchmark_sections import published_slice
from leaderboard.pages.rendering import page_reference, show
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import with_baseline_name
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import (
    FREE_TEXT,
    RIGHT_OR_WRONG,
    example_cell,
    example_question,
    language_of,
    read_relations,
    relation_name,
    tag_text,
    template_pieces,
)
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell, Dot, figure
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.tables import (
    PAGE_SIZE,
    Column,
    Table,
    interval_columns,
    model_column,
    score_points,
    settings_column,
    source_column,
)
from probing.benchmark import Relation

CHARTED = 40  # models that a chart shows at most
FEW_OPTIONS = 12  # that the page shows without folding them


def relation_view(request: HttpRequest, name: str, relation: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    pages = pages_of(benchmark)
    content, part, scores = on_relation(benchmark, relation)
    published = published_slice(benchmark, part)
    if not content and not scores and not published:
        raise Http404(f"{benchmark.title} has no relation {relation!r}.")
    context = {
        "benchmark": benchmark,
        "relation": content,
        "id": relation,
        "name": relation_name(content) if content else relation,
        "tags": _tags(content),
        "questions": questions_url(benchmark, content) if content else "",
        "words": pages.words,
        "example": example_question([content], pages.offers_options, in_writing=pages.question_form is FREE_TEXT)
        if content
        else None,
        "wordings": [template_pieces(template) for template in content.templates] if content else [],
        "few_options": content is not None and len(content.answer_space) <= FEW_OPTIONS,
        "one_word": not pages.offers_options,
    }
    title = pages.metric_label(pages.ranking_metric(benchmark))
    key, details = f"relation-{slugify(relation)}", f"benchmark version {benchmark.version[:12]}"
    reference = page_reference(request, key, f"{benchmark.title}: {context['name']}", details)
    table, model_charts = models_table(benchmark, scores), models_charts(title, scores)
    return show(request, "relation.html", context, [table], model_charts, published, reference=reference)


def on_relation(benchmark: Benchmark, name: str) -> tuple[Relation | None, Slice, list[Any]]:
    """Return a relation by its id or label, if the site has its questions, its part of the figures, and its scores."""
    pages = pages_of(benchmark)
    content = next((rel for rel in read_relations(benchmark) if name in (rel.id, rel.label)), None)
    part = Slice(*pages.relation_slice(content, name))
    return content, part, slice_scores(benchmark, pages.ranking_metric(benchmark), *part)


def _tags(relation: Relation | None) -> list[tuple[str, str]]:
    """Return the tags of a relation with their names; a predicate is named in the page's heading already."""
    tags = relation.tags if relation else {}
    return [(labels.dimension(name), tag_text(name, value)) for name, value in tags.items() if name != "predicate"]


def models_table(benchmark: Benchmark, scores: list[Any]) -> Table[Any]:
    groups = {score.run.pk: _heading(score.run) for score in scores}
    model = model_column(lambda s: s.run)
    return Table(
        name="models",
        caption="Models on this relation, the best first",
        columns=[
            replace(model, cell=lambda s: with_baseline_name(model.cell(s), [s.run])),
            settings_column(lambda s: s.run),
            Column("value", "Score", lambda s: cells.of_run(cells.of_score(s), s.run), align="score"),
            *interval_columns(lambda s: s),
            Column("n", benchmark.nouns.capitalize(), lambda s: cells.items(s.n), align="number"),
            source_column(lambda s: s.run),
        ],
        rows=sorted(scores, key=lambda s: groups[s.run.pk]),
        heading=lambda s: groups[s.run.pk],
        main=True,
        page_size=PAGE_SIZE,
        empty="No model has been measured on this relation yet.",
        prepare=read_records,
    )


def _heading(run: Run) -> str:
    """Return what stands above runs with other than the usual settings."""
    return f"Other settings: {run.settings_group}" if run.settings_group else ""


def models_charts(title: str, scores: list[Any]) -> list[Chart]:
    """Return the chart of the best runs with the usual settings; none where two points would not make a picture."""
    usual = [(score.run, score) for score in scores if score.value is not None and not score.run.settings_group]
    models = [(run, score) for run, score in usual if run.provenance != Run.Provenance.BASELINE]
    charted = {run.name: score for run, score in models[:CHARTED]}
    points = score_points(charted.items(), lambda name: charted[name].run.get_absolute_url())
    if len(points) < 2:
        return []
    best = f", the best {CHARTED}" if len(models) > CHARTED else ""
    baselines = {run.model.hub_id: score.value for run, score in usual if run.provenance == Run.Provenance.BASELINE}
    chance = baselines.get(CHANCE_ID)
    ticks = {point.label: chance for point in points} if chance is not None else {}
    summary = f"{title} of {labels.counted([run for run, _ in models])}{best}."
    if ticks:
        summary += " Ticks mark chance."
    return [Chart("models", f"{title} by model", summary, charts.dots(points, ticks, labels.within(title)))]


# All relations of a benchmark in rows, each with an example and a dot for each model.


HIDDEN_TAGS = (*PAIR_TAGS, "predicate", "fact_type")
RELATIONS_ON_A_PAGE = 25  # relations
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


def strip_scores(filters: LeaderboardFilter, board: Leaderboard, relations: Sequence[Relation]) -> StripScores:
    """Return the scores of runs with the usual settings in relations and domains. One query."""
    pages = pages_of(filters.benchmark)
    metric = pages.main_metric(filters.benchmark)
    dimensions = {DOMAIN, RELATION, *(pages.relation_slice(relation, relation.id)[0] for relation in relations)}
    runs = [row.run for row in board.standings if row.is_baseline or not row.group]
    return dot_scores(runs, metric, dimensions)


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
        page_size=RELATIONS_ON_A_PAGE,
        empty="The files of this benchmark are not on this site; only published figures are shown.",
    )


def _difficulty_title(rows: Sequence[RelationRow]) -> str:
    """Return what the dots are: shares of right answers, or the main metric where answers are not right or wrong."""
    if not rows:
        return labels.sentence(RIGHT_OR_WRONG.right)
    benchmark, pages = rows[0].benchmark, pages_of(rows[0].benchmark)
    if benchmark.correctness.column:
        return labels.sentence(pages.words.right)
    return pages.metric_label(pages.main_metric(benchmark))


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
