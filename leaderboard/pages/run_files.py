"""/runs/<id>/<file> : a run in the formats of other projects."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from leaderboard.exports import every_eval_ever, reproduction
from leaderboard.models import Run
from leaderboard.ui.table_files import json_lines


def finished_run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk, state=Run.State.FINISHED)


@require_safe
def script_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    return _text_file(reproduction.script_file(finished_run(pk)), "reproduce.sh", "text/x-shellscript")


@require_safe
def requirements_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the packages that a run was measured with, in a form that pip takes."""
    text = reproduction.requirements_file(finished_run(pk))
    if not text:
        raise Http404(f"Run {pk} does not record its packages.")
    return _text_file(text, "requirements.txt", "text/plain")


def _text_file(text: str, name: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)


@require_safe
def evaluation_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send a run as a record of Every Eval Ever."""
    run = finished_run(pk)
    scores = list(run.scores.order_by("pk"))
    root = request.build_absolute_uri("/")
    record = every_eval_ever.aggregate(run, scores, root)
    name = f"{every_eval_ever.file_id(run)}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(record, json_dumps_params={"indent": 1, "ensure_ascii": False}, headers=headers)


@require_safe
def evaluation_samples_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = finished_run(pk)
    if not every_eval_ever.has_samples(run):
        raise Http404(f"Run {pk} has no stored answers that are right or wrong.")
    name = f"{every_eval_ever.file_id(run)}_samples.jsonl"
    return json_lines(every_eval_ever.samples(run), name)
