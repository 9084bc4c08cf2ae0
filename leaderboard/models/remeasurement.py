"""The table of remeasurements, which are the differences found when a finished run was measured again."""

from django.db import models
from django.db.models import F, Max

from leaderboard.models.run import Run

ALLOWED_CHANGES = 10_000  # of this many predictions, one may change; more raise an alarm


class RemeasurementQuerySet(models.QuerySet["Remeasurement"]):
    def newest(self) -> "RemeasurementQuerySet":
        """Leave out those of runs that were measured again later."""
        last = Remeasurement.objects.order_by().values("run").annotate(last=Max("pk")).values("last")
        return self.filter(pk__in=last)

    def alarms(self) -> "RemeasurementQuerySet":
        """Select the newest ones of their runs in which too many predictions changed."""
        return self.newest().filter(items__lt=F("changed") * ALLOWED_CHANGES)


class Remeasurement(models.Model):
    """A second measurement of a finished run, or of some of its parts, with the same settings and files."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="remeasurements")
    time = models.DateTimeField(auto_now_add=True)
    device = models.CharField(max_length=100, help_text="where it was measured again")
    first_device = models.CharField(max_length=100, blank=True, help_text="where the run was measured")
    parts = models.PositiveIntegerField()
    items = models.PositiveIntegerField()
    changed = models.PositiveIntegerField(help_text="items with another prediction")
    largest = models.FloatField(null=True, help_text="the largest difference of a score; None without scores")

    objects = RemeasurementQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.in_words}"

    @property
    def share(self) -> float:
        """The share of items with another prediction."""
        return self.changed / self.items

    @property
    def is_alarm(self) -> bool:
        return self.changed * ALLOWED_CHANGES > self.items

    @property
    def in_words(self) -> str:
        changes = {0: "no prediction changed", 1: "1 prediction changed"}
        changed = changes.get(self.changed, f"{self.changed:,} predictions changed")
        largest = "" if self.largest is None else f", the largest difference of a score is {self.largest:.2g}"
        return f"{self.items:,} items on {self.device}: {changed}{largest}"
