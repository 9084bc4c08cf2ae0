"""/benchmarks/<name>/<file> : a benchmark for the Hub, for programs and for links."""

import json

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from leaderboard.exports import hugging_face
from leaderboard.exports.croissant import croissant
from leaderboard.exports.pictures import benchmark_picture
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.views.questions import question_columns


@require_safe
def eval_yaml_view(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send the file `eval.yaml` of the benchmark's data set on the Hub."""
    benchmark = _with_questions(name)
    headers = {"Content-Disposition": 'attachment; filename="eval.yaml"'}
    return HttpResponse(
        hugging_face.eval_yaml(benchmark), content_type="application/yaml; charset=utf-8", headers=headers
    )


@require_safe
def croissant_view(request: HttpRequest, name: str) -> HttpResponseBase:
    """Send the description of the benchmark from which programs load its questions."""
    benchmark = _with_questions(name)
    columns = [column.name for column in question_columns(benchmark, judged=bool(benchmark.correctness.column))]
    content = croissant(benchmark, request.build_absolute_uri(benchmark.get_absolute_url()), columns)
    return HttpResponse(json.dumps(content, ensure_ascii=False, indent=1), content_type="application/ld+json")


@require_safe
def benchmark_picture_view(request: HttpRequest, name: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    runs = Run.objects.filter(named(name, "benchmark__"), state=Run.State.FINISHED).count()
    return HttpResponse(benchmark_picture(benchmark, runs), content_type="image/png")


def _with_questions(name: str) -> Benchmark:
    """Return a benchmark whose questions the site has, not only published figures; raise `Http404` if there is none."""
    return get_object_or_404(Benchmark.objects.exclude(path=""), named(name), current=True)
