"""The tables of the site itself: submissions, the log of changes, and snapshots."""

from django.db import models
from django.urls import reverse

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

    def __str__(self) -> str:
        return f"{self.model_id} on {self.benchmark}"


class Change(models.Model):
    """One change of the figures of the site. Changes are added, never changed, and outlive the run they are about."""

    class Kind(models.TextChoices):
        ADDED = "added", "result added"
        RESCORED = "rescored", "scores computed again"
        WITHDRAWN = "withdrawn", "result withdrawn"
        VERSION = "version", "new version of a benchmark"
        REMEASURED = "remeasured", "other predictions when measured again"

    time = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    benchmark = models.CharField(max_length=200, help_text="name of the benchmark")
    model = models.CharField(max_length=300, blank=True, help_text="title of the model")
    run = models.PositiveBigIntegerField(null=True, blank=True, help_text="number of the run, which may be gone")
    text = models.TextField(blank=True, help_text="the reason, or what has changed")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.model or self.benchmark}"


class Snapshot(models.Model):
    """Tables of the site as they were at one moment. A snapshot is added and never changed."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the document, and its address")
    title = models.CharField(max_length=200)
    document = models.BinaryField(help_text="the tables as JSON, compressed by gzip")
    length = models.PositiveBigIntegerField(help_text="of the document before it was compressed, in bytes")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.title} ({self.digest[:12]})"

    def get_absolute_url(self) -> str:
        return reverse("snapshot", args=[self.digest])
