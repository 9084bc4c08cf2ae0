"""The table of changes: the public log of what happened to results."""

from django.db import models


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
