"""How figures are cited: those of a run, of a model, of a benchmark and of any other page."""

from collections.abc import Sequence
from datetime import date

from django.utils.text import slugify

from leaderboard.display import cells, labels
from leaderboard.display.figures import figure, interval_note
from leaderboard.display.labels import within
from leaderboard.exports.references import Reference
from leaderboard.models import Benchmark, Run, Score, Snapshot
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.breakdowns import hover_label
from leaderboard.probe_pages.culture.places import variant_in_words
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import group_title, relation_names
from probing.analysis.crossed import CROSSED

MOST_FIGURES = 12  # that the reference of a model lists


def score_reference(run: Run, pages: ProbePages, score: Score, address: str) -> Reference:
    """Return how a score of a finished run is cited, with all that pins it; `address`: of the run's page, absolute."""
    group = "" if score.dimension == "overall" else f", {_group_in_words(run, score)}"
    parts = [] if not group else [score.metric, score.dimension, score.group]
    facts = [
        figure_in_words(pages.metric_label(score.metric), score),
        ", ".join(filter(None, [run.model.version_in_words, variant_in_words(run)])),
        f"benchmark version {run.benchmark.version[:12]}",
        _origin(run),
    ]
    return Reference(
        key="-".join(filter(None, ["clozeboard-run", str(run.pk), *map(slugify, parts)])),
        title=f"{run.model.title} on {run.benchmark.title}{group}",
        details="; ".join(filter(None, facts)),
        address=address,
        part=f"run {run.pk}",
        version=run.benchmark.version,
        issued=run.finished.date() if run.finished and not run.is_published else None,
    )


def model_reference(name: str, figures: Sequence[tuple[Run, Score]], address: str, accessed: date) -> Reference:
    """Return how the page of a model is cited: its figures with their runs, as long as these are few."""
    listed = [_figure_of_run(run, score) for run, score in figures[:MOST_FIGURES]]
    more = len(figures) - len(listed)
    return Reference(
        key=f"clozeboard-model-{slugify(name.replace('/', ' '))}",
        title=f"{name}: figures by benchmark",
        details="; ".join([*listed, *([f"and {more} more"] if more else [])]),
        address=address,
        accessed=accessed,
    )


def benchmark_reference(benchmark: Benchmark, models: int, address: str, accessed: date) -> Reference:
    """Return how the standings of a benchmark are cited."""
    return Reference(
        key=f"clozeboard-benchmark-{slugify(benchmark.name.replace(':', ' '))}",
        title=f"Standings on {benchmark.title}",
        details=f"{labels.number_of(models, 'run')}; benchmark version {benchmark.version[:12]}",
        address=address,
        version=benchmark.version,
        accessed=accessed,
    )


def snapshot_reference(snapshot: Snapshot, address: str) -> Reference:
    """Return how frozen tables are cited."""
    return Reference(
        key=f"clozeboard-snapshot-{snapshot.digest[:12]}",
        title=snapshot.title,
        details=f"tables as they were on {snapshot.created:%Y-%m-%d}",
        address=address,
        part="snapshot",
        version=snapshot.digest,
        issued=snapshot.created.date(),
    )


def _group_in_words(run: Run, score: Score) -> str:
    """Return the group of a score in words, with its stored name where that differs; a single tag is named before."""
    title = group_title(score.dimension, score.group, relation_names(run))
    if score.dimension == "template":
        return within(title)
    words = hover_label(score.group, title)
    return words if score.dimension in CROSSED else f"{within(labels.dimension(score.dimension))} {words}"


def figure_in_words(metric: str, score: Score) -> str:
    """Return a figure with its interval and the number of its questions; `metric`: the title of its metric."""
    note = interval_note(score.low, score.high)
    interval = f" ({note})" if note else ""
    items = f" over {cells.items(score.n).text} questions" if score.n else ""
    return f"{within(metric)} {figure(score.value or 0.0)}{interval}{items}"


def _figure_of_run(run: Run, score: Score) -> str:
    metric = pages_of(run.benchmark).metric_label(score.metric)
    version = run.benchmark.version[:12]
    return f"{run.benchmark.title} (version {version}, run {run.pk}): {figure_in_words(metric, score)}"


def _origin(run: Run) -> str:
    """Return when the figure was measured, or who published it."""
    if run.reference:
        return f"{run.get_provenance_display().lower()}: {run.reference}"
    return f"{run.get_provenance_display().lower()} on {run.finished:%Y-%m-%d}" if run.finished else ""
