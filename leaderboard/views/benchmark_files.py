"""/benchmarks/<slug>/<file> : a benchmark for the Hub and for links."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from leaderboard.exports import hugging_face
from leaderboard.exports.pictures import benchmark_picture
from leaderboard.lists.runs import benchmarks
from leaderboard.models import Run


@require_safe
def eval_yaml_view(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Send the file `eval.yaml` of the benchmark's data set on the Hub."""
    benchmark = get_object_or_404(benchmarks().exclude(path=""), slug=slug)
    headers = {"Content-Disposition": 'attachment; filename="eval.yaml"'}
    return HttpResponse(
        hugging_face.eval_yaml(benchmark), content_type="application/yaml; charset=utf-8", headers=headers
    )


@require_safe
def benchmark_picture_view(request: HttpRequest, slug: str) -> HttpResponseBase:
    benchmark = get_object_or_404(benchmarks(), slug=slug)
    runs = Run.objects.filter(benchmark__slug=slug, state=Run.State.FINISHED).count()
    return HttpResponse(benchmark_picture(benchmark, runs), content_type="image/png")
