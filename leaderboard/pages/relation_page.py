"""/benchmarks/<slug>/relations/<relation>/: what a relation asks, and models on it; the table of all relations."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify

from leaderboard.figures.questions import questions_url
from leaderboard.figures.runs import read_records, runs_on
from leaderboard.figures.scores import Slice, chance_of, slice_scores
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.models.run import run_url
from leaderboard.pages.benchmark_sections import published_table
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.probes import pages_of
from leaderboard.probes.wording import (
    FREE_TEXT,
    example_questions,
    read_relations,
    relation_name,
    tag_text,
    template_pieces,
)
from leaderboard.tables import ENDS, Files, download, filled, ordered, page_of, sorting
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, score_points
from leaderboard.ui.table_files import wants_file
from probing.benchmark import Relation

CHARTED = 40  # models that a chart shows at most
FEW_OPTIONS = 12  # that the page shows without folding them
COLUMNS = ("model", "settings", "value", *ENDS, "n", "provenance")


def relation_view(request: HttpRequest, name: str, relation: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    pages = pages_of(benchmark)
    content, part, scores = on_relation(benchmark, relation)
    published = published_table(request, benchmark, part)
    if not content and not scores and not published:
        raise Http404(f"{benchmark.title} has no relation {relation!r}.")
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "relation": content,
        "id": relation,
        "name": relation_name(content) if content else relation,
        "tags": _tags(content),
        "questions": questions_url(benchmark, content) if content else "",
        "words": pages.words,
        "examples": example_questions(
            [content] if content else [], pages.offers_options, in_writing=pages.question_form is FREE_TEXT
        ),
        "wordings": [template_pieces(template) for template in content.templates] if content else [],
        "few_options": content is not None and len(content.answer_space) <= FEW_OPTIONS,
        "one_word": not pages.offers_options,
    }
    rows = sorted([_score_row(score) for score in scores], key=itemgetter("group"))
    usual = [score for score in scores if score.value is not None and not score.settings]
    is_whole = wants_file(request) or bool(sorting(request.GET)[0])
    page = page_of(rows, request)
    runs = _read_runs(benchmark, [*(row["score"] for row in (rows if is_whole else page)), *usual[:CHARTED]])
    if is_whole:
        rows = ordered(_with_runs(rows, runs), request, COLUMNS, within="group")
        page = page_of(rows, request)
    shown = list(page) if is_whole else _with_runs(list(page), runs)
    files: Files = {"models": (COLUMNS, shown if request.GET.get("page") else rows)}
    if published:
        files = {**files, "published": (published["columns"], published["file"])}
    title = pages.metric_label(benchmark.main_metric)
    key, details = f"relation-{slugify(relation)}", f"benchmark version {benchmark.version[:12]}"
    reference = page_reference(request, key, f"{benchmark.title}: {context['name']}", details)
    if file := download(request, files) or reference_file(request, reference):
        return file
    context |= {
        "published": published,
        **_models_context(page, shown),
        "charts": {chart.name: chart for chart in models_charts(title, usual, runs, chance_of(benchmark, part))},
        **what_is_cited(request, reference),
    }
    return render(request, "relation.html", context)


def on_relation(benchmark: Benchmark, name: str) -> tuple[Relation | None, Slice, list[Any]]:
    """Return a relation by its id or label, if the site has its questions, its part of the figures, and its scores."""
    pages = pages_of(benchmark)
    content = next((rel for rel in read_relations(benchmark) if name in (rel.id, rel.label)), None)
    part = Slice(*pages.relation_slice(content, name))
    return content, part, slice_scores(benchmark, benchmark.main_metric, *part)


def _tags(relation: Relation | None) -> list[tuple[str, str]]:
    """Return the tags of a relation with their names; a predicate is named in the page's heading already."""
    tags = relation.tags if relation else {}
    return [(labels.dimension(name), tag_text(name, value)) for name, value in tags.items() if name != "predicate"]


def _score_row(score: Any) -> dict[str, Any]:
    """Return a score as a row. Runs with other than the usual settings stand below those with the usual ones."""
    settings = ", ".join(words for _, words in score.settings)
    return {
        "score": score,
        "group": f"Other settings: {settings}" if settings else "",
        "value": score.value,
        **{end: getattr(score, end) for end in ENDS},
        "n": score.n or None,
    }


def _read_runs(benchmark: Benchmark, scores: Sequence[Any]) -> dict[int, Run]:
    """Return the runs of scores by their numbers, as far as they are still there. Two queries."""
    runs = {run.pk: run for run in runs_on(benchmark, pk__in={score.run for score in scores})}
    read_records(runs.values())
    return runs


def _with_runs(rows: Sequence[dict[str, Any]], runs: Mapping[int, Run]) -> list[dict[str, Any]]:
    """Return rows with what they say of their runs, but for those whose run is no longer there."""
    return [row | _run_values(runs[row["score"].run]) for row in rows if row["score"].run in runs]


def _run_values(run: Run) -> dict[str, Any]:
    return {"run": run, "model": run.model.title, "settings": labels.variant(run), "provenance": run.source}


def _models_context(page: Page[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the table of models needs: its rows, and the columns that they fill."""
    shown = filled(rows, ("settings", "value", "n", "provenance"))
    has_bars = any(row["value"] is not None and 0 <= row["value"] <= 1 for row in rows)
    return {
        "models": rows,
        "page": page,
        "shown": shown,
        "scale": "0 to 1" if has_bars else "",
    }


def models_charts(title: str, usual: Sequence[Any], runs: Mapping[int, Run], chance: float | None) -> list[Chart]:
    """Return the chart of the best runs with the usual settings; none where two points would not make a picture."""
    charted = {runs[score.run].name: score for score in usual[:CHARTED] if score.run in runs}
    points = score_points(charted.items(), lambda name: run_url(charted[name].run))
    if len(points) < 2:
        return []
    best = f", the best {CHARTED}" if len(usual) > CHARTED else ""
    ticks = {point.label: chance for point in points} if chance is not None else {}
    summary = f"{title} of {labels.counted([score.hub_id for score in usual])}{best}."
    if ticks:
        summary += " Ticks mark chance."
    return [Chart("models", f"{title} by model", summary, charts.dots(points, ticks, labels.within(title)))]
