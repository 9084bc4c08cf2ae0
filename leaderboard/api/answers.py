"""The shapes of answers, and how rows of the database are described. Fields are only ever added.

A field that a row has under the same name stands in the shape alone.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

from django.http import JsonResponse
from typing_extensions import TypedDict

from leaderboard.lists.published import differs
from leaderboard.lists.ranked_rows import Standing
from leaderboard.lists.scores import OVERALL
from leaderboard.models import Benchmark, Model, Run, RunRank, Score
from leaderboard.stored.smallest_differences import shown_difference

LOOK_AGAIN = 5  # seconds after which what goes on is worth another look
ShapeT = TypeVar("ShapeT")
Json = dict[str, Any]


class Difference(TypedDict):
    """The smallest difference of two measured runs that the benchmark can tell apart, and from how many pairs.

    On the same relations, and on relations like these; None where it is not known.
    """

    same_relations: float | None
    like_relations: float | None
    pairs: int


class ModelFacts(TypedDict):
    """A language model at one commit. Texts are empty where nothing is known."""

    hub_id: str
    commit: str
    revision: str
    step: int | None
    tokens: int | None
    adapter_commit: str
    kind: str
    parameters: int | None
    architecture: str
    licence: str
    source: str
    quantisation: str


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


class BenchmarkName(TypedDict):
    """What names a benchmark in one version."""

    name: str
    slug: str
    version: str
    probe: str


class ScoreFacts(TypedDict):
    """A figure in one metric and one group, with its 95 % intervals: for these relations, and for relations like these.

    `n`: the number of items behind it, which published figures may lack.
    """

    metric: str
    dimension: str
    group: str
    value: float | None
    n: float | None
    low: float | None
    high: float | None
    cluster_low: float | None
    cluster_high: float | None


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


class LeaderboardRow(TypedDict):
    """A row of a leaderboard. Only rows of the same `group` of settings are ranked against each other."""

    rank: RankFacts | None
    group: str
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


class RunFacts(TypedDict):
    """A run. `code`, `message` and `next_step` say why it failed, and are empty where it did not."""

    run: int
    model: ModelFacts
    benchmark: BenchmarkName
    state: str
    provenance: str
    reference: str
    settings: Json
    code: str
    message: str
    next_step: str
    created: datetime
    started: datetime | None
    finished: datetime | None


def facts(shape: type[ShapeT], row: object, **others: Any) -> ShapeT:
    """Return an answer of this shape with the fields of a row, but for the `others`."""
    names = shape.__annotations__
    return cast(ShapeT, {name: others[name] if name in others else getattr(row, name) for name in names})


def about_model(model: Model) -> ModelFacts:
    return facts(ModelFacts, model)


def about_benchmark(benchmark: Benchmark) -> BenchmarkFacts:
    return facts(BenchmarkFacts, benchmark, smallest_difference=shown_difference(benchmark) or None)


def about_score(score: Score) -> ScoreFacts:
    return facts(ScoreFacts, score, n=score.n or None)


def about_common(rank: RunRank) -> CommonFacts:
    return facts(CommonFacts, rank)


def about_run(run: Run) -> RunFacts:
    return facts(RunFacts, run, run=run.pk, model=about_model(run.model), benchmark=facts(BenchmarkName, run.benchmark))


def about_row(row: Standing) -> LeaderboardRow:
    """Describe a row of a leaderboard."""
    slices = [about_score(score) for part, score in row.scores.get(row.metric, {}).items() if part != OVERALL]
    return facts(
        LeaderboardRow,
        row.run,
        rank=facts(RankFacts, row.rank) if row.rank else None,
        group=row.run.settings_group,
        run=row.run.pk,
        model=about_model(row.run.model),
        score=about_score(row.main) if row.main else None,
        common=[about_common(rank) for rank in row.stored_ranks.values()],
        sem=row.spread,
        slices=slices,
    )


def about_published(run: Run) -> PublishedFigures:
    return facts(PublishedFigures, run, run=run.pk, model=about_model(run.model), differs=differs(run))


def followed(answer: Mapping[str, Any], *, ended: bool) -> JsonResponse:
    """Return an answer that says with `Retry-After` when to look again, unless nothing will change any more."""
    return JsonResponse(answer, headers={} if ended else {"Retry-After": str(LOOK_AGAIN)})
