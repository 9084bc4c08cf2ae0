"""Lists of benchmarks, models and runs. The number of queries never depends on the number of rows."""

from collections.abc import Iterable
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from leaderboard.models import Benchmark, Entry, Model, Printed, PrintedRow, Run
from leaderboard.models.printed import printed_rows
from leaderboard.models.run import RunQuerySet

State = Run.State
WORKING = (State.DOWNLOADING, State.SCORING, State.AGGREGATING)
OPEN = (State.QUEUED, *WORKING, State.WAITING)
# The version of published figures that are not about exactly the files and settings of measured runs.
ANY_VERSION = "published"
# Fields that no list of all runs of a benchmark shows. It reads `provenance_record` for the rows of one page
# (`read_records`).
NOT_LISTED = ("provenance_record", "traceback", "log")
MODELS_NAMED = 10  # models that a search names beside those of its own benchmark


def benchmarks() -> QuerySet[Benchmark]:
    """Return the current versions, by each of their probes, the most measured first.

    Each has the numbers of models that were `measured` here, and of those that have `published` figures.
    """
    versions = Benchmark.objects.filter(slug=OuterRef(OuterRef("slug")), probe=OuterRef(OuterRef("probe")))
    with_published = versions.filter(Q(pk=OuterRef(OuterRef("pk"))) | Q(version=ANY_VERSION))
    measured = Run.objects.filter(benchmark=OuterRef("pk"), provenance=Run.Provenance.MEASURED)
    published = Printed.objects.filter(benchmark__in=with_published.values("pk"), baseline=False)
    starter_first = Case(When(slug="starter", then=Value(0)), default=Value(1), output_field=IntegerField())
    return (
        Benchmark.objects.filter(current=True)
        .annotate(
            measured=_number_of_models(measured.filter(state=State.FINISHED)), published=_number_of_models(published)
        )
        .order_by("-measured", starter_first, "-main", "-published", "slug", "probe")
    )


def _number_of_models(rows: QuerySet[Any]) -> Coalesce:
    """Return how many models these rows are about, as a subquery of its own.

    A count in the outer query would need GROUP BY, and databases evaluate other subqueries again for each grouped row.
    """
    numbers = rows.order_by().annotate(one=Value(1)).values("one")
    return Coalesce(Subquery(numbers.annotate(number=Count("model__hub_id", distinct=True)).values("number")), 0)


def finished(benchmark: Benchmark) -> RunQuerySet:
    """Return the finished runs of this version, as a filter for rows of other tables."""
    return Run.objects.filter(benchmark=benchmark, state=State.FINISHED)


def finished_runs(benchmark: Benchmark) -> RunQuerySet:
    """Return the finished runs of this version.

    Of a model that was measured at several steps of its training, only the last one is included.
    """
    return _with_commits(finished(benchmark).newest_steps())


def with_printed(benchmark: Benchmark) -> list[Entry]:
    """Return the finished runs of this version by model, and behind them the rows that are printed about it.

    Those about another sample or version are separate (`figures.standings.published_version`). Four queries.
    """
    printed = printed_rows(benchmark.printed.filter(baseline=False))
    by_model = sorted(printed, key=lambda row: (row.model.hub_id, -row.pk))
    return [*finished_runs(benchmark).order_by("model__hub_id", "pk"), *by_model]


def runs_on(benchmark: Benchmark, **chosen: Any) -> list[Run]:
    """Return the finished runs of this version, or some of them, without what only their own pages show.

    They share their benchmark. Each knows how many earlier steps of its training it stands for. One query.
    """
    rows = finished_runs(benchmark).filter(**chosen).with_earlier_steps().select_related(None).select_related("model")
    runs = list(rows.defer(*NOT_LISTED))
    for run in runs:
        run.benchmark = benchmark
    return runs


def read_records(runs: Iterable[Run]) -> None:
    """Read the records of those runs that were read without them. One query, or none if all have theirs."""
    lacking = [run for run in runs if "provenance_record" not in run.__dict__]
    if lacking:
        stored = Run.objects.filter(pk__in=[run.pk for run in lacking])
        records = dict(stored.values_list("pk", "provenance_record"))
        for run in lacking:
            run.provenance_record = records.get(run.pk)


def measured_runs() -> QuerySet[Run]:
    """Return every finished run that was measured here, the newest first."""
    runs = Run.objects.filter(state=State.FINISHED, provenance=Run.Provenance.MEASURED)
    return _with_commits(runs).order_by("-finished", "-pk")


def runs_with_items() -> RunQuerySet:
    """Return every finished run whose items are stored here, the newest first.

    They were measured here, or elsewhere and imported.
    """
    runs = Run.objects.filter(state=State.FINISHED).exclude(artefact="")
    return _with_commits(runs).order_by("-finished", "-pk")


def runs_with_figures() -> RunQuerySet:
    """Return every finished run, the newest first."""
    return _with_commits(Run.objects.filter(state=State.FINISHED)).order_by("-finished", "-pk")


def _with_commits(runs: RunQuerySet) -> RunQuerySet:
    """Annotate each run with `has_other_commits`: its model was measured on its benchmark at other commits as well.

    Names of such runs must tell the commits apart. The search begins with the other commits of the model, of which
    there are few, so that its time does not grow with the number of runs on the benchmark.
    """
    finished = Run.objects.filter(model=OuterRef("pk"), benchmark=OuterRef(OuterRef("benchmark")), state=State.FINISHED)
    commits = Model.objects.filter(Exists(finished), hub_id=OuterRef("model__hub_id"))
    others = commits.exclude(pk=OuterRef("model")).exclude(commit="", revision="")
    return runs.annotate(has_other_commits=Exists(others)).select_related("model", "benchmark")


def runs_beside(run: Run) -> list[Run]:
    """Return this run and the other finished runs of its model on its benchmark, whatever their settings.

    Those of other steps of its training have a page of their own.
    """
    runs = _with_commits(finished(run.benchmark)).filter(model__hub_id=run.model.hub_id)
    return list(runs.filter(model__step=run.model.step).order_by("pk"))


def model_versions(hub_id: str) -> QuerySet[Model]:
    """Return every commit of a model, the newest first; a row that only has printed figures comes last."""
    published_last = Case(When(source=Model.Source.PUBLISHED, then=1), default=0)
    return Model.objects.filter(hub_id=hub_id).order_by(published_last, "-created", "-pk")


def models_with_figures() -> QuerySet[Model]:
    """Return the models that have a finished run or printed figures; some of them several times."""
    return Model.objects.filter(Q(runs__state=State.FINISHED) | Q(printed__baseline=False))


def models_named(part: str) -> list[Model]:
    """Return models with figures on any benchmark whose id contains `part`, one row per id, ten at most.

    Those whose own name or owner begins with it come first.
    """
    models = models_with_figures().filter(hub_id__icontains=part)
    newest = models.values("hub_id").annotate(newest=Max("pk")).values("newest")
    begins = Case(When(Q(hub_id__istartswith=part) | Q(hub_id__icontains=f"/{part}"), then=0), default=1)
    return list(Model.objects.filter(pk__in=newest).order_by(begins, "hub_id")[:MODELS_NAMED])


def model_printed(hub_id: str) -> list[PrintedRow]:
    """Return all printed rows about a model, by benchmark. Three queries."""
    rows = printed_rows(Printed.objects.filter(model__hub_id=hub_id))
    return sorted(rows, key=lambda row: (row.benchmark.slug, not row.benchmark.main, row.benchmark.probe, row.pk))


def model_runs(hub_id: str) -> RunQuerySet:
    """Return all runs of every commit of a model, by benchmark, the newest first."""
    runs = Run.objects.filter(model__hub_id=hub_id).select_related("model", "benchmark")
    return runs.order_by("benchmark__slug", "-benchmark__main", "benchmark__probe", "-created", "-pk")
