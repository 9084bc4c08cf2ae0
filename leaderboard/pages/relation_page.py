"""/benchmarks/<slug>/relations/<relation>/: what a relation asks, and the models on it."""

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.text import slugify

from leaderboard.figures.benchmarks import HUB_ID as CHANCE
from leaderboard.figures.questions import questions_url
from leaderboard.figures.runs import read_records
from leaderboard.figures.scores import Slice, slice_scores
from leaderboard.models import Benchmark, Run, Score
from leaderboard.models.benchmark import named
from leaderboard.pages.benchmark_sections import published_slice
from leaderboard.pages.rendering import page_reference, show
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import with_baseline_name
from leaderboard.probes.wording import (
    FREE_TEXT,
    example_question,
    read_relations,
    relation_name,
    tag_text,
    template_pieces,
)
from leaderboard.ui import cells, labels
from leaderboard.ui import charts as charts_module
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.columns import interval_columns, model_column, score_points, settings_column, source_column
from leaderboard.ui.tables import PAGE_SIZE, Column, Table
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
    charts = models_charts(title, scores)
    return show(
        request, "relation.html", context, [models_table(benchmark, scores)], charts, published, reference=reference
    )


def on_relation(benchmark: Benchmark, name: str) -> tuple[Relation | None, Slice, list[Score]]:
    """Return a relation by its id or label, if the site has its questions, its part of the figures, and its scores."""
    pages = pages_of(benchmark)
    content = next((rel for rel in read_relations(benchmark) if name in (rel.id, rel.label)), None)
    part = Slice(*pages.relation_slice(content, name))
    return content, part, slice_scores(benchmark, pages.ranking_metric(benchmark), *part)


def _tags(relation: Relation | None) -> list[tuple[str, str]]:
    """Return the tags of a relation with their names; a predicate is named in the page's heading already."""
    tags = relation.tags if relation else {}
    return [(labels.dimension(name), tag_text(name, value)) for name, value in tags.items() if name != "predicate"]


def models_table(benchmark: Benchmark, scores: list[Score]) -> Table[Score]:
    groups = {score.run_id: _heading(score.run) for score in scores}
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
        rows=sorted(scores, key=lambda s: groups[s.run_id]),
        heading=lambda s: groups[s.run_id],
        main=True,
        page_size=PAGE_SIZE,
        empty="No model has been measured on this relation yet.",
        prepare=read_records,
    )


def _heading(run: Run) -> str:
    """Return what stands above runs with other than the usual settings."""
    return f"Other settings: {run.settings_group}" if run.settings_group else ""


def models_charts(title: str, scores: list[Score]) -> list[Chart]:
    """Return the chart of the best runs with the usual settings; none where two points would not make a picture."""
    usual = [(score.run, score) for score in scores if score.value is not None and not score.run.settings_group]
    models = [(run, score) for run, score in usual if run.provenance != Run.Provenance.BASELINE]
    charted = {run.name: score for run, score in models[:CHARTED]}
    points = score_points(charted.items(), lambda name: charted[name].run.get_absolute_url())
    if len(points) < 2:
        return []
    best = f", the best {CHARTED}" if len(models) > CHARTED else ""
    baselines = {run.model.hub_id: score.value for run, score in usual if run.provenance == Run.Provenance.BASELINE}
    chance = baselines.get(CHANCE)
    ticks = {point.label: chance for point in points} if chance is not None else {}
    summary = f"{title} of {labels.counted([run for run, _ in models])}{best}."
    if ticks:
        summary += " Ticks mark chance."
    return [Chart("models", f"{title} by model", summary, charts_module.dots(points, ticks, labels.within(title)))]
