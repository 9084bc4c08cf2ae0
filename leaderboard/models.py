"""The database tables: models, benchmarks, runs with their parts and events, and scores.

Every change of a run's state is a queryset method with a conditional UPDATE. The caller whose UPDATE matched the row
makes the transition; all others get False. No other code writes a state.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.changed_settings import differences, plan, settings_group
from leaderboard.former_names import FormerName  # noqa: F401, so that Django finds the table here
from leaderboard.question_tables import RelationCounts, RelationOutcomes  # noqa: F401, so that Django finds them here
from leaderboard.rank_tables import ItemFigures, ItemSet, RunRank  # noqa: F401, so that Django finds the tables here
from probing.analysis.comparison import Correctness
from probing.kinds import KINDS
from probing.probes import probe_named
from probing.probes.probe import declared_options, offered_options, refuse_unknown
from probing.settings import SETTINGS, Settings

LEASE = timedelta(seconds=30)  # how long a part stays with a worker that gives no sign of life


class Model(models.Model):
    """A language model at one commit.

    A local model has the SHA-256 of its files in place of a commit. Models that are known only from published figures
    have none and the source "published".
    """

    class Source(models.TextChoices):
        HUB = "hub", "Hugging Face Hub"
        LOCAL = "local", "local folder"
        PUBLISHED = "published", "published figures only"

    hub_id = models.CharField(max_length=200, db_index=True, help_text="org/name, as the hub spells it")
    printed_name = models.CharField(max_length=200, blank=True, help_text="as named in the paper; empty for hub models")
    commit = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=20, blank=True, choices=[(kind, kind) for kind in KINDS])
    parameters = models.BigIntegerField(null=True, blank=True)
    weight_bytes = models.BigIntegerField(null=True, blank=True, help_text="size of the files of weights")
    stored_dtype = models.CharField(max_length=20, blank=True, help_text="number format of most of the stored weights")
    weights_file = models.CharField(
        max_length=200, blank=True, help_text="name of the GGUF file, if the weights are one"
    )
    quantisation = models.CharField(max_length=20, blank=True, help_text="that the GGUF file states, such as Q4_1")
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

    @property
    def weights_in_words(self) -> str:
        """What sets these weights apart from those that the hub has under the same id; empty for those."""
        place = "local file" if self.source == Model.Source.LOCAL else ""
        return ", ".join(filter(None, [self.quantisation, "GGUF", place])) if self.weights_file else ""

    @property
    def version_in_words(self) -> str:
        """The commit, or the hash of a local model's files, in short; empty where neither is stored."""
        kind = "content hash" if self.source == Model.Source.LOCAL else "commit"
        return f"{kind} {self.commit[:7]}" if self.commit else ""

    @property
    def title(self) -> str:
        """Its id, or the name that its paper prints where no model of the hub is known to be meant."""
        return self.printed_name or self.hub_id


class Benchmark(models.Model):
    """One version of a benchmark. Scores of different versions never share a column."""

    slug = models.SlugField()
    version = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    format = models.CharField(max_length=30)
    probe = models.CharField(max_length=30)
    settings = models.JSONField(default=dict, help_text="settings of a run unless others are chosen")
    citation = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    source = models.URLField(blank=True)
    path = models.CharField(max_length=500, help_text="folder below CLOZEBOARD_DATA; empty if the files are not here")
    relations = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    work = models.FloatField(null=True, help_text="expected token positions of a usual run; None if not estimated")
    smallest_difference = models.JSONField(
        default=dict, help_text="that measured runs can tell apart; empty if fewer than two were measured"
    )
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
    def correctness(self) -> Correctness:
        """The way in which the benchmark's probe decides which items are right."""
        return probe_named(self.probe).correctness

    @property
    def main_metric(self) -> str:
        """The metric by which the benchmark's probe ranks models."""
        return probe_named(self.probe).main_metric

    @property
    def plan(self) -> str:
        """The settings of a run unless others are chosen, in words."""
        return plan(self.settings_with({}))

    def settings_with(self, chosen: Mapping[str, Any]) -> Settings:
        """Return the settings of a run where these settings and options of the probe are chosen, by name.

        The others are the benchmark's usual ones. Raises `BadInput` if something is chosen that is not offered, or has
        a value that is not accepted.
        """
        probe = probe_named(self.probe)
        offered = offered_options(probe)
        refuse_unknown(chosen, offered, f"Benchmark {self.slug}")
        values = {name: offered[name].check(value) for name, value in chosen.items()}
        usual = Settings.from_json({**self.settings, "probe": self.probe, **probe.fixed})
        settings = {name: value for name, value in values.items() if name in SETTINGS}
        options = {name: value for name, value in values.items() if name not in SETTINGS}
        return replace(usual, **settings, options={**usual.options, **options})


class RunQuerySet(models.QuerySet["Run"]):
    """Changes of a run's state. Each is recorded as an event."""

    def move(self, run: "Run", to: "Run.State", note: str = "", **fields: Any) -> bool:
        """Change the state, together with `fields`; return False if it has changed since `run` was read."""
        with transaction.atomic():
            changed = self.filter(pk=run.pk, state=run.state).update(state=to, **fields)
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
        """End the run as cancelled unless it has ended; its workers stop after the parts that they hold."""
        return run.state not in Run.FINAL and self.move(
            run, Run.State.CANCELLED, note, finished=timezone.now(), message=note
        )

    def claim_finish(self, run: "Run") -> bool:
        """Lease a run whose parts are all done to the worker that finishes it; return False if another has it."""
        now = timezone.now()
        free = models.Q(finishing_until=None) | models.Q(finishing_until__lt=now)
        return bool(self.filter(free, pk=run.pk).update(finishing_until=now + LEASE))

    def renew_finish(self, run: "Run") -> None:
        self.filter(pk=run.pk).exclude(finishing_until=None).update(finishing_until=timezone.now() + LEASE)

    def release_finish(self, run: "Run") -> None:
        self.filter(pk=run.pk).update(finishing_until=None)

    def restart(self, run: "Run") -> bool:
        """Queue an ended run again. Its finished parts and its events are kept."""
        clean = dict.fromkeys(["code", "message", "next_step", "traceback", "log"], "")
        with transaction.atomic():
            run.parts.filter(done=False).update(attempts=0, lease_until=None, items_done=0)
            return self.move(run, Run.State.QUEUED, "Submitted again.", finished=None, **clean)


class Run(models.Model):
    """A measurement of one model on one benchmark with one set of settings. There are never two of the same."""

    class State(models.TextChoices):
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
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED, db_index=True)
    provenance = models.CharField(max_length=12, choices=Provenance.choices, default=Provenance.MEASURED)
    reference = models.CharField(max_length=300, blank=True, help_text="place of the published figures in their source")
    reference_url = models.URLField(blank=True)
    code = models.CharField(max_length=40, blank=True, help_text="error code of a failed run")
    message = models.TextField(blank=True)
    next_step = models.TextField(blank=True)
    traceback = models.TextField(blank=True, help_text="for the maintainer only")
    log = models.TextField(blank=True, help_text="last lines of the measuring process, without paths and secrets")
    provenance_record = models.JSONField(default=dict, help_text="run.json of the result folder")
    artefact = models.CharField(max_length=200, blank=True, help_text="folder in the artefact storage")
    submitter = models.CharField(max_length=64, blank=True, db_index=True, help_text="who submitted it")
    lane = models.CharField(max_length=20, default="default", help_text="the queue that it waits in")
    finishing_until = models.DateTimeField(null=True, blank=True, help_text="lease of the worker that finishes it")
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

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

    @cached_property
    def differences(self) -> dict[str, str]:
        """The settings that differ from the benchmark's usual ones, by name, each with its value in words."""
        return _differences(self.benchmark.probe, json.dumps([self.settings, self.benchmark.settings]))

    @cached_property
    def settings_group(self) -> str:
        """What sets it apart from the runs with the usual settings, in words; runs are ranked within their group."""
        return self.group_without(())

    def group_without(self, names: Collection[str]) -> str:
        """Return what sets it apart besides the settings and options of these names."""
        changed = {name: words for name, words in self.differences.items() if name not in names}
        return settings_group(changed, self.settings, self.model.parameters, self.model.stored_dtype)

    def settings_without(self, names: Collection[str]) -> dict[str, Any]:
        """Return its settings with the usual value for the settings and options of these names."""
        options = {name: value for name, value in self.settings.get("options", {}).items() if name not in names}
        settings = {name: value for name, value in self.settings.items() if name not in (*names, "options")}
        return {**settings, "options": options} if options else settings

    @property
    def several_commits(self) -> bool:
        """Tell whether the query that read the run found its model measured on the benchmark at other commits too."""
        return bool(getattr(self, "has_other_commits", False))

    @property
    def variant(self) -> str:
        """What distinguishes it from other runs of its model: weights, settings, and if need be the commit."""
        version = self.model.version_in_words if self.several_commits else ""
        return ", ".join(filter(None, [self.model.weights_in_words, *self.differences.values(), version]))

    def option(self, name: str, default: Any = None) -> Any:
        """Return an option of the probe; `default` where it is neither stored nor declared by the probe."""
        declared = declared_options(probe_named(self.benchmark.probe))
        values = {option.name: option.default for option in declared.values()} | self.settings.get("options", {})
        return values.get(name, default)

    @property
    def name(self) -> str:
        return f"{self.model.title} ({self.variant})" if self.variant else self.model.title


@lru_cache(maxsize=1024)
def _differences(probe: str, settings: str) -> dict[str, str]:
    """Return `Run.differences` for the settings of a run and those of its benchmark, as JSON; most runs share both."""
    own, usual = json.loads(settings)
    return differences(own, Benchmark(probe=probe, settings=usual).settings_with({}))


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

    def __str__(self) -> str:
        return f"{self.relation}, template {self.template}"


class WorkerToken(models.Model):
    """The right of a worker elsewhere to measure for this site over HTTP. Only a digest of the secret is stored."""

    name = models.CharField(max_length=100, unique=True)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the secret")
    trusted = models.BooleanField(default=False, help_text="its results need no second measurement")
    revoked = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


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

    def __str__(self) -> str:
        return f"{self.metric} {self.dimension}={self.group}: {self.value}"
