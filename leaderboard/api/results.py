"""/api/v1/results : results that third parties have measured, which they push with a token and may withdraw."""

from typing import IO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from leaderboard.api.routes import PUSHES, Access, delete, post
from leaderboard.intake.quotas import TooFast
from leaderboard.models import Run, WorkerToken
from leaderboard.serving import rate_limits
from leaderboard.serving.errors import too_large
from leaderboard.worker import pushes
from leaderboard.worker.arrived_records import RECORD_LIMIT
from leaderboard.worker.claims import read_claim
from probing.errors import BadInput
from probing.measuring.rows import ROWS_LIMIT

FIELDS = 10_000  # bytes of a form beside its two files
FOR_PUSHES = Access(WorkerToken.Purpose.PUSH, refused=422)


class PushForm(BaseModel):
    """A result: the two files of its folder, and what they do not say."""

    items: bytes = Field(description="The file items.parquet.")
    record: bytes = Field(description="The file run.json.")
    source: str = Field("", description="Who has measured it; the name of the token by default.")
    model: str = Field("", description="Id of the model at the hub, where the record does not name it.")
    revision: str = Field("", description="Branch, tag or step of the model.")


class PushedRun(TypedDict):
    """The run of a result; `url` is the path of its page."""

    run: int
    url: str
    state: str


class Withdrawn(TypedDict):
    """A run that was withdrawn."""

    run: int
    withdrawn: bool


@post("results", group=PUSHES, status=201, others=(200, 202), access=FOR_PUSHES, answer=PushedRun, form=PushForm)
def results_json(request: HttpRequest, token: WorkerToken) -> HttpResponseBase:
    """Check and store a result, sent as a form with the files items.parquet and run.json.

    The status is 201, 202 if a worker checks it first as it is large, and 200 if the site had this very result.
    """
    if int(request.META.get("CONTENT_LENGTH") or 0) > ROWS_LIMIT + RECORD_LIMIT + FIELDS:
        return too_large(request)
    _refuse_haste(token)
    items, record = (_file(request, name) for name in ("items", "record"))
    fields = {name: request.POST.get(name, "").strip() for name in ("source", "model", "revision")}
    text = record.read(RECORD_LIMIT + 1)
    claim = read_claim(text, fields["source"] or token.name, hub_id=fields["model"], revision=fields["revision"])
    run, new = pushes.receive(claim, items, token)
    answer: PushedRun = {"run": run.pk, "url": run.get_absolute_url(), "state": run.state}
    finished = run.state == Run.State.FINISHED
    return JsonResponse(answer, status=202 if not finished else 201 if new else 200)


@delete("results/<number:run>", group=PUSHES, access=FOR_PUSHES)
def result_json(request: HttpRequest, token: WorkerToken, run: int) -> Withdrawn:
    """Withdraw a result that was pushed with this token."""
    try:
        pushes.withdraw_pushed(run, token)
    except Run.DoesNotExist:
        raise Http404(f"There is no run {run} that this token has pushed.") from None
    return {"run": run, "withdrawn": True}


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
