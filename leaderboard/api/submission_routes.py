"""/api/v1/submit, submissions and queue : models that are to be measured, and open runs."""

from typing import Any, ClassVar

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from ninja import P, PathEx, Query
from pydantic import Field, model_validator
from typing_extensions import TypedDict

from leaderboard.api.interface import Routes
from leaderboard.api.parameters import Body, PagedQuery, PageFacts, page_of
from leaderboard.api.run_routes import Json, facts, followed
from leaderboard.api.table_routes import as_json
from leaderboard.figures import benchmarks as benchmarks_module
from leaderboard.figures.progress import Queue, QueuedRun, queue
from leaderboard.intake import submissions as submissions_module
from leaderboard.intake.quotas import PENDING
from leaderboard.models import Submission
from leaderboard.pages.queue_page import MOST_WAITING, queue_table
from leaderboard.pages.submission_page import submission_of
from leaderboard.serving.limits import client_address
from probing.errors import BadInput

DEFAULT = "starter"
SecretPath = PathEx[str, P(description="The secret of the submission, which the answer to it has.", pattern="^[^/]+$")]
queue_routes, routes = Routes(), Routes()


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


@routes.post("submit", response={202: SubmissionFacts | Submissions})
def submit_json(request: HttpRequest, body: SubmissionBody) -> JsonResponse:
    """Take a submission, or one for each benchmark and revision of a list. The model is checked soon.

    A known duplicate has its run already. Submissions count towards the limits of the address from which they come.
    """
    chosen = [benchmarks_module.current(name) for name in body.names]
    revisions = [name.strip() for name in body.revisions]
    submitted = submissions_module.receive_all(
        body.model, chosen, body.options, revisions=revisions, submitter=client_address(request)
    )
    answers = [submission_facts(request, submission) for submission in submitted]
    is_list = {"benchmarks", "revisions"} & body.model_fields_set
    return JsonResponse({"submissions": answers} if is_list else answers[0], status=202)


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
