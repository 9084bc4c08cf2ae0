"""/api/v1/submit, submissions, queue and results : models that are to be measured, open runs, and pushed results."""

from typing import IO, Any, ClassVar, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse
from ninja import P, PathEx, Query
from pydantic import BaseModel, Field, model_validator
from typing_extensions import TypedDict

from leaderboard.api.interface import Routes, RunNumber, Token, TokenRequest
from leaderboard.api.parameters import Body, PagedQuery, PageFacts, form_body, page_of, page_of_rows
from leaderboard.api.run_routes import Json, facts, followed
from leaderboard.api.table_routes import as_json
from leaderboard.figures import benchmarks as benchmarks_module
from leaderboard.figures.progress import Queue, QueuedRun, queue
from leaderboard.intake import submissions as submissions_module
from leaderboard.intake.quotas import PENDING, refuse_pace, submitter_of
from leaderboard.models import AccessToken, Run, Submission
from leaderboard.pages.queue_page import MOST_WAITING, queue_table
from leaderboard.pages.submission_page import submission_of
from leaderboard.serving.errors import too_large
from leaderboard.serving.limits import client_address
from leaderboard.worker import third_party
from leaderboard.worker.arrivals import RECORD_LIMIT
from leaderboard.worker.third_party import read_claim
from probing.errors import BadInput
from probing.measuring.messages import ROWS_LIMIT

DEFAULT = "starter"
FIELDS = 10_000  # bytes of a form beside its two files
SUBMITTERS, PUSHERS = Token(AccessToken.Purpose.SUBMIT), Token(AccessToken.Purpose.PUSH, refused=422)
SecretPath = PathEx[str, P(description="The secret of the submission, which the answer to it has.", pattern="^[^/]+$")]
queue_routes, routes, push_routes = Routes(), Routes(), Routes()


class OpenRuns(PageFacts):
    """The runs at work, how many wait, and a page of those, in the order in which they are measured."""

    working: list[Json]
    number_waiting: int
    waiting: list[Json]


class SubmissionBody(Body):
    """A model that is to be measured."""

    noun: ClassVar[str] = "submission"
    example: ClassVar[str] = '{"model": "org/name", "benchmarks": ["starter"], "options": {"sample": 20}}'

    model: str = Field(description="Id of the model at the hub, or the address of its page.", examples=["org/name"])
    benchmark: str = Field("", description=f"Name of the benchmark; {DEFAULT} by default.")
    benchmarks: list[str] | None = Field(None, description="Names of several benchmarks, in place of benchmark.")
    revisions: list[str] = Field([], description="Branches, tags or commits; the newest commit by default.")
    options: dict[str, Any] = Field({}, description="Settings of the run and options of the probe, by name.")

    @model_validator(mode="after")
    def _one_kind_of_benchmarks(self) -> "SubmissionBody":
        if self.benchmarks is not None and (self.benchmark or not self.benchmarks):
            message = "The benchmarks of a submission are a list of names. Send benchmark or benchmarks, not both."
            raise BadInput(message, f"Write it as {self.example}.")
        return self

    @property
    def names(self) -> list[str]:
        """The names of the benchmarks, in their order and each once."""
        return list(dict.fromkeys(self.benchmarks or [self.benchmark or DEFAULT]))


class Check(TypedDict):
    """A check of a model before it is measured. `state`: ok, warning, failed or skipped."""

    name: str
    state: str
    message: str
    next_step: str


class SubmissionFacts(TypedDict):
    """A submission. Whoever knows its secret, `submission`, may cancel it; `run` is its run once it has one."""

    submission: str
    model: str
    revision: str
    benchmark: str
    url: str
    state: str
    run: int | None
    duplicate: bool
    checks: list[Check]


class Submissions(TypedDict):
    """Several submissions."""

    submissions: list[SubmissionFacts]


class SubmissionPage(PageFacts, Submissions):
    """A page of the submissions of a token, the newest first."""


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


@queue_routes.read("queue", live=True)
def queue_json(request: HttpRequest, query: Query[PagedQuery]) -> OpenRuns:
    """Return the runs that are being measured, and those that wait, 200 per page."""
    lines: list[Queue] = []

    def read(start: int, stop: int) -> tuple[list[QueuedRun], int]:
        lines.append(queue(min(start, MOST_WAITING), min(stop, MOST_WAITING)))
        return lines[-1].waiting, lines[-1].number_waiting

    page, waiting = page_of(request, query, read, lambda row: row.run.pk, _waiting_behind)
    line = lines[-1]
    columns = queue_table(line).columns
    return {
        **page,
        "working": as_json(columns, line.working),
        "number_waiting": line.number_waiting,
        "waiting": as_json(columns, waiting),
    }


def _waiting_behind(cursor: str) -> int:
    return [str(row.run.pk) for row in queue(0, MOST_WAITING).waiting].index(cursor) + 1


def without_token(request: HttpRequest) -> bool:
    """Admit whoever shows no token; a token that is not valid is refused."""
    return not request.headers.get("Authorization")


@routes.post(
    "submit",
    auth=[SUBMITTERS, without_token],
    response={202: SubmissionFacts | Submissions},
    openapi_extra={"security": [{}]},
)
def submit_json(request: TokenRequest, body: SubmissionBody) -> JsonResponse:
    """Take a submission, or one for each benchmark and revision of a list. The model is checked soon.

    A known duplicate has its run already. Submissions with a token count towards the limits of the token, and others
    towards those of the address from which they come.
    """
    chosen = [benchmarks_module.current(name) for name in body.names]
    revisions = [name.strip() for name in body.revisions]
    submitter = submitter_of(request.auth) if isinstance(request.auth, AccessToken) else client_address(request)
    submitted = submissions_module.receive_all(
        body.model, chosen, body.options, revisions=revisions, submitter=submitter
    )
    answers = [submission_facts(request, submission) for submission in submitted]
    is_list = {"benchmarks", "revisions"} & body.model_fields_set
    return JsonResponse({"submissions": answers} if is_list else answers[0], status=202)


@routes.read("submissions", live=True, auth=SUBMITTERS)
def submissions_json(request: TokenRequest, query: Query[PagedQuery]) -> SubmissionPage:
    """Return what was submitted with the token of this request, the newest first, 200 per page."""
    own = Submission.objects.filter(submitter=submitter_of(request.auth)).select_related("benchmark", "run")
    page, entries = page_of_rows(request, query, own)
    return {**page, "submissions": [submission_facts(request, submission) for submission in entries]}


@routes.read("submissions/{str:secret}", live=True, answer=SubmissionFacts)
def submission_json(request: HttpRequest, secret: SecretPath) -> JsonResponse:
    """Return a submission: its state, its checks so far, and its run once it has one.

    As long as its model is not checked, the header Retry-After says after how many seconds to look again.
    """
    submission = submission_of(secret)
    return followed(submission_facts(request, submission), ended=submission.state not in PENDING)


@routes.post("submissions/{str:secret}/cancel", response=SubmissionFacts)
def cancel_json(request: HttpRequest, secret: SecretPath) -> SubmissionFacts:
    """Withdraw a submission, and cancel its run if nobody else submitted the same."""
    submission = submission_of(secret)
    submissions_module.withdraw(submission)
    return submission_facts(request, submission)


@routes.post("submissions/{str:secret}/retry", response=SubmissionFacts)
def retry_json(request: HttpRequest, secret: SecretPath) -> SubmissionFacts:
    """Try a run again that failed or was cancelled, or check a model again that was refused or withdrawn."""
    submission = submission_of(secret)
    submissions_module.retry(submission)
    return submission_facts(request, submission)


def submission_facts(request: HttpRequest, submission: Submission) -> SubmissionFacts:
    return facts(
        SubmissionFacts,
        submission,
        submission=submission.token,
        model=submission.model_id,
        benchmark=submission.benchmark.name,
        url=request.build_absolute_uri(reverse("submission", args=[submission.token])),
        run=submission.run_id,
    )


@push_routes.post(
    "results", auth=PUSHERS, response={(201, 200, 202): PushedRun}, openapi_extra={"requestBody": form_body(PushForm)}
)
def results_json(request: TokenRequest) -> HttpResponseBase:
    """Check and store a result, sent as a form with the files items.parquet and run.json.

    The status is 201, 202 if a worker checks it first as it is large, and 200 if the site had this very result.
    """
    if int(request.META.get("CONTENT_LENGTH") or 0) > ROWS_LIMIT + RECORD_LIMIT + FIELDS:
        return too_large(request)
    most = settings.PUSHES_PER_MINUTE
    message = f"This site takes at most {most} results a minute with one token."
    refuse_pace("pushes", str(request.auth.pk), most, message)
    items, record = (_file(request, name) for name in ("items", "record"))
    fields = {name: request.POST.get(name, "").strip() for name in ("source", "model", "revision")}
    text = record.read(RECORD_LIMIT + 1)
    claim = read_claim(text, fields["source"] or request.auth.name, hub_id=fields["model"], revision=fields["revision"])
    run, new = third_party.receive(claim, items, request.auth)
    answer: PushedRun = {"run": run.pk, "url": run.get_absolute_url(), "state": run.state}
    finished = run.state == Run.State.FINISHED
    return JsonResponse(answer, status=202 if not finished else 201 if new else 200)


@push_routes.delete("results/{number:run}", auth=PUSHERS, response=Withdrawn)
def result_json(request: TokenRequest, run: RunNumber) -> Withdrawn:
    """Withdraw a result that was pushed with this token."""
    try:
        third_party.withdraw(run, request.auth)
    except Run.DoesNotExist:
        raise Http404(f"There is no run {run} that this token has pushed.") from None
    return {"run": run, "withdrawn": True}


def _file(request: HttpRequest, name: str) -> IO[bytes]:
    file = request.FILES.get(name)
    if not isinstance(file, UploadedFile) or file.file is None:
        message = f"The form has no file {name!r}."
        raise BadInput(message, "Send the files items (items.parquet) and record (run.json) as multipart/form-data.")
    return cast(IO[bytes], file.file)
