"""The tables of runs, of their parts, scores and changes of state, and of the workers that have runs.

Every change of a run's state is a queryset method with a conditional UPDATE. The caller whose UPDATE matched the row
makes the transition; all others get False. No other code writes a state.
"""

from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.models.asked import Asked
from leaderboard.models.benchmark import Benchmark
from leaderboard.models.model import Model
from probing.plan import Part


class RunQuerySet(models.QuerySet["Run"]):
    """Changes of a run's state. Each is recorded as an event."""

    def move(self, run: "Run", to: "Run.State", note: str = "", **fields: Any) -> bool:
        """Change the state, together with `fields`; return False if it has changed since `run` was read."""
        with transaction.atomic():
            changed = self.filter(pk=run.pk, state=run.state).update(
                state=to, waiting_work=None, standing_since=None, **fields
            )
            if not changed:
                return False
            run.state = to
            for name, value in fields.items():
                setattr(run, name, value)
            RunEvent.objects.create(run=run, state=to, message=note)
        return True

    def fail(
        self, run: "Run", code: str, message: str, next_step: str = "", traceback: str = "", log: str = ""
    ) -> bool:
        """End the run as failed; `traceback` is for maintainers, `log` holds the last lines of the failed process."""
        failure = {"code": code, "message": message, "next_step": next_step, "traceback": traceback, "log": log}
        return self.move(run, Run.State.FAILED, message, finished=timezone.now(), **failure)

    def cancel(self, run: "Run", note: str) -> bool:
        """End the run as cancelled unless it has ended; a worker that has it notices this within seconds."""
        return run.state not in Run.FINAL and self.move(
            run, Run.State.CANCELLED, note, finished=timezone.now(), message=note
        )

    def put_in(self, run: "Run") -> bool:
        """Note that a queued run stands in RQ from now on; return False if it did already, or is no longer queued."""
        waiting = self.filter(pk=run.pk, state=Run.State.QUEUED, standing_since=None)
        return bool(waiting.update(standing_since=Now()))

    def newest_steps(self) -> "RunQuerySet":
        """Leave out finished runs of which a later step of the same training has finished in the same way.

        Runs of models without a stated step stay. Lists of models call this, so that a model that was measured at many
        steps of its training stands there once.
        """
        later = _same_training().filter(step__gt=models.OuterRef("model__step"))
        return self.filter(models.Q(model__step=None) | ~models.Exists(later))

    def with_earlier_steps(self) -> "RunQuerySet":
        """Annotate each run with `earlier_steps`: how many earlier steps were finished in the same way."""
        earlier = _same_training().filter(step__lt=models.OuterRef("model__step")).order_by().values("hub_id")
        number = earlier.annotate(number=models.Count("step", distinct=True)).values("number")
        return self.annotate(earlier_steps=Coalesce(models.Subquery(number), 0))

    def regroup(self) -> None:
        """Store what sets these runs apart, after a change of their models or of the usual settings."""
        names = ("settings", "items_left_out", "group", "benchmark__probe", "benchmark__settings")
        facts = ("model__parameters", "model__stored_dtype")
        changed = []
        for run in self.select_related("model", "benchmark").only(*names, *facts):
            if run.group != (group := run.group_now()):
                run.group = group
                changed.append(run)
        Run.objects.bulk_update(changed, ["group"], batch_size=500)

    def restart(self, run: "Run") -> bool:
        """Queue an ended run again. Its finished parts and its events are kept."""
        clean = dict.fromkeys(["code", "message", "next_step", "traceback", "log"], "")
        with transaction.atomic():
            run.parts.filter(done=False).update(items_done=0)
            Claim.objects.filter(run=run).update(losses=0)
            return self.move(run, Run.State.QUEUED, "Submitted again.", finished=None, **clean)


def _same_training() -> models.QuerySet[Model]:
    """Return the models of the outer run's training on which the same was measured by the same.

    The search begins with the models, of which there are few, so that it does not look at all runs on the benchmark.
    """
    same = {
        name: models.OuterRef(models.OuterRef(name))
        for name in ("benchmark", "settings_digest", "provenance", "reference")
    }
    measured = Run.objects.filter(model=models.OuterRef("pk"), state=Run.State.FINISHED, **same)
    training = {name: models.OuterRef(f"model__{name}") for name in ("hub_id", "weights_file")}
    return Model.objects.filter(models.Exists(measured), **training)


class Run(Asked, models.Model):
    """A measurement of one model on one benchmark with one set of settings. There are never two of the same."""

    is_published = False

    class State(models.TextChoices):
        QUEUED = "queued"
        DOWNLOADING = "downloading"
        SCORING = "scoring"
        AGGREGATING = "aggregating"
        FINISHED = "finished"
        WAITING = "waiting"
        CANCELLED = "cancelled"
        FAILED = "failed"

    UNSUCCESSFUL = (State.CANCELLED, State.FAILED)
    FINAL = (State.FINISHED, *UNSUCCESSFUL)

    class Provenance(models.TextChoices):
        MEASURED = "measured", "measured here"
        ELSEWHERE = "elsewhere", "measured elsewhere"

    model = models.ForeignKey(Model, models.PROTECT, related_name="runs")
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="runs")
    settings = models.JSONField(default=dict)
    settings_digest = models.CharField(max_length=64)
    group = models.JSONField(
        default=list,
        help_text="what sets it apart from the benchmark's usual runs: pairs of a setting and its choice in words",
    )
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED, db_index=True)
    provenance = models.CharField(max_length=12, choices=Provenance.choices, default=Provenance.MEASURED)
    reference = models.CharField(max_length=300, blank=True, help_text="who measured it elsewhere")
    reference_url = models.URLField(blank=True)
    code = models.CharField(max_length=40, blank=True, help_text="error code of a run that failed, or that waits")
    message = models.TextField(blank=True)
    next_step = models.TextField(blank=True)
    traceback = models.TextField(blank=True, help_text="for the maintainer only")
    log = models.TextField(blank=True, help_text="last lines of the measuring process, without paths and secrets")
    provenance_record = models.JSONField(default=dict, help_text="run.json of the result folder")
    artefact = models.CharField(max_length=200, blank=True, help_text="folder in the artefact storage")
    items_left_out = models.PositiveIntegerField(default=0, help_text="too long for the model")
    submitter = models.CharField(max_length=64, blank=True, db_index=True, help_text="who submitted it")
    rows_digest = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the file of rows, of a result that was measured elsewhere"
    )
    queue = models.CharField(max_length=20, default="measure", help_text="the queue of the workers that measure it")
    standing_since = models.DateTimeField(
        null=True, blank=True, help_text="since when a queued run stands in RQ; empty while it waits for its turn to"
    )
    waiting_work = models.FloatField(
        null=True,
        help_text="the work of a queued run that no worker has begun; None where its parts tell how much is left",
    )
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "benchmark", "settings_digest"], name="one_run_per_question"),
        ]
        indexes = [
            models.Index(fields=["benchmark", "state", "provenance"]),  # the leaderboard's filter
            models.Index(fields=["state", "provenance", "finished"]),  # runs that ended lately
            models.Index(fields=["submitter", "finished"], condition=models.Q(finished__isnull=False), name="served"),
        ]

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}"

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        """Store the row with what sets it apart."""
        self.group = self.group_now()
        fields = None if update_fields is None else {*update_fields, "group"}
        super().save(*args, update_fields=fields, **options)

    def get_absolute_url(self) -> str:
        return self._address

    @cached_property
    def _address(self) -> str:
        return run_url(self.pk)

    @property
    def source(self) -> str:
        """What its figures come from: that it was measured here, or who measured it elsewhere."""
        label = Run.Provenance(self.provenance).label.lower()
        return f"{label}: {self.reference}" if self.reference else label

    @property
    def citation(self) -> str:
        """Who measured it elsewhere, as lists cite it."""
        return self.reference


def run_url(number: int) -> str:
    """Return the address of a run's page."""
    return _run_url(number, get_script_prefix())


@lru_cache(maxsize=2**14)  # a chart has a thousand of them
def _run_url(number: int, prefix: str) -> str:
    return reverse("run", args=[number])


class RunEvent(models.Model):
    """A change of a run's state, for the history on its page. Events are added, never changed."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    time = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=12, choices=Run.State.choices)
    message = models.TextField(blank=True)
    worker = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.state}: {self.message}"


# The table of the workers that have runs.


STALE = timedelta(seconds=30)  # without a report of its worker, after which a run may be taken by another one


class ClaimQuerySet(models.QuerySet["Claim"]):
    """Claims of runs. All times are those of the database, so that no clock of a worker matters."""

    def fresh(self) -> "ClaimQuerySet":
        """Select the claims of workers that have reported lately."""
        return self.filter(seen__gt=Now() - STALE).exclude(worker="")

    def take(self, run: Run, worker: str) -> "Claim | None":
        """Give a run to a worker and count the attempt; return None if another worker has it."""
        self.get_or_create(run=run)
        free = models.Q(worker="") | models.Q(seen=None) | models.Q(seen__lte=Now() - STALE)
        taken = {"worker": worker, "seen": Now(), "number": F("number") + 1, "losses": F("losses") + 1}
        if not self.filter(free, run=run).update(**taken):
            return None
        return self.get(run=run)

    def renew(self, claim: "Claim") -> bool:
        """Report that its worker is alive; return False if the run was given to another one, or has ended or waits."""
        going_on = self._held(claim).exclude(run__state__in=(*Run.FINAL, Run.State.WAITING))
        return bool(going_on.update(seen=Now()))

    def count_loss(self, claim: "Claim") -> None:
        """Count a process that was lost although its worker goes on."""
        self._held(claim).update(losses=F("losses") + 1)

    def release(self, claim: "Claim") -> None:
        """Free a run that its worker is done with, at least for now; this is no loss."""
        self._held(claim).update(worker="", seen=None, losses=F("losses") - 1)

    def release_of(self, worker: str, lost: bool) -> None:
        """Free the run of a worker whose process was ended; `lost`: not on purpose, which counts towards a failure."""
        self.filter(worker=worker).update(worker="", seen=None, losses=F("losses") - (0 if lost else 1))

    def _held(self, claim: "Claim") -> "ClaimQuerySet":
        return self.filter(run=claim.run_id, number=claim.number).exclude(worker="")


class Claim(models.Model):
    """Which worker has a run. It is no field of the run, because it changes every few seconds, and pages show runs.

    A worker that lost its claim, because it was silent for too long, has an older `number` than the claim has now, and
    everything that it still tries to store for the run is refused.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="claim")
    worker = models.CharField(max_length=100, blank=True, help_text="empty while no worker has the run")
    number = models.PositiveIntegerField(default=0, help_text="how often a worker has taken the run")
    losses = models.SmallIntegerField(default=0, help_text="workers that took it since its last part and were lost")
    seen = models.DateTimeField(null=True, blank=True, help_text="last report of its worker")

    objects = ClaimQuerySet.as_manager()


# The table of the parts of runs.


class RunPartQuerySet(models.QuerySet["RunPart"]):
    """Changes of parts by the worker that has their run; `claim` is its claim."""

    def progress(self, part: "RunPart", claim: Claim, items_done: int) -> None:
        """Record how many items of a part are done."""
        self._undone(part, claim).update(items_done=items_done)

    def finish(self, part: "RunPart", claim: Claim, record: dict[str, Any], accuracy: float | None = None) -> bool:
        """Mark a part as done, once its rows are stored; return False if another worker has the run now."""
        done = {"done": True, "items_done": part.items, "record": record, "attempt": claim.number, "accuracy": accuracy}
        with transaction.atomic():
            if not self._undone(part, claim).update(**done):
                return self.filter(pk=part.pk, done=True, attempt=claim.number).exists()  # the confirmation was lost
            Claim.objects.filter(run=part.run_id).update(losses=1)  # this worker, as long as it is not lost
        return True

    def _undone(self, part: "RunPart", claim: Claim) -> "RunPartQuerySet":
        held = Claim.objects.filter(run=part.run_id, number=claim.number).exclude(worker="")
        return self.filter(models.Exists(held), pk=part.pk, done=False)


class RunPart(models.Model):
    """One relation with one template: what is computed and stored once, however often a run is begun."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="parts")
    relation = models.CharField(max_length=100)
    template = models.PositiveSmallIntegerField()
    items = models.PositiveIntegerField()
    items_done = models.PositiveIntegerField(default=0)
    work = models.FloatField(default=1, help_text="estimated number of token positions; progress is measured in them")
    done = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0, help_text="the number of the claim under which it was measured")
    record = models.JSONField(default=dict, help_text="how it was made: device, time, positions computed")
    accuracy = models.FloatField(null=True, help_text="share of right answers, where answers are right or wrong")

    objects = RunPartQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "relation", "template"], name="one_part_each")]

    def __str__(self) -> str:
        return f"{self.relation}, template {self.template}"

    @property
    def covered(self) -> Part:
        """The relation, the template and the number of items that the part covers, as the library has them."""
        return Part(self.relation, self.template, self.items)


# The table of scores.


class Score(models.Model):
    """One tidy score, with the same columns as every scores.csv.

    `low` and `high` hold for the relations that were asked, `cluster_low` and `cluster_high` for relations like these.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=50)
    dimension = models.CharField(max_length=50)
    group = models.CharField(max_length=200)
    value = models.FloatField(null=True)
    n = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    cluster_low = models.FloatField(null=True)
    cluster_high = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "metric", "dimension", "group"], name="one_score_each"),
        ]
        indexes = [
            # Lists compare one figure of all runs; the index has all of it, so that it is read in one piece.
            models.Index(
                fields=["dimension", "group", "metric", "run", "value", "low", "high", "n"], name="one_figure"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.dimension}={self.group}: {self.value}"
