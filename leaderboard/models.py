"""The tables: what was measured, on what, when, and what came out.

State changes are queryset methods with a conditional UPDATE: whoever changes the row has won, and no state is
written from anywhere else.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.changed_settings import PART, differences
from probing.analysis.comparison import Correctness
from probing.probes import probe_named
from probing.settings import Settings

LEASE = timedelta(seconds=30)


class Model(models.Model):
    """A language model at one commit. Published figures have no commit and the source "published"."""

    class Source(models.TextChoices):
        HUB = "hub", "Hugging Face Hub"
        LOCAL = "local", "local folder"
        PUBLISHED = "published", "published figures only"

    hub_id = models.CharField(max_length=200, db_index=True, help_text="org/name, as the hub spells it")
    commit = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=10, blank=True, choices=[("causal", "causal"), ("masked", "masked")])
    parameters = models.BigIntegerField(null=True, blank=True)
    architecture = models.CharField(max_length=100, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    gated = models.BooleanField(default=False)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.HUB)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["hub_id", "commit", "source"], name="one_model_per_commit")]

    def __str__(self) -> str:
        return f"{self.hub_id}@{self.commit[:7]}" if self.commit else self.hub_id

    def get_absolute_url(self) -> str:
        org, name = self.hub_id.split("/", 1)
        return reverse("model", args=[org, name])


class Benchmark(models.Model):
    """One version of a benchmark; scores of different versions never share a column."""

    slug = models.SlugField()
    version = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    format = models.CharField(max_length=30)
    probe = models.CharField(max_length=30)
    settings = models.JSONField(default=dict, help_text="what a run uses unless told otherwise")
    citation = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    source = models.URLField(blank=True)
    path = models.CharField(max_length=500, help_text="folder below CLOZEBOARD_DATA; empty if the files are not here")
    relations = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    current = models.BooleanField(default=True, help_text="the version that new runs use and pages show")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slug", "version"], name="one_benchmark_per_version"),
            models.UniqueConstraint(fields=["slug"], condition=models.Q(current=True), name="one_current_version"),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("benchmark", args=[self.slug])

    @property
    def main_metric(self) -> str:
        """The metric of its probe that models are ranked by."""
        return probe_named(self.probe).main_metric

    @property
    def correctness(self) -> Correctness:
        """What its probe's figures count."""
        return probe_named(self.probe).correctness

    def settings_with(self, options: Mapping[str, Any]) -> Settings:
        """What a run uses, with these options of the probe over the usual ones."""
        usual = Settings.from_json({**self.settings, "probe": self.probe, **probe_named(self.probe).fixed})
        return replace(usual, options={**usual.options, **options})


class RunQuerySet(models.QuerySet["Run"]):
    """Every change of a run's state, each with its event."""

    def move(self, run: "Run", to: "Run.State", note: str = "", **fields: Any) -> bool:
        """Change the state unless somebody else has since `run` was read; True for the winner."""
        with transaction.atomic():
            changed = self.filter(pk=run.pk, state=run.state).update(state=to, **fields)
            if not changed:
                return False
            run.state = to
            for name, value in fields.items():
                setattr(run, name, value)
            RunEvent.objects.create(run=run, state=to, message=note)
        return True

    def fail(self, run: "Run", code: str, message: str, next_step: str = "", traceback: str = "") -> bool:
        """End the run with a code, a sentence for everybody and what to do next."""
        failure = {"code": code, "message": message, "next_step": next_step, "traceback": traceback}
        return self.move(run, Run.State.FAILED, message, finished=timezone.now(), **failure)

    def cancel(self, run: "Run", note: str) -> bool:
        """End the run unless it has ended; its workers stop after the part in hand."""
        return run.state not in Run.FINAL and self.move(
            run, Run.State.CANCELLED, note, finished=timezone.now(), message=note
        )

    def restart(self, run: "Run") -> bool:
        """Queue an ended run again; its finished parts and its history are kept."""
        clean = dict.fromkeys(["code", "message", "next_step", "traceback"], "")
        with transaction.atomic():
            run.parts.filter(done=False).update(attempts=0, lease_until=None, items_done=0)
            return self.move(run, Run.State.QUEUED, "Submitted again.", finished=None, **clean)


class Run(models.Model):
    """One model on one benchmark with one set of settings; never two of the same."""

    class State(models.TextChoices):
        CHECKING = "checking"
        QUEUED = "queued"
        DOWNLOADING = "downloading"
        SCORING = "scoring"
        AGGREGATING = "aggregating"
        FINISHED = "finished"
        WAITING = "waiting"
        CANCELLED = "cancelled"
        FAILED = "failed"

    FINAL = (State.FINISHED, State.CANCELLED, State.FAILED)

    class Provenance(models.TextChoices):
        MEASURED = "measured", "measured here"
        PUBLISHED = "published"
        THIRD_PARTY = "third-party", "uploaded by a third party"
        BASELINE = "baseline"

    model = models.ForeignKey(Model, models.PROTECT, related_name="runs")
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="runs")
    settings = models.JSONField(default=dict)
    settings_digest = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices, default=State.CHECKING, db_index=True)
    provenance = models.CharField(max_length=12, choices=Provenance.choices, default=Provenance.MEASURED)
    reference = models.CharField(max_length=300, blank=True, help_text="where a published figure stands")
    reference_url = models.URLField(blank=True)
    code = models.CharField(max_length=40, blank=True, help_text="of the failure")
    message = models.TextField(blank=True)
    next_step = models.TextField(blank=True)
    traceback = models.TextField(blank=True, help_text="for the maintainer only")
    provenance_record = models.JSONField(default=dict, help_text="run.json of the result folder")
    artefact = models.CharField(max_length=200, blank=True, help_text="folder in the artefact storage")
    submitter = models.CharField(max_length=64, blank=True, db_index=True, help_text="who asked for it")
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    # Whether the model was measured at several commits on this benchmark, where a query says so.
    several_commits = False

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "benchmark", "settings_digest"], name="one_run_per_question"),
        ]
        indexes = [models.Index(fields=["benchmark", "state", "provenance"])]  # the leaderboard's filter

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def is_published(self) -> bool:
        """Tell whether its figures come from a paper."""
        return self.provenance == Run.Provenance.PUBLISHED

    def option(self, name: str, default: Any = None) -> Any:
        """Return one of the options of its probe."""
        return {**self.settings, **self.settings.get("options", {})}.get(name, default)

    @cached_property
    def differences(self) -> dict[str, str]:
        """Settings other than the benchmark's usual ones."""
        return differences(self.settings, self.benchmark.settings_with({}))

    @property
    def variant(self) -> str:
        """What sets it apart from other runs of its model."""
        commit = [f"commit {self.model.commit[:7]}"] if self.several_commits and self.model.commit else []
        return ", ".join([*(f"{name} {value}" for name, value in self.differences.items()), *commit])

    @property
    def asks_a_part(self) -> bool:
        """Whether it was asked other items than usual, so that its figures stand beside those of others unranked."""
        return not PART.isdisjoint(self.differences)

    @property
    def name(self) -> str:
        return f"{self.model.hub_id} ({self.variant})" if self.variant else self.model.hub_id


class RunPartQuerySet(models.QuerySet["RunPart"]):
    """Claiming parts: several workers may share a run, and a dead worker's parts come back by themselves."""

    def free(self) -> "RunPartQuerySet":
        """Parts that wait for a worker: not done and not under a living lease."""
        return self.filter(models.Q(lease_until=None) | models.Q(lease_until__lt=timezone.now()), done=False)

    def claim(self, run: Run, worker: str) -> "RunPart | None":
        """The next free part, now leased to `worker`; the attempt counts until the part is given back."""
        for part in self.free().filter(run=run).order_by("pk"):
            lease = {"worker": worker, "lease_until": timezone.now() + LEASE}
            if self.free().filter(pk=part.pk).update(**lease, attempts=models.F("attempts") + 1):
                part.refresh_from_db()
                return part
        return None

    def renew(self, part: "RunPart", items_done: int) -> bool:
        """Extend the lease and record progress; False if another worker has the part now."""
        return bool(self._mine(part).update(lease_until=timezone.now() + LEASE, items_done=items_done))

    def finish(self, part: "RunPart", record: dict[str, Any]) -> bool:
        """The part's rows are stored; False if another worker has the part now."""
        done = {"done": True, "items_done": part.items, "lease_until": None, "record": record}
        return bool(self._mine(part).update(**done))

    def release(self, part: "RunPart") -> None:
        """Give the part back unharmed: the worker stopped of its own will, which is no failed attempt."""
        self._mine(part).update(lease_until=None, items_done=0, attempts=models.F("attempts") - 1)

    def _mine(self, part: "RunPart") -> "RunPartQuerySet":
        return self.filter(pk=part.pk, worker=part.worker, attempts=part.attempts, done=False)


class RunPart(models.Model):
    """One relation with one template: the unit that is claimed, stored and never repeated."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="parts")
    relation = models.CharField(max_length=100)
    template = models.PositiveSmallIntegerField()
    items = models.PositiveIntegerField()
    items_done = models.PositiveIntegerField(default=0)
    work = models.FloatField(default=1, help_text="about how many token positions it takes; what progress goes by")
    done = models.BooleanField(default=False)
    worker = models.CharField(max_length=100, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="how often a worker has begun it")
    lease_until = models.DateTimeField(null=True, blank=True)
    record = models.JSONField(default=dict, help_text="how it was made: device, time, positions computed")

    objects = RunPartQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "relation", "template"], name="one_part_each")]

    def __str__(self) -> str:
        return f"{self.relation}, template {self.template}"


class RunEvent(models.Model):
    """What happened to a run; only ever added to. Pages show a run's history from here."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    time = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=12, choices=Run.State.choices)
    message = models.TextField(blank=True)
    worker = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.state}: {self.message}"


class Score(models.Model):
    """One tidy score: the same columns as every scores.csv."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=50)
    dimension = models.CharField(max_length=50)
    group = models.CharField(max_length=200)
    value = models.FloatField(null=True)
    n = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "metric", "dimension", "group"], name="one_score_each"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.dimension}={self.group}: {self.value}"
