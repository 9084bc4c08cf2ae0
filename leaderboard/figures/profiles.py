"""A model's figures on each benchmark, beside those of models of similar size.

The number of queries does not depend on the number of models.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from statistics import median
from typing import Any, cast

from leaderboard.changed_settings import LEFT_OUT
from leaderboard.figures.board import of_sizes, rows_of, with_value
from leaderboard.figures.scores import (
    MAIN_DIMENSIONS,
    PART_SETTINGS,
    PARTS,
    Slice,
    chance_of,
    main_part,
    main_scores,
    part_of,
)
from leaderboard.models import Benchmark, Entry, PrintedRow, Run, Score
from leaderboard.models.printed import PUBLISHED

SIMILAR = 2  # models of similar size have at most this many times the parameters, and at least this part of them
COMPARED = (Run.Provenance.MEASURED.value, PUBLISHED)
Figure = Any  # a row of the board


def profile(hub_id: str, runs: Sequence[Entry], parameters: int | None) -> list[dict[str, Any]]:
    """Return the model's figures that are shares between 0 and 1, one on each benchmark.

    A row has the `run` and its `score`, the figures of models of `similar` size with their `band` from the lowest to
    the highest and their `median`, `chance`, what guessing reaches, and for a figure of a run as `published` the
    printed row about the same part of the items with its score. Without a run, `run` is a printed row itself.
    """
    finished = [run for run in runs if isinstance(run, PrintedRow) or run.state == Run.State.FINISHED]
    scores = main_scores(finished)
    shares = {pk: score for pk, score in scores.items() if score.value is not None and 0 <= score.value <= 1}
    by_name: dict[str, list[Entry]] = {}
    for run in finished:
        if run.pk in shares:
            by_name.setdefault(run.benchmark.name, []).append(run)
    benchmarks = {run.benchmark_id: run.benchmark for of_one in by_name.values() for run in of_one}
    similar = similar_figures(hub_id, parameters, benchmarks)
    rows = []
    for of_one in by_name.values():
        run = _shown_run(of_one, shares, similar)
        part = part_of(shares[run.pk])
        beside = _beside(run, part, similar)
        values = [figure.value for figure in beside]
        rows.append(
            {
                "run": run,
                "score": shares[run.pk],
                "similar": beside,
                "band": (min(values), max(values)) if values else None,
                "median": median(values) if values else None,
                "chance": chance_of(run.benchmark, part),
                "published": _published(run, of_one, shares),
            }
        )
    return rows


def _published(run: Entry, runs: Sequence[Entry], scores: Mapping[int, Score]) -> tuple[PrintedRow, Score] | None:
    """Return the last printed row about the same part as a run, with its score."""
    part = part_of(scores[run.pk])
    others = [one for one in runs if isinstance(one, PrintedRow) and part_of(scores[one.pk]) == part]
    last = min(others, key=lambda one: one.pk, default=None)
    return None if run.is_published or last is None else (last, scores[last.pk])


def _shown_run(runs: Sequence[Entry], scores: Mapping[int, Score], similar: Mapping[int, Sequence[Figure]]) -> Entry:
    """Choose one of a model's runs on a benchmark: measured here, with the usual settings, the newest or the last step.

    Where runs answered different items, as those of different languages do, it is one about the part that all pages
    show first, or else one that most models can be compared with.
    """
    first = main_part({part_of(scores[run.pk]) for run in runs})

    def preference(run: Entry) -> tuple[bool, bool, bool, int, float, int]:
        measured = run.provenance == Run.Provenance.MEASURED
        step = inf if run.model.step is None else run.model.step
        part = part_of(scores[run.pk])
        return (measured, not _group(run, part), part == first, len(_beside(run, part, similar)), step, abs(run.pk))

    return max(runs, key=preference)


def _beside(run: Entry, part: Slice, similar: Mapping[int, Sequence[Figure]]) -> list[Figure]:
    """Return one figure of each model of similar size about the same part of the items, in the settings of a run.

    It is a measured one where there is one.
    """
    group = _group(run, part)
    by_model: dict[str, Figure] = {}
    for figure in similar.get(run.benchmark_id, ()):
        is_alike = Slice(figure.dimension, figure.group) == part and _words(figure.settings, part) == group
        if is_alike and (figure.is_measured or figure.hub_id not in by_model):
            by_model[figure.hub_id] = figure
    return list(by_model.values())


def _group(run: Entry, part: Slice) -> str:
    """Return what sets a run apart besides having been asked only this part of the items."""
    return _words(run.group, part)


def _words(settings: Sequence[Sequence[str]], part: Slice) -> str:
    ignored = PART_SETTINGS if part.dimension in PARTS else ()
    return ", ".join(words for name, words in settings if name not in ignored)


def similar_figures(
    hub_id: str, parameters: int | None, benchmarks: Mapping[int, Benchmark]
) -> dict[int, list[Figure]]:
    """Map each benchmark to the figures of other models of similar size, those without a stated step last.

    They are in the main metrics of their probes, of all items and of parts. A run that answered fewer questions is
    compared with none. Nothing is similar to a model of unknown size.
    """
    if not parameters:
        return {}
    metrics = {pk: benchmark.main_metric for pk, benchmark in benchmarks.items()}
    sizes = parameters / SIMILAR, parameters * SIMILAR
    scores = with_value(of_sizes(benchmarks, set(metrics.values()), MAIN_DIMENSIONS, *sizes))
    is_main = scores["metric"] == scores["benchmark"].map(metrics)
    similar = scores[is_main & scores["provenance"].isin(COMPARED) & (scores["hub_id"] != hub_id)]
    by_benchmark: dict[int, list[Figure]] = {}
    for figure in sorted(rows_of(similar), key=lambda one: (inf if one.step is None else one.step, abs(one.run))):
        if LEFT_OUT not in dict(figure.settings):
            by_benchmark.setdefault(figure.benchmark, []).append(figure)
    return by_benchmark


def medians(figures: Sequence[Figure], metric: str, dimension: str, groups: Collection[str]) -> dict[str, float]:
    """Map groups of a dimension to the median of the runs of these figures that were measured here. One query.

    With the groups named, the database looks up each figure instead of reading those of all runs.
    """
    runs = [figure.run for figure in figures if figure.is_measured]
    scores = Score.objects.filter(
        run__in=runs, metric=metric, dimension=dimension, group__in=groups, value__isnull=False
    )
    by_group: dict[str, list[float]] = {}
    for group, value in scores.values_list("group", "value"):
        by_group.setdefault(group, []).append(cast(float, value))
    return {group: median(values) for group, values in by_group.items()}
