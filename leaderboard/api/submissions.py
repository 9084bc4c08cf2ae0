"""/api/v1/submit and submissions : models that are to be measured, and what came of them."""

from typing import Any, ClassVar

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from pydantic import Field, model_validator
from typing_extensions import TypedDict

from leaderboard.api.answers import facts, followed
from leaderboard.api.paging import PageFacts, behind_row, page_of, read_from
from leaderboard.api.parameters import Body, PagedQuery, Query
from leaderboard.api.routes import SUBMISSIONS, Access, get, post
from leaderboard.intake import requests
from leaderboard.intake.quotas import PENDING, submitter_of
from leaderboard.models import Submission, WorkerToken
from leaderboard.serving.client import client_address
from leaderboard.stored import benchmarks
from leaderboard.views.submission import submission_of

OPTIONAL_TOKEN = Access(WorkerToken.Purpose.SUBMIT, required=False)
DEFAULT = "starter"


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
            raise ValueError(
                "The benchmarks of a submission are a list of names. Send benchmark or benchmarks, not both."
            )
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


@post("submit", group=SUBMISSIONS, status=202, access=OPTIONAL_TOKEN)
def submit_json(request: HttpRequest, token: WorkerToken | None, body: SubmissionBody) -> SubmissionFacts | Submissions:
    """Take a submission, or one for each benchmark and revision of a list. The model is checked soon.

    A known duplicate has its run already. Submissions with a token count towards the limits of the token, and others
    towards those of the address from which they come.
    """
    chosen = [benchmarks.current(name) for name in body.names]
    revisions = [name.strip() for name in body.revisions]
    submitter = submitter_of(token) if token else client_address(request)
    submitted = requests.receive_all(body.model, chosen, body.options, revisions=revisions, submitter=submitter)
    answers = [about_submission(request, submission) for submission in submitted]
    is_list = {"benchmarks", "revisions"} & body.model_fields_set
    return {"submissions": answers} if is_list else answers[0]


@get("submissions", group=SUBMISSIONS, secret=True, access=Access(WorkerToken.Purpose.SUBMIT))
def submissions_json(request: HttpRequest, token: WorkerToken, query: PagedQuery) -> SubmissionPage:
    """Return what was submitted with the token of this request, the newest first, 200 per page."""
    own = Submission.objects.filter(submitter=submitter_of(token)).select_related("benchmark", "run")
    page = page_of(request, query, read_from(own.order_by("-pk")), lambda submission: submission.pk, behind_row(own))
    return {**page.facts, "submissions": [about_submission(request, submission) for submission in page.entries]}


@get("submissions/<str:secret>", group=SUBMISSIONS, secret=True, answer=SubmissionFacts)
def submission_json(request: HttpRequest, query: Query, secret: str) -> JsonResponse:
    """Return a submission: its state, its checks so far, and its run once it has one.

    As long as its model is not checked, the header Retry-After says after how many seconds to look again.
    """
    submission = submission_of(secret)
    return followed(about_submission(request, submission), ended=submission.state not in PENDING)


@post("submissions/<str:secret>/cancel", group=SUBMISSIONS, secret=True)
def cancel_json(request: HttpRequest, secret: str) -> SubmissionFacts:
    """Withdraw a submission, and cancel its run if nobody else submitted the same."""
    submission = submission_of(secret)
    requests.withdraw(submission)
    return about_submission(request, submission)


@post("submissions/<str:secret>/retry", group=SUBMISSIONS, secret=True)
def retry_json(request: HttpRequest, secret: str) -> SubmissionFacts:
    """Try a run again that failed or was cancelled, or check a model again that was refused or withdrawn."""
    submission = submission_of(secret)
    requests.retry(submission)
    return about_submission(request, submission)


def about_submission(request: HttpRequest, submission: Submission) -> SubmissionFacts:
    return facts(
        SubmissionFacts,
        submission,
        submission=submission.token,
        model=submission.model_id,
        benchmark=submission.benchmark.name,
        url=request.build_absolute_uri(reverse("submission", args=[submission.token])),
        run=submission.run_id,
    )
