"""How much one submitter may ask for, and how much the site takes on; checked before the hub is asked anything.

A submission counts while it is open and once its run has finished. One that was refused, withdrawn, or whose run failed
or was cancelled gives its quota back.
"""

from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from leaderboard.figures.runs import OPEN
from leaderboard.models import Benchmark, Run, Submission
from leaderboard.serving import limits
from probing.errors import BadInput, ProbingError

DAY = timedelta(days=1)
OWN_RUN = Q(state=Submission.State.ACCEPTED, duplicate=False)
OPEN_SUBMISSION = Q(state__in=Submission.PENDING) | OWN_RUN & Q(run__state__in=OPEN)
COUNTED = OPEN_SUBMISSION | OWN_RUN & Q(run__state=Run.State.FINISHED)


class OverQuota(BadInput):
    """One submitter asks for more than the site allows. `retry_after`: seconds; where runs have to end first, a guess.

    A program that waits for so long instead of asking again and again is no burden.
    """


class TooMany(OverQuota):
    """The submitter has reached the limit of submissions within a day."""

    code = "too-many"


class TooManyOpen(OverQuota):
    """The submitter has reached the limit of runs that have not ended."""

    code = "too-many-open"
    retry_after = 600


class TooFast(OverQuota):
    """The submitter has reached the limit of checks within a minute."""

    code = "too-fast"


class QueueFull(ProbingError):
    """The site has as many open submissions and runs as it takes on."""

    code = "queue-full"
    permanent = False
    retry_after = 600


def refuse_haste(submitter: str) -> None:
    """Count one check of a model; raise `TooFast` if the submitter has had too many within a minute."""
    most = settings.CHECKS_PER_MINUTE
    if submitter and most and not limits.allow("checks", submitter, most, 60):
        error = TooFast(f"This site checks at most {most} models a minute for you.", "Wait for a minute.")
        error.retry_after = limits.retry_after("checks", submitter, 60)
        raise error


def lock() -> None:
    """Let transactions that count submissions pass one at a time, from here to their end.

    The lock is that of a row which always exists. SQLite has no such locks; there, the transaction itself is exclusive,
    as it begins with the intention to write.
    """
    Benchmark.objects.select_for_update(no_key=True).order_by("pk").values_list("pk").first()


def refuse_excess(submitter: str, further: int = 1) -> None:
    """Raise an error if so many further submissions are over a limit.

    The caller must hold `lock` until it has stored them. Submissions of the operator, who is the empty `submitter`,
    have no limit of their own.
    """
    limit = settings.QUEUE_LIMIT
    if limit and (open_now := _open_on_the_site()) + further > limit:
        message = f"The queue is full: {open_now:,} submissions and runs are open."
        raise QueueFull(message, f"It takes {limit:,}. Try again later.")
    if not submitter:
        return
    own = Submission.objects.filter(submitter=submitter)
    limit = settings.OPEN_RUNS_PER_SUBMITTER
    if limit and (number := own.filter(OPEN_SUBMISSION).count()) + further > limit:
        _refuse_series(further, limit, "open at a time")
        raise TooManyOpen(f"{number} of your submissions are still open.", "Wait until one has ended, or cancel one.")
    limit, now = settings.SUBMISSIONS_PER_DAY, timezone.now()
    times = own.filter(COUNTED, created__gt=now - DAY).order_by("-created").values_list("created", flat=True)
    if limit and times.count() + further > limit:
        _refuse_series(further, limit, "within 24 hours")
        error = TooMany(f"You have submitted {times.count()} models in the last 24 hours.", "Come back tomorrow.")
        error.retry_after = ceil((times[limit - further] + DAY - now).total_seconds())
        raise error


def _refuse_series(further: int, limit: int, period: str) -> None:
    """Raise `BadInput` if submissions that are sent together will never fit into a limit, however long they wait."""
    if further > limit:
        raise BadInput(
            f"These are {further:,} runs; this site takes {limit:,} of one person {period}.",
            "Send fewer of them, or ask the maintainers to submit the series.",
        )


def _open_on_the_site() -> int:
    pending = Submission.objects.filter(state__in=Submission.PENDING).count()
    return pending + Run.objects.filter(state__in=OPEN).count()
