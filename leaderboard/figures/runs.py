"""Lists of benchmarks, models and runs. The number of queries never depends on the number of rows."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from django.db import models
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.base import ModelState
from django.db.models.functions import Cast, Coalesce

from leaderboard.data_version import FiguresVersion, figures_version
from leaderboard.figures.kept_lists import KeptLists
from leaderboard.models import Benchmark, Model, Run
from leaderboard.models.run import RunQuerySet

State = Run.State
WORKING = (State.DOWNLOADING, State.SCORING, State.AGGREGATING)
OPEN = (State.QUEUED, *WORKING, State.WAITING)
# The version of published figures that are not about exactly the files and settings of measured runs.
ANY_VERSION = "published"
# Fields of a run and of a model that no list of all runs of a benchmark shows. It reads `provenance_record` for the
# rows of one page (`read_records`), and at once only for published runs, whose source is part of it.
NOT_LISTED = (
    *("message", "next_step", "traceback", "log", "submitter", "queue", "standing_since"),
    *("created", "started", "settings", "provenance_record"),
)
COUNTED = ("has_other_commits", "earlier_steps")  # by the queries of lists
MODEL_NOT_LISTED = ("weight_bytes", "gated", "created")
MODELS_NAMED = 10  # models that a search names beside those of its own benchmark


class BenchmarkCounts(TypedDict):
    """The numbers of models that were measured on a benchmark here, and of those that have published figures."""

    measured: int
    published: int


if TYPE_CHECKING:  # the site runs without django-stubs
    from django_stubs_ext import WithAnnotations

    CountedBenchmark = WithAnnotations[Benchmark, BenchmarkCounts]
else:
    CountedBenchmark = Benchmark


def benchmarks() -> QuerySet[CountedBenchmark]:
    """Return the current versions, by each of their probes, with their counts; the most measured first."""
    versions = Benchmark.objects.filter(slug=OuterRef(OuterRef("slug")), probe=OuterRef(OuterRef("probe")))
    with_published = versions.filter(Q(pk=OuterRef(OuterRef("pk"))) | Q(version=ANY_VERSION))
    measured = Run.objects.filter(benchmark=OuterRef("pk"), provenance=Run.Provenance.MEASURED)
    published = Run.objects.filter(benchmark__in=with_published.values("pk"), provenance=Run.Provenance.PUBLISHED)
    starter_first = Case(When(slug="starter", then=Value(0)), default=Value(1), output_field=IntegerField())
    return (
        Benchmark.objects.filter(current=True)
        .annotate(measured=_number_of_models(measured), published=_number_of_models(published))
        .order_by("-measured", starter_first, "-main", "-published", "slug", "probe")
    )


def _number_of_models(runs: QuerySet[Run]) -> Coalesce:
    """Return how many models the finished ones of these runs have, as a subquery of its own.

    A count in the outer query would need GROUP BY, and databases evaluate other subqueries again for each grouped row.
    """
    finished = runs.filter(state=State.FINISHED).order_by().values("state")
    return Coalesce(Subquery(finished.annotate(number=Count("model__hub_id", distinct=True)).values("number")), 0)


def finished(benchmark: Benchmark) -> RunQuerySet:
    """Return the finished runs of this version, as a filter for rows of other tables."""
    return Run.objects.filter(benchmark=benchmark, state=State.FINISHED)


def finished_runs(benchmark: Benchmark) -> RunQuerySet:
    """Return the finished runs of this version, with the figures that were published about exactly the same.

    Of a model that was measured at several steps of its training, only the last one is included.

    Those about another sample or version are separate (`figures.standings.published_version`).
    """
    return _with_commits(finished(benchmark).newest_steps())


# The runs of a thousand models take about 4 MB.
_RUNS = KeptLists[Sequence[Run]](most=8)


def runs_on(benchmark: Benchmark, version: FiguresVersion | None = None) -> Sequence[Run]:
    """Return the finished runs of this version without what only their own pages show. They share their benchmark.

    Each knows how many earlier steps of its training it stands for. One query, and another one where a figure of the
    benchmark has changed since they were read. `version`: that of the benchmark's figures, if it was read already.
    """
    version = figures_version(benchmark.pk) if version is None else version
    return _RUNS.get(benchmark.pk, version, lambda _: _read_runs(benchmark))


def _read_runs(benchmark: Benchmark) -> list[Run]:
    names, model_names = [*COUNTED, *field_names(Run, NOT_LISTED)], field_names(Model, MODEL_NOT_LISTED)
    published = Case(When(provenance=Run.Provenance.PUBLISHED, then=F("provenance_record")))
    rows = finished_runs(benchmark).with_earlier_steps()
    rows = rows.annotate(settings_text=Cast("settings", TextField()), record=published)
    read = rows.values_list("settings_text", "record", *names, *(f"model__{name}" for name in model_names))
    by_settings: dict[tuple[str, int], dict[str, str]] = {}
    runs = []
    for settings_text, record, *values in read:
        fields = dict(zip(names, values, strict=False))
        model = light_row(Model, dict(zip(model_names, values[len(names) :], strict=True)))
        fields["settings"] = _settings(settings_text)
        if record is not None:
            fields["provenance_record"] = record
        run = light_row(Run, fields, model=model, benchmark=benchmark)
        question = (settings_text, run.items_left_out)
        if question not in by_settings:
            by_settings[question] = run.differences
        run.differences = by_settings[question]
        runs.append(run)
    return runs


@lru_cache(maxsize=1024)
def _settings(text: str) -> dict[str, Any]:
    """Return settings from their JSON; most runs of a benchmark have the same."""
    return dict(json.loads(text))


class OfRun(Protocol):
    """A row of a list that is about a run."""

    @property
    def run(self) -> Run: ...


def read_records(rows: Iterable[OfRun]) -> None:
    """Read the records of the runs that rows of a page are about. One query at most."""
    read_field([row.run for row in rows], "provenance_record")


def measured_runs() -> QuerySet[Run]:
    """Return every finished run that was measured here, the newest first."""
    runs = Run.objects.filter(state=State.FINISHED, provenance=Run.Provenance.MEASURED)
    return _with_commits(runs).order_by("-finished", "-pk")


def runs_with_items() -> RunQuerySet:
    """Return every finished run whose items are stored here, the newest first.

    They were measured here, or elsewhere and imported.
    """
    own = (Run.Provenance.MEASURED, Run.Provenance.ELSEWHERE)
    runs = Run.objects.filter(state=State.FINISHED, provenance__in=own).exclude(artefact="")
    return _with_commits(runs).order_by("-finished", "-pk")


def runs_with_figures() -> RunQuerySet:
    """Return every finished run of a model, published ones included, the newest first."""
    runs = Run.objects.filter(state=State.FINISHED).exclude(provenance=Run.Provenance.BASELINE)
    return _with_commits(runs).order_by("-finished", "-pk")


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
    """Return every commit of a model, the newest first; a row that only has published figures comes last."""
    published_last = Case(When(source=Model.Source.PUBLISHED, then=1), default=0)
    return Model.objects.filter(hub_id=hub_id).order_by(published_last, "-created", "-pk")


def models_named(part: str) -> list[Model]:
    """Return models with finished runs on any benchmark whose id contains `part`, one row per id, ten at most.

    Those whose own name or owner begins with it come first.
    """
    runs = Run.objects.filter(state=State.FINISHED).exclude(provenance=Run.Provenance.BASELINE)
    models = Model.objects.filter(hub_id__icontains=part, runs__in=runs)
    newest = models.values("hub_id").annotate(newest=Max("pk")).values("newest")
    begins = Case(When(Q(hub_id__istartswith=part) | Q(hub_id__icontains=f"/{part}"), then=0), default=1)
    return list(Model.objects.filter(pk__in=newest).order_by(begins, "hub_id")[:MODELS_NAMED])


def model_runs(hub_id: str) -> RunQuerySet:
    """Return all runs of every commit of a model, by benchmark, the newest first."""
    runs = Run.objects.filter(model__hub_id=hub_id).select_related("model", "benchmark")
    return runs.order_by("benchmark__slug", "-benchmark__main", "benchmark__probe", "-created", "-pk")


# Rows of tables with only some of their fields, made in a tenth of the time that Django takes for whole ones.
#
# Pages rank, count and draw all runs of a benchmark, but show the details of fifty.


RowT = TypeVar("RowT", bound=models.Model)


def field_names(kind: type[models.Model], without: Collection[str] = ()) -> list[str]:
    """Return the names of a table's columns as attributes of its rows, those of some fields left out."""
    return [field.attname for field in kind._meta.concrete_fields if field.name not in without]


def light_row(kind: type[RowT], values: Mapping[str, Any], **related: models.Model) -> RowT:
    """Return a row with these values and related rows; it reads any other field from the database when it is used.

    Django's own way of leaving out fields (`only`) takes longer than reading all of them.
    """
    row = kind.__new__(kind)
    row._state = ModelState()
    row._state.adding = False
    row.__dict__.update(values)
    row._state.fields_cache.update(related)
    return row


def light_rows(kind: type[RowT], rows: QuerySet[RowT], without: Collection[str] = ()) -> list[RowT]:
    """Read the rows of a query, some of their fields left out."""
    names = field_names(kind, without)
    return [light_row(kind, dict(zip(names, values, strict=True))) for values in rows.values_list(*names)]


def read_field(rows: Iterable[RowT], name: str) -> None:
    """Read a field of those rows that were made without it. One query, or none if all have it."""
    lacking = [row for row in rows if name not in row.__dict__]
    if lacking:
        values = dict(
            type(lacking[0])._default_manager.filter(pk__in=[row.pk for row in lacking]).values_list("pk", name)
        )
        for row in lacking:
            row.__dict__[name] = values.get(row.pk)
