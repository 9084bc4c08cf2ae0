"""Every list that a page shows. The number of queries never depends on the number of rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Benchmark, Model, Run, Score
from probing.analysis.cloze import CELL
from probing.analysis.culture import CROSSED

STATE = Run.State
WORKING = (STATE.DOWNLOADING, STATE.SCORING, STATE.AGGREGATING)
OPEN = (STATE.CHECKING, STATE.QUEUED, *WORKING, STATE.WAITING)

# The metric of the main column, where it is not accuracy: by benchmark where it has its own, else by probe.
HEADLINES = {
    "trex": "relative_accuracy_lm_pub_quiz",
    "ranking": "p_at_1",
    "specificity": "specificity",
    "perplexity": "superiority",
    "similarity": "relatedness",
}


# What stands beside it on the leaderboard, by probe.
BESIDE = {"cloze": ("in_top_1", "in_top_10", "in_near_1", "in_near_15"), "perplexity": ("cohens_d", "log10_p_median")}
# The dimensions whose groups are columns of the leaderboard unless others are chosen, by probe.
SHOWN = {"cloze": ("head",), "ranking": ("culture_pair",)}
# What is counted, where it depends on the model how many items count, and which do.
COUNTED = {"specificity": ("Pairs", "Those whose answers are single tokens of the model; compare runs on common ones.")}
NAMED = 10  # models that a search shows beside those of its own benchmark
# The version of figures that were printed without saying which files they are about.
ANY_VERSION = "published"


def headline(benchmark: Benchmark) -> str:
    """The one metric that a benchmark is ranked by."""
    return HEADLINES.get(benchmark.slug) or paired_metric(benchmark)


def paired_metric(benchmark: Benchmark) -> str:
    """What runs are compared by, item by item: its probe's metric."""
    return HEADLINES.get(benchmark.probe, "accuracy")


@dataclass(frozen=True, order=True)
class Slice:
    """One group of one dimension, written dimension:group in a query string."""

    dimension: str
    group: str

    def __str__(self) -> str:
        return f"{self.dimension}:{self.group}"

    @classmethod
    def parse(cls, text: str) -> "Slice":
        dimension, _, group = text.partition(":")
        return cls(dimension, group)


OVERALL = Slice("overall", "all")


def benchmarks() -> QuerySet[Benchmark]:
    """Current versions with the numbers of models measured here and published; the most measured first."""
    measured = Q(runs__state=STATE.FINISHED, runs__provenance=Run.Provenance.MEASURED)
    same = Q(benchmark=OuterRef("pk")) | Q(benchmark__slug=OuterRef("slug"), benchmark__version=ANY_VERSION)
    published = Run.objects.filter(same, state=STATE.FINISHED, provenance=Run.Provenance.PUBLISHED)
    counted = published.values("provenance").annotate(number=Count("model__hub_id", distinct=True)).values("number")
    starter_first = Case(When(slug="starter", then=Value(0)), default=Value(1), output_field=IntegerField())
    return (
        Benchmark.objects.filter(current=True)
        .annotate(
            measured=Count("runs__model__hub_id", measured, distinct=True),
            published=Coalesce(Subquery(counted), 0),
        )
        .order_by("-measured", starter_first, "-published", "slug")
    )


def finished_runs(benchmark: Benchmark) -> QuerySet[Run]:
    """Of this version, and what was published about no version in particular."""
    same = Q(benchmark=benchmark) | Q(benchmark__slug=benchmark.slug, benchmark__version=ANY_VERSION)
    return _told_apart(Run.objects.filter(same, state=STATE.FINISHED))


def _told_apart(runs: QuerySet[Run]) -> QuerySet[Run]:
    """With whether a model has several commits among the finished runs of a benchmark."""
    finished = Run.objects.filter(state=STATE.FINISHED, benchmark=OuterRef("benchmark"))
    others = finished.filter(model__hub_id=OuterRef("model__hub_id")).exclude(model=OuterRef("model"))
    commits = others.exclude(model__commit="")
    return runs.annotate(several_commits=Exists(commits)).select_related("model", "benchmark")


def runs_beside(run: Run) -> list[Run]:
    """This run and the other finished ones of its model on its benchmark, whatever their settings."""
    return list(finished_runs(run.benchmark).filter(model__hub_id=run.model.hub_id).order_by("pk"))


def figures(runs: Iterable[Run]) -> dict[int, dict[tuple[str, str], Score]]:
    """By run, then by metric and group, the scores of relations and overall. One query."""
    found: dict[int, dict[tuple[str, str], Score]] = {run.pk: {} for run in runs}
    scores = Score.objects.filter(run__in=found, dimension__in=("relation", OVERALL.dimension)).order_by("pk")
    for score in scores:
        found[score.run_id][score.metric, score.group] = score
    return found


def measured_runs() -> QuerySet[Run]:
    """Every finished run that was measured here, the newest first."""
    runs = Run.objects.filter(state=STATE.FINISHED, provenance=Run.Provenance.MEASURED)
    return _told_apart(runs).order_by("-finished", "-pk")


def slices(benchmark: Benchmark) -> list[Slice]:
    """The groups that can be columns: those of any run measured here, or else published."""
    found = Score.objects.filter(run__in=finished_runs(benchmark), metric=headline(benchmark))
    found = found.exclude(dimension__in=(OVERALL.dimension, *TOO_FINE))
    measured = found.filter(run__provenance=Run.Provenance.MEASURED)
    chosen = measured if measured.exists() else found
    groups = chosen.values_list("dimension", "group").annotate(first=Min("pk")).order_by("first")
    return sorted((Slice(dimension, group) for dimension, group, _ in groups), key=lambda part: place(part.dimension))


@dataclass(frozen=True)
class Group:
    """What was measured in one group of a dimension, by metric; `main` is the headline metric's."""

    name: str
    scores: Mapping[str, Score]
    main: Score | None


def breakdowns(run: Run, scores: Iterable[Score]) -> dict[str, list[Group]]:
    """Every dimension but overall with its groups, the best first; templates keep their order.

    Relations and templates come last: they are the longest and the least telling.
    """
    found: dict[str, dict[str, dict[str, Score]]] = {}
    for score in scores:
        if score.dimension not in (OVERALL.dimension, *IN_SECTIONS):
            found.setdefault(score.dimension, {}).setdefault(score.group, {})[score.metric] = score
    return {name: _groups(run, name, found[name]) for name in sorted(found, key=place)}


# Tags crossed with each other and repetitions, for which a probe's own sections have better tables.
IN_SECTIONS = {*CROSSED, CELL, "repetition"} - {"relation_culture"}
# Of these, what has too many groups to choose columns from.
TOO_FINE = {CELL, *(name for name in IN_SECTIONS & set(CROSSED) if "relation" in CROSSED[name])}
LAST = ("relation", "template")


def place(dimension: str) -> int:
    """Where a dimension stands on a page: tags first, in stored order."""
    return LAST.index(dimension) if dimension in LAST else -1


def _groups(run: Run, dimension: str, found: Mapping[str, dict[str, Score]]) -> list[Group]:
    metric = headline(run.benchmark)
    groups = [Group(name, scores, scores.get(metric)) for name, scores in found.items()]
    return groups if dimension == "template" else sorted(groups, key=_best_first)


def _best_first(group: Group) -> tuple[bool, float]:
    value = group.main.value if group.main else None
    return (value is None, -(value or 0.0))


def groups(run: Run) -> list[tuple[str, str]]:
    """The dimensions and groups in which a run has scores, in stored order."""
    pairs = run.scores.order_by("pk").values_list("dimension", "group")
    return list(dict.fromkeys(pairs))


def group_url(benchmark: Benchmark, dimension: str, group: str) -> str:
    """The page of a group that has one: relations do, where the benchmark's files are here."""
    return reverse("relation", args=[benchmark.slug, group]) if dimension == "relation" and benchmark.path else ""


def slice_scores(benchmark: Benchmark, dimension: str, group: str) -> list[Score]:
    """The main metric of every finished run in one slice, best first."""
    runs = {run.pk: run for run in finished_runs(benchmark)}
    found = Score.objects.filter(run__in=runs, metric=headline(benchmark), dimension=dimension, group=group)
    scores = list(found.order_by(F("value").desc(nulls_last=True), "run__model__hub_id"))
    for score in scores:
        score.run = runs[score.run_id]
    return scores


def best_runs(benchmark: Benchmark, runs: int) -> list[Score]:
    """The overall scores of the best measured runs."""
    scores = slice_scores(benchmark, OVERALL.dimension, OVERALL.group)
    return [score for score in scores if score.run.provenance == Run.Provenance.MEASURED][:runs]


def overall_scores(runs: Iterable[Run]) -> dict[int, Score]:
    """By run, the main metric overall."""
    metric = {run.pk: headline(run.benchmark) for run in runs}
    found = Score.objects.filter(run__in=metric, dimension=OVERALL.dimension, group=OVERALL.group)
    return {score.run_id: score for score in found if score.metric == metric[score.run_id]}


def best_by_group(benchmark: Benchmark, dimension: str) -> dict[str, Score]:
    """For each group the best score of a run that was measured here."""
    runs = finished_runs(benchmark).filter(provenance=Run.Provenance.MEASURED)
    found = Score.objects.filter(run__in=runs, metric=headline(benchmark), dimension=dimension)
    best_last = found.exclude(value=None).order_by("value").select_related("run__model")
    return {score.group: score for score in best_last}


def model_versions(hub_id: str) -> QuerySet[Model]:
    """Every commit of a model, the newest first, then what only has published figures."""
    published_last = Case(When(source=Model.Source.PUBLISHED, then=1), default=0)
    return Model.objects.filter(hub_id=hub_id).order_by(published_last, "-created", "-pk")


def models_named(part: str) -> list[Model]:
    """Models with finished runs on any benchmark whose id has this in it, each once, ten at most."""
    shown = Run.objects.filter(state=STATE.FINISHED).exclude(provenance=Run.Provenance.BASELINE)
    found = Model.objects.filter(hub_id__icontains=part, runs__in=shown)
    newest = found.values("hub_id").annotate(newest=Max("pk")).values("newest")
    return list(Model.objects.filter(pk__in=newest).order_by("hub_id")[:NAMED])


def model_runs(hub_id: str) -> QuerySet[Run]:
    runs = Run.objects.filter(model__hub_id=hub_id).select_related("model", "benchmark")
    return runs.order_by("benchmark__slug", "-created", "-pk")


@dataclass(frozen=True)
class Progress:
    """How far a run is: items, and the share of the work that they are.

    `rate` is in items per second, on average over those to come; `left` is None while nothing is known.
    """

    done: int
    total: int
    share: float
    rate: float | None = None
    left: timedelta | None = None

    @property
    def percent(self) -> int:
        """Whole percent, never rounded up to 100 but from what floats leave of it."""
        return int(100 * self.share + 1e-6)


def progress(run: Run) -> Progress:
    """How far all parts are; the time left goes by what has been done since scoring began."""
    began = run.events.filter(state=STATE.SCORING).order_by("-pk").values_list("time", flat=True).first()
    earlier = Q(done=True, record__end__lt=began.isoformat(timespec="seconds")) if began else Q(pk=None)
    sums = run.parts.aggregate(
        so_far=Coalesce(Sum("items_done"), 0),
        total=Coalesce(Sum("items"), 0),
        whole=Coalesce(Sum("work"), 0.0),
        now=Coalesce(Sum(work_done()), 0.0),
        before=Coalesce(Sum("work", filter=earlier), 0.0),
    )
    share, before = (sums[name] / sums["whole"] if sums["whole"] else 0.0 for name in ("now", "before"))
    return estimate(sums["so_far"], sums["total"], share, share - before, began, timezone.now())


def estimate(done: int, total: int, share: float, gained: float, began: datetime | None, now: datetime) -> Progress:
    """`gained`: the share of the work that was done since `began`."""
    seconds = (now - began).total_seconds() if began else 0.0
    if gained <= 0 or seconds <= 0:
        return Progress(done, total, share)
    left = timedelta(seconds=seconds * (1 - share) / gained)
    return Progress(done, total, share, (total - done) / left.total_seconds() if left else None, left)


def work_done(parts: str = "") -> Combinable:
    """A part's work so far; `parts`: how to get to it, as in "parts__"."""
    return F(f"{parts}work") * F(f"{parts}items_done") / F(f"{parts}items")


@dataclass(frozen=True)
class Queued:
    """A row of the queue. `position` counts the runs ahead, 0 for those being worked on."""

    run: Run
    position: int
    progress: Progress
    left: timedelta | None


def open_runs() -> QuerySet[Run]:
    """Every run that is not over: those being worked on first, then in order of submission."""
    working_first = Case(When(state__in=WORKING, then=Value(0)), default=Value(1), output_field=IntegerField())
    return (
        Run.objects.filter(state__in=OPEN)
        .select_related("model", "benchmark")
        .annotate(
            done=Coalesce(Sum("parts__items_done"), 0),
            total=Coalesce(Sum("parts__items"), 0),
            work=Coalesce(Sum("parts__work"), 0.0),
            work_done=Coalesce(Sum(work_done("parts__")), 0.0),
        )
        .order_by(working_first, "created", "pk")
    )


def queue() -> list[Queued]:
    """The queue with positions and expected times: each run waits for all before it, at the rate of late."""
    rate = recent_rate()
    rows: list[Queued] = []
    ahead, wait = 0, timedelta()
    for run in open_runs():
        working = run.state in WORKING
        left = timedelta(seconds=(run.work - run.work_done) / rate) if rate and run.state != STATE.WAITING else None
        share = run.work_done / run.work if run.work else 0.0
        wait += left or timedelta()
        ahead += not working
        rows.append(Queued(run, 0 if working else ahead, Progress(run.done, run.total, share), wait if left else None))
    return rows


def recent_rate(runs: int = 10) -> float | None:
    """Work per second of the runs that finished last, from start to end; None while there are none."""
    recent = (
        measured_runs()
        .exclude(started=None)
        .annotate(work=Coalesce(Sum("parts__work"), 0.0))
        .values_list("work", "started", "finished")[:runs]
    )
    seconds = sum((finished - started).total_seconds() for _, started, finished in recent)
    return sum(work for work, _, _ in recent) / seconds if seconds else None


def recent_failures(runs: int = 10) -> QuerySet[Run]:
    """The runs that ended last without a result."""
    ended = Run.objects.filter(state__in=(STATE.FAILED, STATE.CANCELLED))
    return ended.select_related("model", "benchmark").order_by("-finished", "-pk")[:runs]
