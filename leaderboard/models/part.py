"""The tables of the parts of runs, which workers lease, and of the rights of programs elsewhere."""

from typing import Any

from django.db import models
from django.utils import timezone

from leaderboard.models.run import LEASE, Run
from probing.plan import Part


class RunPartQuerySet(models.QuerySet["RunPart"]):
    """Leases of parts. Several workers may share a run; the parts of a dead worker become free when the lease ends."""

    def free(self) -> "RunPartQuerySet":
        """Select the parts that wait for a worker: not done, and without a lease or with one that has run out."""
        return self.filter(models.Q(lease_until=None) | models.Q(lease_until__lt=timezone.now()), done=False)

    def claim(self, run: Run, worker: str) -> "RunPart | None":
        """Lease the next free part to `worker` and count an attempt; return None if no part is free."""
        for part in self.free().filter(run=run).order_by("pk"):
            lease = {"worker": worker, "lease_until": timezone.now() + LEASE}
            if self.free().filter(pk=part.pk).update(**lease, attempts=models.F("attempts") + 1):
                part.refresh_from_db()
                return part
        return None

    def renew(self, part: "RunPart", items_done: int) -> bool:
        """Extend the lease and record the progress; return False if the run ended or another worker has the part."""
        going_on = self._leased(part).exclude(run__state__in=(*Run.FINAL, Run.State.WAITING))
        return bool(going_on.update(lease_until=timezone.now() + LEASE, items_done=items_done))

    def finish(self, part: "RunPart", record: dict[str, Any]) -> bool:
        """Mark a part as done, once its rows are stored; return False if another worker has the part now."""
        done = {"done": True, "items_done": part.items, "lease_until": None, "record": record}
        return bool(self._leased(part).update(**done))

    def release(self, part: "RunPart") -> None:
        """End the lease of a part that the worker gives up on purpose; this does not count as an attempt."""
        self._leased(part).update(lease_until=None, items_done=0, attempts=models.F("attempts") - 1)

    def lose(self, part: "RunPart") -> None:
        """End the lease of a part whose process was lost; the attempt counts."""
        self._leased(part).update(lease_until=None, items_done=0)

    def _leased(self, part: "RunPart") -> "RunPartQuerySet":
        """Select the part if the lease is still the one under which `part` was claimed."""
        return self.filter(pk=part.pk, worker=part.worker, attempts=part.attempts, done=False)


class RunPart(models.Model):
    """One relation with one template: the unit that workers lease, compute and store once."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="parts")
    relation = models.CharField(max_length=100)
    template = models.PositiveSmallIntegerField()
    items = models.PositiveIntegerField()
    items_done = models.PositiveIntegerField(default=0)
    work = models.FloatField(default=1, help_text="estimated number of token positions; progress is measured in them")
    done = models.BooleanField(default=False)
    worker = models.CharField(max_length=100, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="how often a worker has started it")
    lease_until = models.DateTimeField(null=True, blank=True)
    record = models.JSONField(default=dict, help_text="how it was made: device, time, positions computed")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the stored rows")
    token = models.ForeignKey(
        "WorkerToken", models.SET_NULL, null=True, blank=True, related_name="parts", help_text="who sent the rows"
    )
    verified = models.BooleanField(default=False, help_text="a trusted worker has measured the part again, equally")

    objects = RunPartQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "relation", "template"], name="one_part_each")]
        indexes = [models.Index(fields=["lease_until"])]  # the parts that workers hold now

    def __str__(self) -> str:
        return f"{self.relation}, template {self.template}"

    @property
    def covered(self) -> Part:
        """The relation, the template and the number of items that the part covers, as the library has them."""
        return Part(self.relation, self.template, self.items)


class WorkerToken(models.Model):
    """The right of a program elsewhere to do one thing at this site. Only a digest of the secret is stored."""

    class Purpose(models.TextChoices):
        WORK = "work", "measures parts of runs"
        PUSH = "push", "pushes results of its own"
        SUBMIT = "submit", "submits models"

    name = models.CharField(max_length=100, unique=True)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the secret")
    purpose = models.CharField(max_length=6, choices=Purpose.choices, default=Purpose.WORK)
    trusted = models.BooleanField(default=False, help_text="its results need no second measurement")
    quota = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="submissions open at a time and within a day; 0: no limit, empty: the usual ones",
    )
    revoked = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
