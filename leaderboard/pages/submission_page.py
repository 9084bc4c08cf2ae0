"""/submissions/<token>/ : the outcome of a submission; whoever has the address may cancel it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from operator import itemgetter
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers

from leaderboard.figures.runs import OPEN
from leaderboard.intake import submissions
from leaderboard.intake.check_job import HUB_OUTAGE
from leaderboard.intake.checks import RULES, RULES_WITHOUT_ADAPTER
from leaderboard.intake.hub import NEWEST
from leaderboard.models import Run, Submission
from leaderboard.pages.run_page import state_in_detail
from leaderboard.serving.errors import with_retry_after
from leaderboard.tables import download, filled, ordered, page_of
from probing.errors import ProbingError
from probing.revisions import position

ResponseT = TypeVar("ResponseT", bound=HttpResponseBase)
ACTIONS = {"cancel": submissions.withdraw, "retry": submissions.retry, "cancel-all": submissions.withdraw_all}
SHOWN_IN_FULL = 10  # submissions that were sent together; more of them are a table
TOGETHER = ("revision", "benchmark", "state", "run", "fault")
TITLES: dict[str, str] = {Submission.State.REFUSED: "Not accepted"}
FAULTS = ("failed", "warning")
FAST = 2  # seconds between two updates of the page while the model is checked, which takes seconds
SLOW = 10  # the same while its runs are measured or wait


def submission_of(token: str) -> Submission:
    """Return the submission with this token; raise `Http404` if there is none."""
    submission = Submission.objects.select_related("benchmark", "run__model").filter(token=token).first()
    if submission is None:
        raise Http404("There is no such submission.")
    return submission


def unlisted(view: Callable[..., ResponseT]) -> Callable[..., ResponseT]:
    """Keep the responses of a view, whose address is a secret, out of caches and search engines."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> ResponseT:
        response = view(request, *args, **kwargs)
        response["X-Robots-Tag"] = "noindex, nofollow"
        add_never_cache_headers(response)
        return response

    return wrapped


@unlisted
def submission_view(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show a submission and those that were sent with it, or do what a button of the page asks for."""
    submission, problem = submission_of(token), None
    action = next((action for name, action in ACTIONS.items() if name in request.POST), None)
    if action:
        try:
            action(submission)
            return redirect("submission", token)
        except ProbingError as error:
            problem = error
    outcomes = outcomes_together(submission)
    together = [_row(outcome) for outcome in outcomes] if len(outcomes) > SHOWN_IN_FULL else []
    rows = ordered(together, request, TOGETHER, keys={"revision": itemgetter("step")})
    page = page_of(rows, request)
    files = {"together": (TOGETHER, page if "page" in request.GET else rows)}
    if together and (file := download(request, files)):
        return file
    context = {
        "submission": submission,
        "outcomes": [outcome for outcome in outcomes if outcome.submission == submission] if together else outcomes,
        "page": page,
        "filled": filled(page, TOGETHER),
        "counts": Counter(outcome.title for outcome in outcomes).most_common() if together else [],
        "number": len(outcomes),
        "benchmarks": len({outcome.submission.benchmark_id for outcome in outcomes}),
        "revisions": len({outcome.submission.revision for outcome in outcomes}),
        "can_withdraw": any(row["outcome"].can_withdraw for row in together),
        "problem": problem,
        "live": any(outcome.open for outcome in outcomes),
        "seconds": FAST if any(outcome.checking for outcome in outcomes) else SLOW,
        "outage_days": HUB_OUTAGE.days,
    }
    return with_retry_after(render(request, "submission.html", context, status=409 if problem else 200), problem)


def _row(outcome: "Outcome") -> dict[str, Any]:
    """Return a submission as a row. Revisions are sorted by the steps that their names state; others come first."""
    submission, stated_position = outcome.submission, position(outcome.submission.revision)
    return {
        "outcome": outcome,
        "revision": submission.revision or NEWEST,
        "step": (stated_position[0] if stated_position else -1, submission.revision),
        "benchmark": submission.benchmark.title,
        "state": outcome.title,
        "run": submission.run and submission.run.pk,
        "fault": (outcome.fault or {}).get("message", ""),
    }


def outcomes_together(submission: Submission) -> "list[Outcome]":
    """Return the outcomes of the submissions that were sent together with this one, in their order."""
    together = sent_together(submission)
    has_revisions = len({part.revision for part in together}) > 1
    has_benchmarks = len({part.benchmark_id for part in together}) > 1

    def label(part: Submission) -> str:
        revision = part.revision or NEWEST if has_revisions else ""
        return ", ".join(filter(None, [revision, part.benchmark.title if has_benchmarks else ""]))

    return [Outcome(part, label(part)) for part in together]


def sent_together(submission: Submission) -> list[Submission]:
    if not submission.group:
        return [submission]
    together = Submission.objects.filter(group=submission.group).select_related("benchmark", "run__model")
    return list(together.order_by("pk"))


@dataclass(frozen=True)
class Outcome:
    """The outcome of one submission so far, as its page shows it.

    `label`: what sets it apart from those that were sent together with it, empty where there are none.
    """

    submission: Submission
    label: str = ""

    @property
    def title(self) -> str:
        """The outcome so far, in a few words."""
        submission, run = self.submission, self.submission.run
        if submission.state == Submission.State.ACCEPTED and run:
            if not self.open_run:
                return "Measured" if run.state == Run.State.FINISHED else str(run.get_state_display()).capitalize()
            return "Already measured or in the queue" if submission.duplicate else "Accepted"
        if submission.state == Submission.State.WAITING:
            return f"Waiting for the hub, not {'fully ' if self.checked_in_part else ''}checked yet"
        return TITLES.get(submission.state) or str(submission.get_state_display()).capitalize()

    @property
    def checking(self) -> bool:
        return self.submission.state == Submission.State.CHECKING

    @property
    def open_run(self) -> bool:
        return self.submission.run is not None and self.submission.run.state in OPEN

    @property
    def open(self) -> bool:
        return self.submission.state in Submission.PENDING or self.open_run

    @property
    def checked_in_part(self) -> bool:
        """Tell whether the model was found, and the hub has stopped answering after that."""
        return any(check["name"] == "exists" and check["state"] == "ok" for check in self.submission.checks)

    @property
    def fault(self) -> dict[str, str] | None:
        """The check to read first: the first that failed, or else the first that could not be made."""
        checks = self.submission.checks if not self.submission.run else []
        return next((check for state in FAULTS for check in checks if check["state"] == state), None)

    @property
    def others(self) -> list[dict[str, str]]:
        return [check for check in self.submission.checks if check["state"] != "skipped" and check is not self.fault]

    @property
    def to_come(self) -> int:
        """The number of checks that have not been made yet."""
        completed = sum(check["state"] != "skipped" for check in self.submission.checks)
        rules = RULES if "+" in self.submission.model_id else RULES_WITHOUT_ADAPTER
        return max(len(rules) - completed, 0) if self.submission.checks and not self.submission.run else 0

    @property
    def can_withdraw(self) -> bool:
        return submissions.can_withdraw(self.submission)

    @property
    def can_retry(self) -> bool:
        return submissions.can_retry(self.submission)

    @property
    def run_state(self) -> dict[str, Any]:
        return state_in_detail(self.submission.run) if self.submission.run and self.open_run else {}
