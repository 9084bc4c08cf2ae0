"""/benchmarks/<slug>/relations/<relation>/: what a relation asks, and models on it; the table of all relations."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import mean
from typing import Any

from django.core.paginator import Page
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
from leaderboard.probes.benchmark_words import BASELINES
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
from leaderboard.tables import download, filled, ordered, page_of
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.cells import Cell, Dot, figure
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.tables import (
    Column,
    Table,
    score_points,
)
from probing.benchmark import Relation

CHARTED = 40  # models that a chart shows at most
FEW_OPTIONS = 12  # that the page shows without folding them
ENDS = ("low", "high", "cluster_low", "cluster_high")
COLUMNS = ("model", "settings", "value", *ENDS, "n", "provenance")


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
    models = sorted([_model_row(score) for score in scores], key=itemgetter("group"))
    rows = ordered(models, request, COLUMNS, within="group")
    page = page_of(rows, request)
    models_file = {"models": (COLUMNS, page if request.GET.get("page") else rows)}
    is_published = request.GET.get("table") in [section.name for section in published]
    if not is_published and (file := download(request, models_file)):
        return file
    title = pages.metric_label(pages.ranking_metric(benchmark))
    key, details = f"relation-{slugify(relation)}", f"benchmark version {benchmark.version[:12]}"
    reference = page_reference(request, key, f"{benchmark.title}: {context['name']}", details)
    context |= _models_context(page)
    return show(
        request, "relation.html", context, charts=models_charts(title, scores), sections=published, reference=reference
    )


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


def _model_row(score: Any) -> dict[str, Any]:
    """Return a model with its score. Runs with other than the usual settings stand below those with the usual ones."""
    run, baseline = score.run, BASELINES.get(score.run.model.hub_id)
    label = cells.PROVENANCES[run.provenance].lower()
    return {
        "score": score,
        "run": run,
        "group": f"Other settings: {run.settings_group}" if run.settings_group else "",
        "name": baseline.name if baseline else run.model.title,
        "note": f"{baseline.name} {baseline.words}." if baseline else run.model.title,
        "mark": "" if baseline else run.provenance,
        "model": run.model.title,
        "settings": labels.variant(run),
        "value": score.value,
        **{end: getattr(score, end) for end in ENDS},
        "n": score.n or None,
        "provenance": f"{label}: {run.reference}" if run.reference else label,
    }


def _models_context(page: Page[dict[str, Any]]) -> dict[str, Any]:
    """Return what the table of models needs: its rows, and the columns that they fill."""
    read_records([row["score"] for row in page])
    shown = filled(page, ("settings", "value", "n", "provenance"))
    has_bars = any(row["value"] is not None and 0 <= row["value"] <= 1 for row in page)
    return {
        "models": page,
        "page": page,
        "shown": shown,
        "columns": 1 + len(shown),
        "scale": "0 to 1" if has_bars else "",
    }


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
