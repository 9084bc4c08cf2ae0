"""/benchmarks/ and /benchmarks/<slug>/ : what is asked, where it comes from, and what came out."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from leaderboard import probe_pages
from leaderboard.display import cells, charts, labels
from leaderboard.display.breakdowns import bounds, settings_column
from leaderboard.display.charts import Chart, Point
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Score
from leaderboard.stored import benchmarks
from leaderboard.views.page import show
from probing import catalog
from probing.benchmark import Item, Relation
from probing.errors import ProbingError


def benchmarks_view(request: HttpRequest) -> HttpResponseBase:
    table: Table[Benchmark] = Table(
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
        rows=list(queries.benchmarks()),
        main=True,
        cards=True,
        empty="No benchmark yet. A maintainer imports one with manage.py import_benchmark.",
    )
    return show(request, "benchmarks.html", {}, [table])


def benchmark_view(request: HttpRequest, slug: str) -> HttpResponseBase:
    benchmark = get_object_or_404(queries.benchmarks(), slug=slug)
    relations = read_relations(benchmark)
    context = {
        "benchmark": benchmark,
        "entry": catalog.CATALOG.get(slug),
        "versions": Benchmark.objects.filter(slug=slug).exclude(version=queries.ANY_VERSION).order_by("-created"),
        "best": queries.best_runs(benchmark, 5),
        "headline": labels.metric(queries.headline(benchmark)),
        "switches": probe_pages.switches(benchmark, request.GET),
    }
    best = queries.best_by_group(benchmark, "relation")
    shown = context["sections"] = probe_pages.of_benchmark(benchmark, request.GET)
    tables = [relations_table(benchmark, relations, best), *(section.table for section in shown if section.table)]
    return show(request, "benchmark.html", context, tables, [section.chart for section in shown if section.chart])


def read_relations(benchmark: Benchmark) -> list[Relation]:
    """The relations of a benchmark; none where its files are not here or cannot be read."""
    try:
        return list(benchmarks.read(benchmark).relations) if benchmark.path else []
    except ProbingError:
        return []


def relations_table(benchmark: Benchmark, relations: list[Relation], best: dict[str, Score]) -> Table[Relation]:
    def tag(name: str, relation: Relation) -> cells.Cell:
        value = relation.tags.get(name, "")
        return cells.text(value if isinstance(value, str) else ", ".join(value))

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
            *(Column(name, labels.dimension(name), lambda r, name=name: tag(name, r)) for name in tags),
            Column("items", "Items", lambda r: cells.number(len(r.items)), align="number"),
            Column("options", "Options", lambda r: cells.number(len(r.answer_space)), align="number"),
            Column(
                "best", "Best", lambda r: cells.of_score(best.get(r.label)), "Of those measured here.", align="score"
            ),
            Column("best_model", "Best model", lambda r: _run(best.get(r.label))),
        ],
        rows=relations,
        main=True,
        cards=True,
        empty="The files of this benchmark are not on this site; only published figures are shown.",
    )


def _run(score: Score | None) -> cells.Cell:
    return cells.text(score.run.model.hub_id, href=score.run.get_absolute_url()) if score else cells.Cell(None, "–")


def relation_view(request: HttpRequest, slug: str, relation: str) -> HttpResponseBase:
    benchmark = get_object_or_404(queries.benchmarks(), slug=slug)
    found = next((each for each in read_relations(benchmark) if relation in (each.id, each.label)), None)
    scores = queries.slice_scores(benchmark, *_slice(found, relation))
    if not found and not scores:
        raise Http404(f"{benchmark.title} has no relation {relation!r}.")
    context = {"benchmark": benchmark, "relation": found, "id": relation, "tags": _tags(found)}
    tables = [models_table(scores), *([items_table(found)] if found else [])]
    return show(request, "relation.html", context, tables, [models_chart(benchmark, scores)])


def _slice(found: Relation | None, asked: str) -> tuple[str, str]:
    """The dimension and group of a relation's scores; one version of a predicate has its own (methods 4)."""
    if found and asked == found.id != found.label:
        tags = " ".join(str(found.tags[name]) for name in ("culture_pair", "language"))
        return "culture_pair_language_relation", f"{tags} {found.label}"
    return "relation", found.label if found else asked


def _tags(relation: Relation | None) -> list[tuple[str, str]]:
    tags = relation.tags if relation else {}
    return [
        (labels.dimension(name), value if isinstance(value, str) else ", ".join(value)) for name, value in tags.items()
    ]


def models_table(scores: list[Score]) -> Table[Score]:
    return Table(
        name="models",
        caption="Models on this relation, best first",
        columns=[
            Column(
                "model", "Model", lambda s: cells.text(s.run.model.hub_id, href=s.run.get_absolute_url()), align="head"
            ),
            *settings_column(scores, lambda s: s.run),
            Column("value", "Score", cells.of_score, align="score"),
            *bounds(lambda s: s),
            Column("n", "Items", lambda s: cells.items(s.n), align="number"),
            Column("provenance", "Source", lambda s: cells.text(s.run.get_provenance_display())),
        ],
        rows=scores,
        main=True,
        empty="No model was measured on this relation yet.",
    )


def models_chart(benchmark: Benchmark, scores: list[Score]) -> Chart:
    points = [Point(s.run.name, s.value, s.low, s.high) for s in scores if s.value is not None]
    title = labels.metric(queries.headline(benchmark))
    return Chart(
        "models",
        f"{title} by model",
        f"{title} of {labels.counted([s.run for s in scores if s.value is not None])}.",
        charts.dots(points, title=labels.within(title)),
    )


def items_table(relation: Relation) -> Table[object]:
    lang = str(relation.tags.get("language", ""))

    def answer(item: Item) -> cells.Cell:
        return cells.text("; ".join(relation.answer_space[a] for a in item.answers), lang=lang)

    sentence = Column("sentence", "Sentence", lambda item: cells.text(item.wording))
    return Table(
        name="items",
        caption="Items",
        columns=[
            Column("index", "Line", lambda item: cells.number(item.index), align="number"),
            Column("subject", "Subject", lambda item: cells.text(item.subject, lang=lang), align="head"),
            Column("answer", "Answer", answer),
            *([sentence] if any(item.wording for item in relation.items) else []),
        ],
        rows=relation.items,
        page_size=50,
    )
