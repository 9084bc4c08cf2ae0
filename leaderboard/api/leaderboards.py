"""/api/v1/leaderboard, models, benchmarks, changes and snapshots : the lists of figures and of what has them."""

from datetime import datetime

from django.http import Http404, HttpRequest, QueryDict
from django.urls import reverse
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.answers import (
    BenchmarkFacts,
    LeaderboardRow,
    ModelFacts,
    PublishedFigures,
    about_benchmark,
    about_model,
    about_published,
    about_row,
    facts,
)
from leaderboard.api.paging import PageFacts, behind_row, page_of, read_from
from leaderboard.api.parameters import PagedQuery, Query, choice, one_of
from leaderboard.api.routes import RESULTS, get
from leaderboard.lists import runs as run_lists
from leaderboard.lists.facets import FACETS, SIZES
from leaderboard.lists.published import published_version
from leaderboard.lists.scores import Slice
from leaderboard.lists.standings import leaderboard
from leaderboard.models import Benchmark, Change, Model, Run, Snapshot
from leaderboard.models.benchmark import named
from leaderboard.probe_pages.filters import offered_slices, read_filter
from probing.kinds import KINDS

SIZE = choice("Size of the model, in parameters.", SIZES)
SEARCH = Field("", description="Part of the model's name.")


class LeaderboardQuery(Query):
    """The filters of the page."""

    benchmark: str | None = Field(None, description="Name of the benchmark; the first one by default.")
    kind: str = choice("Type of the model.", KINDS)
    size: str = SIZE
    provenance: str = choice(
        "Source of the figures.", [Run.Provenance.MEASURED, Run.Provenance.PUBLISHED, Run.Provenance.THIRD_PARTY]
    )
    search: str = SEARCH
    columns: list[str] = Field([], description="Groups that rows have scores of, as dimension:group.")
    published: str = choice("ranked: published figures are ranked among the measured ones.", ["ranked"])
    part: str = Field("", description="Part of the items that the figures are about, where a benchmark has parts.")


class Leaderboard(TypedDict):
    """The rows of a leaderboard in its order, and published figures that are comparable with none of them."""

    benchmark: BenchmarkFacts
    rows: list[LeaderboardRow]
    published: list[PublishedFigures]


class Models(TypedDict):
    """Every model at every commit."""

    models: list[ModelFacts]


class Benchmarks(TypedDict):
    """Every benchmark in its current version, once for each probe."""

    benchmarks: list[BenchmarkFacts]


class ChangeFacts(TypedDict):
    """One change of the figures of the site: `added`, `rescored`, `withdrawn`, or `version` of a benchmark."""

    time: datetime
    kind: str
    model: str
    benchmark: str
    run: int | None
    text: str


class SnapshotFacts(TypedDict):
    """A frozen table: its document is at `address` for ever, and `sha256` is that of the document."""

    title: str
    created: datetime
    sha256: str
    bytes: int
    address: str


class Snapshots(PageFacts):
    """A page of the snapshots, the newest first."""

    snapshots: list[SnapshotFacts]


class Changes(PageFacts):
    """A page of the changes, the newest first."""

    changes: list[ChangeFacts]


@get("leaderboard", group=RESULTS)
def leaderboard_json(request: HttpRequest, query: LeaderboardQuery) -> Leaderboard:
    """Return the rows of a leaderboard in its order, with the filters of the page."""
    benchmarks = list(run_lists.benchmarks())
    name = query.benchmark or (benchmarks[0].name if benchmarks else "")
    benchmark = current_benchmark(name)
    slices = offered_slices(benchmark)
    _refuse_unknown(request.GET, slices)
    standings = leaderboard(read_filter(request.GET, benchmark, slices)).standings
    version = published_version(benchmark)
    published = run_lists.finished_runs(version).order_by("model__hub_id", "pk") if version else []
    return {
        "benchmark": about_benchmark(benchmark),
        "rows": [about_row(row) for row in standings],
        "published": [about_published(run) for run in published],
    }


def current_benchmark(name: str) -> Benchmark:
    """Return the current version of a benchmark; raise `Http404` if there is none of this name."""
    benchmark = Benchmark.objects.filter(named(name), current=True).first()
    if benchmark is None:
        raise Http404(f"There is no benchmark {name!r}.")
    return benchmark


def _refuse_unknown(query: QueryDict, slices: list[Slice]) -> None:
    for facet in FACETS:
        one_of(facet.name, query.get(facet.name), facet.choices)
    one_of("published", query.get("published"), ["ranked"])
    for text in query.getlist("columns"):
        one_of("column", text, [str(part) for part in slices])


@get("models", group=RESULTS)
def models_json(request: HttpRequest, query: Query) -> Models:
    """Return every model at every commit."""
    return {"models": [about_model(model) for model in Model.objects.order_by("hub_id", "pk")]}


@get("benchmarks", group=RESULTS)
def benchmarks_json(request: HttpRequest, query: Query) -> Benchmarks:
    """Return every benchmark in its current version, once for each probe."""
    return {"benchmarks": [about_benchmark(benchmark) for benchmark in run_lists.benchmarks()]}


@get("changes", group=RESULTS)
def changes_json(request: HttpRequest, query: PagedQuery) -> Changes:
    """Return the log of every result that was added, scored again or withdrawn, the newest first, 200 per page."""
    changes = Change.objects.order_by("-pk")
    page = page_of(request, query, read_from(changes), lambda change: change.pk, behind_row(changes))
    return {**page.facts, "changes": [facts(ChangeFacts, change) for change in page.entries]}


@get("snapshots", group=RESULTS)
def snapshots_json(request: HttpRequest, query: PagedQuery) -> Snapshots:
    """Return the snapshots, the newest first, 200 per page."""
    snapshots = Snapshot.objects.defer("document").order_by("-pk")
    page = page_of(request, query, read_from(snapshots), lambda snapshot: snapshot.pk, behind_row(snapshots))
    return {**page.facts, "snapshots": [_about_snapshot(request, snapshot) for snapshot in page.entries]}


def _about_snapshot(request: HttpRequest, snapshot: Snapshot) -> SnapshotFacts:
    return {
        "title": snapshot.title,
        "created": snapshot.created,
        "sha256": snapshot.digest,
        "bytes": snapshot.length,
        "address": request.build_absolute_uri(reverse("snapshot_document", args=[snapshot.digest])),
    }
