"""/api/v1/results : results that third parties have measured, which they push with a token and may withdraw."""

from functools import partial
from typing import IO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse

from leaderboard.intake.quotas import TooFast
from leaderboard.models import Run, WorkerToken
from leaderboard.serving import rate_limits
from leaderboard.serving.errors import too_large
from leaderboard.views.authorized import authorized
from leaderboard.worker import pushes
from leaderboard.worker.arrivals import RECORD_LIMIT
from leaderboard.worker.third_party import read_claim
from probing.errors import BadInput
from probing.measuring.rows import ROWS_LIMIT

FIELDS = 10_000  # bytes of a form beside its two files
for_pushes = partial(authorized, WorkerToken.Purpose.PUSH, statuses={TooFast.code: 429}, refused=422)


@for_pushes("POST")
def results_json(request: HttpRequest, token: WorkerToken) -> HttpResponseBase:
    """Check and store a result, sent as a form with the files `items` (items.parquet) and `record` (run.json)."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > ROWS_LIMIT + RECORD_LIMIT + FIELDS:
        return too_large(request)
    _refuse_haste(token)
    items, record = (_file(request, name) for name in ("items", "record"))
    fields = {name: request.POST.get(name, "").strip() for name in ("source", "model", "revision")}
    text = record.read(RECORD_LIMIT + 1)
    claim = read_claim(text, fields["source"] or token.name, hub_id=fields["model"], revision=fields["revision"])
    run, new = pushes.receive(claim, items, token)
    answer = {"run": run.pk, "url": run.get_absolute_url(), "state": run.state}
    finished = run.state == Run.State.FINISHED
    return JsonResponse(answer, status=202 if not finished else 201 if new else 200)


@for_pushes("DELETE")
def result_json(request: HttpRequest, token: WorkerToken, pk: int) -> HttpResponseBase:
    """Withdraw a result that was pushed with this token."""
    try:
        pushes.withdraw_pushed(pk, token)
    except Run.DoesNotExist:
        raise Http404(f"There is no run {pk} that this token has pushed.") from None
    return JsonResponse({"run": pk, "withdrawn": True})


def _file(request: HttpRequest, name: str) -> IO[bytes]:
    file = request.FILES.get(name)
    if not isinstance(file, UploadedFile) or file.file is None:
        message = f"The form has no file {name!r}."
        raise BadInput(message, "Send the files items (items.parquet) and record (run.json) as multipart/form-data.")
    return cast(IO[bytes], file.file)


def _refuse_haste(token: WorkerToken) -> None:
    limit = f"{settings.PUSHES_PER_MINUTE} per minute"
    if settings.PUSHES_PER_MINUTE and not rate_limits.allow("pushes", str(token.pk), limit):
        message = f"This site takes at most {settings.PUSHES_PER_MINUTE} results a minute with one token."
        error = TooFast(message, "Wait for a minute.")
        error.retry_after = rate_limits.retry_after("pushes", str(token.pk), limit)
        raise error
