"""The figures of the five papers beside those that were measured here, for the pages of the papers.

What a paper shows is declared in `probing.papers`. A run counts for one of its ways of asking models if it has the
settings of this way, whatever else the site has measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from leaderboard.changed_settings import differences, settings_group
from leaderboard.figures.runs import State
from leaderboard.models import Benchmark, Run, Score
from probing.errors import BadInput
from probing.papers.declarations import Exhibit, Paper, Way
from probing.papers.printed_figures import UNRESOLVED, models_of, printed_figures
from probing.settings import Settings

# Measures of exhibits: scores of runs as they are stored, and the same on what all models of a table have in common.
SCORES, UNIFIED = "scores", "unified"
Asked = tuple[str, str]  # the id of a model and the name of a way


class Part(NamedTuple):
    """What a figure is about, beside the model and the way."""

    metric: str
    dimension: str
    group: str


@dataclass(frozen=True, eq=False)
class PaperFigure:
    """A figure of an exhibit: as printed, as measured here, or both. A model that waits for its first has neither.

    `name`: the model as the paper calls it. `part`: None where nothing is known yet.
    """

    model: str
    name: str
    way: Way
    part: Part | None
    printed: float | None = None
    measured: Score | None = None


@dataclass(frozen=True)
class MeasuredWays:
    """What this site has of the ways of a paper: the benchmark of each, and its runs with their scores."""

    benchmarks: Mapping[str, Benchmark]
    runs: Mapping[Asked, Run]
    scores: Mapping[int, Sequence[Score]]

    def of(self, model: str, way: Way, exhibit: Exhibit) -> dict[Part, Score]:
        """Return the scores that an exhibit shows of a model."""
        run = self.runs.get((model, way.name))
        scores = self.scores.get(run.pk, ()) if run else ()
        return {
            Part(score.metric, score.dimension, score.group): score
            for score in scores
            if score.dimension in exhibit.scores.get(score.metric, ())
        }


def is_measured_here(exhibit: Exhibit) -> bool:
    """Tell whether the figures of an exhibit are scores of runs, which a site stores.

    Of models that a paper compares on common words, a site has the scores of each with its own words.
    """
    return exhibit.measure in (SCORES, UNIFIED) and not exhibit.steps


def measured_ways(paper: Paper) -> MeasuredWays:
    """Return what this site has measured in the ways of a paper. Three queries."""
    exhibits = [exhibit for exhibit in paper.exhibits if is_measured_here(exhibit)]
    ways = {way.name: way for exhibit in exhibits for way in exhibit.ways}
    stored = Benchmark.objects.filter(current=True, slug__in={way.benchmark for way in ways.values()}).exclude(path="")
    benchmarks = dict(_with_settings(ways.values(), list(stored)))
    models = {model for exhibit in exhibits for way in exhibit.ways for model in printed_models(exhibit, way)}
    runs = _runs_of(benchmarks, models)
    scores = Score.objects.filter(
        run__in={run.pk for run in runs.values()},
        metric__in={metric for exhibit in exhibits for metric in exhibit.scores},
        dimension__in={name for exhibit in exhibits for names in exhibit.scores.values() for name in names},
    )
    by_run: dict[int, list[Score]] = {}
    for score in scores:
        by_run.setdefault(score.run_id, []).append(score)
    return MeasuredWays({name: benchmark for name, (benchmark, _) in benchmarks.items()}, runs, by_run)


def _with_settings(
    ways: Iterable[Way], stored: Sequence[Benchmark]
) -> Iterator[tuple[str, tuple[Benchmark, Settings]]]:
    """Yield each way that this site can measure, with its benchmark and the settings of its runs."""
    for way in ways:
        if (benchmark := next((row for row in stored if _is_of(row, way)), None)) is not None:
            try:
                yield way.name, (benchmark, benchmark.settings_with(way.choices))
            except BadInput:
                continue  # only the command line offers one of these settings


def _is_of(benchmark: Benchmark, way: Way) -> bool:
    """Tell whether a benchmark is that of a way, with the probe that the way names or else the main one."""
    probe = way.settings.get("probe")
    return benchmark.slug == way.benchmark and (benchmark.probe == probe if probe else benchmark.main)


def _runs_of(benchmarks: Mapping[str, tuple[Benchmark, Settings]], models: Iterable[str]) -> dict[Asked, Run]:
    """Return the newest measured run of each model in each way. One query."""
    rows = Run.objects.filter(
        benchmark__in={benchmark.pk for benchmark, _ in benchmarks.values()},
        model__hub_id__in=models,
        state=State.FINISHED,
        provenance=Run.Provenance.MEASURED,
        items_left_out=0,
    )
    runs: dict[Asked, Run] = {}
    for run in rows.select_related("model").order_by("pk"):
        for name, (benchmark, settings) in benchmarks.items():
            if run.benchmark_id == benchmark.pk and _has(run, settings):
                runs[run.model.hub_id, name] = run
    return runs


def _has(run: Run, settings: Settings) -> bool:
    """Tell whether a run has these settings, whatever number format its model's size asks for."""
    changed = differences(run.settings, settings)
    return not settings_group(changed, run.settings, run.model.parameters, run.model.stored_dtype)


def figures_of(exhibit: Exhibit, measured: MeasuredWays) -> list[PaperFigure]:
    """Return the figures of an exhibit in the order of its paper, those that only this site has behind the others."""
    figures = []
    for way in exhibit.ways:
        printed = _printed(exhibit).get(way.name, {})
        for model in [*printed, *(model for model in printed_models(exhibit, way) if model not in printed)]:
            name, parts = printed.get(model, (model, {}))
            scores = measured.of(model, way, exhibit) if is_measured_here(exhibit) else {}
            figures += [
                PaperFigure(model, name, way, part, parts.get(part), scores.get(part))
                for part in dict.fromkeys([*parts, *scores])
            ]
            if not parts and not scores:
                figures.append(PaperFigure(model, name, way, None))
    return figures


@cache
def printed_models(exhibit: Exhibit, way: Way) -> Sequence[str]:
    """Return the models on the hub that the paper asked in a way."""
    return models_of(exhibit, way) if exhibit.measure and not exhibit.steps else []


@cache
def _printed(exhibit: Exhibit) -> Mapping[str, Mapping[str, tuple[str, dict[Part, float]]]]:
    """Return the printed figures of an exhibit by way and model, with the model's name in the paper."""
    by_way: dict[str, dict[str, tuple[str, dict[Part, float]]]] = {}
    for model, way, metric, dimension, group, value, name, _ in printed_figures(exhibit).itertuples(index=False):
        _, parts = by_way.setdefault(way, {}).setdefault(model, (name or model.removeprefix(UNRESOLVED), {}))
        parts[Part(metric, dimension, group)] = float(value)
    return by_way
