"""/api/v1/leaderboard and benchmarks : the figures of benchmarks."""

from datetime import datetime

from django.http import Http404, HttpRequest, QueryDict
from ninja import Query
from pydantic import Field
from typing_extensions import TypedDict

from leaderboard.api.interface import Routes
from leaderboard.api.parameters import Parameters, choice, one_of
from leaderboard.api.run_routes import Json, ModelFacts, ScoreFacts, facts, model_facts, score_facts
from leaderboard.figures import runs as run_lists
from leaderboard.figures.filters import RUN_FACETS, SIZES
from leaderboard.figures.ranks import shown_difference
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import Standing, differs, leaderboard, published_version
from leaderboard.models import Benchmark, Run
from leaderboard.models.benchmark import named
from leaderboard.pages.standings_table import offered_slices, read_filter
from probing.kinds import KINDS

SIZE = choice("Size of the model, in parameters.", SIZES)
SEARCH = Field("", description="Part of the model's name.")
routes = Routes()


class LeaderboardQuery(Parameters):
    """The filters of the page."""

    benchmark: str | None = Field(None, description="Name of the benchmark; the first one by default.")
    kind: str = choice("Type of the model.", KINDS)
    size: str = SIZE
    provenance: str = choice(
        "Source of the figures.", [Run.Provenance.MEASURED, Run.Provenance.PUBLISHED, Run.Provenance.ELSEWHERE]
    )
    search: str = SEARCH
    columns: list[str] = Field([], description="Groups that rows have scores of, as dimension:group.")
    published: str = choice("ranked: published figures are ranked among the measured ones.", ["ranked"])
    part: str = Field("", description="Part of the items that the figures are about, where a benchmark has parts.")


class Difference(TypedDict):
    """The smallest difference of two measured runs that the benchmark can tell apart, and from how many pairs.

    On the same relations, and on relations like these; None where it is not known.
    """

    same_relations: float | None
    like_relations: float | None
    pairs: int


class BenchmarkFacts(TypedDict):
    """A benchmark in one version, asked by one probe."""

    name: str
    slug: str
    version: str
    digest: str
    title: str
    probe: str
    licence: str
    source: str
    citation: str
    relations: int
    items: int
    smallest_difference: Difference | None


class RankFacts(TypedDict):
    """The best and the worst place that comparisons allow; `by_intervals`: by separate intervals, not in pairs."""

    best: int
    worst: int
    by_intervals: bool


class CommonFacts(TypedDict):
    """A run's figure on the items that are common to all ranked runs of its group; `counted`: the number of its own."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    counted: int
    best: int | None
    worst: int | None
    tie_group: int | None


class LeaderboardRow(TypedDict):
    """A row of a leaderboard. Only rows of the same `group` of settings and the same `way` are ranked together.

    `way`: what counts as right, in words, where that depends on the kind of the model.
    """

    rank: RankFacts | None
    group: str
    way: str
    run: int
    model: ModelFacts
    score: ScoreFacts | None
    common: list[CommonFacts]
    sem: float | None
    slices: list[ScoreFacts]
    settings: Json
    provenance: str
    reference: str
    finished: datetime | None


class PublishedFigures(TypedDict):
    """Published figures that share nothing with the rows; `differs` says why. Their scores are those of the run."""

    run: int
    model: ModelFacts
    settings: Json
    reference: str
    differs: str


class Leaderboard(TypedDict):
    """The rows of a leaderboard in its order, and published figures that are comparable with none of them."""

    benchmark: BenchmarkFacts
    rows: list[LeaderboardRow]
    published: list[PublishedFigures]


class Benchmarks(TypedDict):
    """Every benchmark in its current version, once for each probe."""

    benchmarks: list[BenchmarkFacts]


@routes.read("leaderboard")
def leaderboard_json(request: HttpRequest, query: Query[LeaderboardQuery]) -> Leaderboard:
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
        "benchmark": benchmark_facts(benchmark),
        "rows": [_about_row(row) for row in standings],
        "published": [_about_published(run) for run in published],
    }


def current_benchmark(name: str) -> Benchmark:
    """Return the current version of a benchmark; raise `Http404` if there is none of this name."""
    benchmark = Benchmark.objects.filter(named(name), current=True).first()
    if benchmark is None:
        raise Http404(f"There is no benchmark {name!r}.")
    return benchmark


def _refuse_unknown(query: QueryDict, slices: list[Slice]) -> None:
    for facet in RUN_FACETS:
        one_of(facet.name, query.get(facet.name), facet.choices)
    one_of("published", query.get("published"), ["ranked"])
    for text in query.getlist("columns"):
        one_of("column", text, [str(part) for part in slices])


@routes.read("benchmarks")
def benchmarks_json(request: HttpRequest) -> Benchmarks:
    """Return every benchmark in its current version, once for each probe."""
    return {"benchmarks": [benchmark_facts(benchmark) for benchmark in run_lists.benchmarks()]}


def benchmark_facts(benchmark: Benchmark) -> BenchmarkFacts:
    return facts(BenchmarkFacts, benchmark, smallest_difference=shown_difference(benchmark) or None)


def _about_row(row: Standing) -> LeaderboardRow:
    scores = row.scores.get(row.metric, {})
    stored = sorted((score for part, score in scores.items() if part != OVERALL_SLICE), key=lambda score: score.pk)
    return facts(
        LeaderboardRow,
        row.run,
        rank=facts(RankFacts, row.rank) if row.rank else None,
        group=row.run.settings_group,
        run=row.run.pk,
        model=model_facts(row.run.model),
        score=score_facts(row.main) if row.main else None,
        common=[facts(CommonFacts, rank) for rank in row.stored_ranks.values()],
        sem=row.spread,
        slices=[score_facts(score) for score in stored],
    )


def _about_published(run: Run) -> PublishedFigures:
    return facts(PublishedFigures, run, run=run.pk, model=model_facts(run.model), differs=differs(run))
