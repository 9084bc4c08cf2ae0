"""Parts of a benchmark's page besides its standings: published figures, shared facts, and replicates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from django.http import HttpRequest, QueryDict

from leaderboard.figures.comparisons import records
from leaderboard.figures.outcomes import shared_facts
from leaderboard.figures.runs import finished_runs
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.figures.standings import differs
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.standings_table import values_of, with_ends
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, settings_in_words, sides_and_gap
from leaderboard.probes.probe_pages import Parts
from leaderboard.tables import ordered, page_of
from leaderboard.ui import labels
from leaderboard.ui.labels import PUBLISHED
from probing.analysis.intervals import over_seeds

Row = dict[str, Any]
OVERLAP = ("other", "culture", "facts", "shared", "share")
REPLICATES = ("model", "settings", "runs", "mean", "sd", "lowest", "highest")
PREFIX = "published-"  # of tables and charts that stand beside those of measured runs


# Published figures that share no column, axis or rank with measured ones.


def published_table(
    request: HttpRequest, version: Benchmark | None, part: Slice = OVERALL_SLICE, pair: PairInLanguage | None = None
) -> dict[str, Any]:
    """Return the published figures of a slice with the columns of their CSV, sorted and paged as a request asks.

    Those of a pair have the figures of its two cultures beside them. Nothing where there are none. `version`: that of
    these figures (`published_version`).
    """
    rows = _published_rows(version, part, pair) if version else []
    if version is None or not rows:
        return {}
    label = pages_of(version).metric_label
    metrics = [(name, label(name)) for name in dict.fromkeys(name for row in rows for name in row["scores"])]
    sides = [("first", pair.cultures[0]), ("second", pair.cultures[1])] if pair and len(pair.sides) > 1 else []
    of_pair = [name for side in ("first", "second", "gap") if sides for name in with_ends(side)]
    columns = ["model", "settings", *(name for name, _ in metrics), *of_pair, "differs", "provenance"]
    for row in rows:
        row["scores"] = dict.fromkeys(name for name, _ in metrics) | row["scores"]
        row |= {name: getattr(row["scores"][name], "value", None) for name, _ in metrics}
    rows = ordered(rows, request, columns, "published", within="source")
    return {
        "columns": columns,
        "file": rows,
        "page": page_of(rows, request, "published"),
        "scores": [*metrics, *sides],
        "has_gap": bool(sides),
        "is_open": any(name.startswith("published-") for name in request.GET),
        "width": len(columns),
        "has_settings": any(row["settings"] for row in rows),
        "differences": differences(row["run"] for row in rows),
    }


def differences(runs: Iterable[Run]) -> str:
    """Return in what the figures of runs differ from measured ones, each difference once."""
    return " ".join(filter(None, dict.fromkeys(differs(run) for run in runs)))


def _published_rows(version: Benchmark, part: Slice, pair: PairInLanguage | None) -> list[Row]:
    """Return the runs with their scores of a slice, and of a pair with those of both cultures, source by source.

    In the slice of everything a run has a row also if only figures of single groups were published. Figures that are
    relative to a model before its training have a section of their own.
    """
    runs = list(finished_runs(version).order_by("model__hub_id", "pk"))
    slices = {part, *(pair.sides if pair else ())}
    dimensions, groups = zip(*slices, strict=True)
    figures: dict[int, dict[tuple[str, Slice], Score]] = {}
    for score in Score.objects.filter(run__in=runs, dimension__in=dimensions, group__in=groups).order_by("pk"):
        figures.setdefault(score.run_id, {})[score.metric, Slice(score.dimension, score.group)] = score
    training = set(pages_of(version).training_metrics)
    rows = []
    for run in runs:
        of_run = figures.get(run.pk, {})
        scores = {metric: score for (metric, of), score in of_run.items() if of == part}
        if (scores or part == OVERALL_SLICE) and not (scores and scores.keys() <= training):
            shown = {name: score for name, score in scores.items() if name not in training}
            rows.append(_published_row(run, shown, sides_and_gap(of_run, version.main_metric, pair)))
    return sorted(rows, key=lambda row: (row["source"], settings_in_words(row["run"]), -row["first_value"]))


def _published_row(run: Run, scores: Mapping[str, Score], sides: Mapping[str, Any]) -> Row:
    values = (score.value for score in scores.values() if score.value is not None)
    label = run.get_provenance_display().lower()
    return {
        "run": run,
        "source": f"{PUBLISHED}: {run.citation}",
        "scores": {**scores, **sides},
        "first_value": next(values, 0.0),
        "model": run.model.title,
        "settings": labels.variant(run),
        **values_of(sides),
        "differs": differs(run),
        "provenance": f"{label}: {run.reference}" if run.reference else label,
    }


def published_parts(version: Benchmark | None, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    """Return what the probe shows of a benchmark's published figures, with names of their own for tables and charts."""
    parts = pages_of(version).benchmark_parts(version, query, pair) if version else {}
    if not parts:
        return {}
    charts = {name: replace(chart, name=f"{PREFIX}{chart.name}") for name, chart in parts["charts"].items()}
    files = {f"{PREFIX}{name}": file for name, file in parts["files"].items()}
    return {**parts, "charts": charts, "files": files, "prefix": PREFIX}


# Facts of a benchmark that others have as well, and models and runs that differ in nothing but a seed.


def overlap_table(benchmark: Benchmark, versions: Iterable[Benchmark]) -> dict[str, Any]:
    """Return how many of the facts other benchmarks have as well, as counted on import.

    `versions`: those of the other benchmarks.
    """
    rows = [
        {
            "benchmark": row.other,
            "other": row.other.slug,
            "culture": row.culture,
            "facts": row.facts,
            "shared": row.shared,
            "share": row.shared / row.facts,
        }
        for row in shared_facts(benchmark, versions)
    ]
    return {"columns": OVERLAP, "file": rows, "has_cultures": any(row["culture"] for row in rows)} if rows else {}


def replicates_table(request: HttpRequest, standings: Sequence[Row]) -> dict[str, Any]:
    """Return the mean and the spread of runs that differ in a seed alone. Baselines and publications have none."""
    names = ["model", "settings", "provenance"]  # what tells runs apart, in words
    figures = [
        (row["run"].model.hub_id, row["group"], row["run"].provenance, row["main"].value)
        for row in standings
        if row["main"] and not row["is_baseline"] and not row["run"].is_published
    ]
    rows = records(over_seeds(pd.DataFrame(figures, columns=[*names, "value"]), names))
    rows = [{**row, "settings": labels.sentence(row["settings"])} for row in rows]
    return (
        {
            "columns": REPLICATES,
            "file": ordered(rows, request, REPLICATES, "replicates"),
            "has_settings": any(row["settings"] for row in rows),
            "is_open": any(name.startswith("replicates-") for name in request.GET),
        }
        if rows
        else {}
    )
