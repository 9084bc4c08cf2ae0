"""/benchmarks/, /benchmarks/<slug>/ and the pages of relations: what is asked, its source, and the best results."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart
from leaderboard.display.columns import interval_columns, model_column, score_points, settings_column
from leaderboard.display.tables import Column, Table
from leaderboard.lists.runs import ANY_VERSION, CountedBenchmark, benchmarks
from leaderboard.lists.scores import Slice, best_by_group, best_scores, slice_scores
from leaderboard.lists.smallest_differences import shown_difference
from leaderboard.models import Benchmark, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.baselines import baselines_section
from leaderboard.probe_pages.published_sections import published_sections, published_tables
from leaderboard.probe_pages.ties import ties
from leaderboard.stored.benchmarks import read
from leaderboard.views.page import show, switch_links
from probing import catalog
from probing.benchmark import Item, Relation
from probing.errors import ProbingError

BEST_HELP = "The best score of a run that was measured here with the usual settings."


def benchmarks_view(request: HttpRequest) -> HttpResponseBase:
    table: Table[CountedBenchmark] = Table(
        name="benchmarks",
        caption="Benchmarks",
        columns=[
            Column("benchmark", "Benchmark", lambda b: cells.text(b.title, href=b.get_absolute_url()), align="head"),
            Column("version", "Version", lambda b: cells.text(b.version[:12])),
            Column("relations", "Relations", lambda b: cells.number(b.relations or None), align="number"),
            Column("items", "Items", lambda b: cells.number(b.items or None), align="number"),
            Column("probe", "Probe", lambda b: cells.text(b.probe.replace("_", " "))),
            Column("measured", "Measured", lambda b: cells.number(b.measured), align="number"),
            Column("published", "Published", lambda b: cells.number(b.published), align="number"),
        ],
        rows=list(benchmarks()),
        main=True,
        cards=True,
        empty="No benchmark yet. A maintainer imports one with manage.py import_benchmark.",
    )
    return show(request, "benchmarks.html", {}, [table])


def benchmark_view(request: HttpRequest, slug: str) -> HttpResponseBase:
    benchmark = get_object_or_404(benchmarks(), slug=slug)
    pages = pages_of(benchmark)
    metric = pages.main_metric(benchmark)
    context = {
        "benchmark": benchmark,
        "known_benchmark": catalog.CATALOG.get(slug),
        "versions": Benchmark.objects.filter(slug=slug).exclude(version=ANY_VERSION).order_by("-created"),
        "best": best_scores(benchmark, metric, 5),
        "metric": labels.within(pages.metric_label(metric)),
        "smallest": shown_difference(benchmark),
        "switches": switch_links(pages, request.GET),
    }
    sections = [*ties(benchmark, pages), *pages.benchmark_sections(benchmark, *pages.switched_on(request.GET))]
    sections += [*baselines_section(benchmark), *published_sections(benchmark)]
    best = best_by_group(benchmark, metric, "relation")
    tables = [relations_table(benchmark, read_relations(benchmark), best)]
    return show(request, "benchmark.html", context, tables, sections=sections)


def read_relations(benchmark: Benchmark) -> list[Relation]:
    """Return the relations of a benchmark; none where its files are not here or cannot be read."""
    try:
        return list(read(benchmark).relations) if benchmark.path else []
    except ProbingError:
        return []


def relations_table(benchmark: Benchmark, relations: list[Relation], best: dict[str, Score]) -> Table[Relation]:
    def link(relation: Relation) -> cells.Cell:
        return cells.text(relation.id, href=reverse("relation", args=[benchmark.slug, relation.id]))

    tags = dict.fromkeys(name for relation in relations for name in relation.tags)
    return Table(
        name="relations",
        caption="Relations",
        columns=[
            Column("relation", "Relation", link, align="head"),
            Column(
                "template", "Template 0", lambda r: cells.text(r.templates[0], lang=str(r.tags.get("language", "")))
            ),
            *map(_tag_column, tags),
            Column("items", "Items", lambda r: cells.number(len(r.items)), align="number"),
            Column("options", "Options", lambda r: cells.number(len(r.answer_space)), align="number"),
            Column("best", "Best", lambda r: cells.of_score(best.get(r.label)), BEST_HELP, align="score"),
            Column("best_model", "Best model", lambda r: _model_of(best.get(r.label))),
        ],
        rows=relations,
        main=True,
        cards=True,
        empty="The files of this benchmark are not on this site; only published figures are shown.",
    )


def _tag_column(name: str) -> Column[Relation]:
    return Column(name, labels.dimension(name), lambda relation: cells.text(_tag_text(relation.tags.get(name, ""))))


def _tag_text(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _model_of(score: Score | None) -> cells.Cell:
    return cells.text(score.run.model.hub_id, href=score.run.get_absolute_url()) if score else cells.Cell(None, "–")


def relation_view(request: HttpRequest, slug: str, relation: str) -> HttpResponseBase:
    benchmark = get_object_or_404(benchmarks(), slug=slug)
    pages = pages_of(benchmark)
    content = next((rel for rel in read_relations(benchmark) if relation in (rel.id, rel.label)), None)
    dimension, group = pages.relation_slice(content, relation)
    scores = slice_scores(benchmark, pages.main_metric(benchmark), dimension, group)
    published = published_tables(benchmark, Slice(dimension, group))
    if not content and not scores and not published:
        raise Http404(f"{benchmark.title} has no relation {relation!r}.")
    context = {"benchmark": benchmark, "relation": content, "id": relation, "tags": _tags(content)}
    tables: list[Table[Any]] = [models_table(scores), *published, *([items_table(content)] if content else [])]
    title = pages.metric_label(pages.main_metric(benchmark))
    return show(request, "relation.html", context, tables, [models_chart(title, scores)])


def _tags(relation: Relation | None) -> list[tuple[str, str]]:
    tags = relation.tags if relation else {}
    return [(labels.dimension(name), _tag_text(value)) for name, value in tags.items()]


def models_table(scores: list[Score]) -> Table[Score]:
    return Table(
        name="models",
        caption="Models on this relation, the best first",
        columns=[
            model_column(lambda s: s.run),
            settings_column(lambda s: s.run),
            Column("value", "Score", cells.of_score, align="score"),
            *interval_columns(lambda s: s),
            Column("n", "Items", lambda s: cells.items(s.n), align="number"),
            Column("provenance", "Source", lambda s: cells.text(s.run.get_provenance_display())),
        ],
        rows=scores,
        main=True,
        empty="No model has been measured on this relation yet.",
    )


def models_chart(title: str, scores: list[Score]) -> Chart:
    points = score_points((s.run.name, s) for s in scores)
    return Chart(
        "models",
        f"{title} by model",
        f"{title} of {labels.counted([s.run for s in scores if s.value is not None])}.",
        charts.dots(points, title=labels.within(title)),
    )


def items_table(relation: Relation) -> Table[Item]:
    lang = str(relation.tags.get("language", ""))

    def answer(item: Item) -> cells.Cell:
        options = relation.options_of(item)
        return cells.text("; ".join(options[answer] for answer in item.answers), lang=lang)

    sentence: Column[Item] = Column("sentence", "Sentence", lambda item: cells.text(item.wording))
    return Table(
        name="items",
        caption="Items",
        columns=[
            Column("index", "Item", lambda item: cells.number(item.index), align="number"),
            Column("subject", "Subject", lambda item: cells.text(item.subject, lang=lang), align="head"),
            Column("answer", "Answer", answer),
            *([sentence] if any(item.wording for item in relation.items) else []),
        ],
        rows=relation.items,
        page_size=50,
    )
