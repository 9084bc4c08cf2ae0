"""The table of what visitors and operators submit."""

from django.db import models

from leaderboard.models.benchmark import Benchmark
from leaderboard.models.run import Run


class Submission(models.Model):
    """A request to measure a model. It becomes a run once its checks have passed."""

    class State(models.TextChoices):
        CHECKING = "checking"
        WAITING = "waiting", "waiting for the hub"
        ACCEPTED = "accepted"
        REFUSED = "refused"
        WITHDRAWN = "withdrawn"

    PENDING = (State.CHECKING, State.WAITING)

    token = models.CharField(max_length=43, unique=True, help_text="who has it may cancel the run or try it again")
    group = models.CharField(
        max_length=43, blank=True, db_index=True, help_text="shared by submissions that were sent together"
    )
    model_id = models.CharField(max_length=200)
    revision = models.CharField(max_length=100, blank=True, help_text="branch, tag or commit; the newest if empty")
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="submissions")
    options = models.JSONField(default=dict, help_text="what was chosen: settings of the run and options of the probe")
    submitter = models.CharField(max_length=64, blank=True, db_index=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.CHECKING, db_index=True)
    checks = models.JSONField(default=list, help_text="outcomes of the checks, in their order")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="submissions")
    duplicate = models.BooleanField(default=False, help_text="the run existed before")
    losses = models.PositiveSmallIntegerField(default=0, help_text="processes that were lost on its checks in a row")
    created = models.DateTimeField(auto_now_add=True)
    checked = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["model_id", "benchmark"])]
