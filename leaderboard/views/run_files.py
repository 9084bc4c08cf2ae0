"""/runs/<id>/<file> : a run in the formats of other projects."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice

from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from leaderboard.exports import every_eval_ever
from leaderboard.models import Run

LINES = 200  # that are sent at once
JSON_LINES = "application/jsonl; charset=utf-8"


def finished_run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk, state=Run.State.FINISHED)


@require_safe
def evaluation_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send a run as a record of Every Eval Ever; a record that was imported is sent as it came."""
    run = finished_run(pk)
    scores = list(run.scores.order_by("pk"))
    root = request.build_absolute_uri("/")
    record = run.provenance_record.get("every_eval_ever") or every_eval_ever.aggregate(run, scores, root)
    name = f"{every_eval_ever.file_id(run)}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(record, json_dumps_params={"indent": 1, "ensure_ascii": False}, headers=headers)


@require_safe
def evaluation_samples_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the answers of a run as the samples of its record."""
    run = finished_run(pk)
    if not every_eval_ever.has_samples(run):
        raise Http404(f"Run {pk} has no stored answers that are right or wrong.")
    name = f"{every_eval_ever.file_id(run)}_samples.jsonl"
    return json_lines(every_eval_ever.samples(run), name)


def json_lines(rows: Iterable[object], name: str) -> StreamingHttpResponse:
    """Stream rows as a JSONL file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(_lines(rows), content_type=JSON_LINES, headers=headers)


def _lines(rows: Iterable[object]) -> Iterator[str]:
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    while text := "".join(islice(lines, LINES)):
        yield text
