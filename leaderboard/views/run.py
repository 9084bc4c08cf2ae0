"""/runs/<id>/ : the progress of a run, and its results once it is finished."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard.display import cells
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.lists.progress import progress
from leaderboard.lists.runs import OPEN, WORKING
from leaderboard.lists.scores import breakdowns
from leaderboard.models import Model, Run, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.breakdowns import dimension_section
from leaderboard.probe_pages.details.folds import folds
from leaderboard.views.page import probe_sections, show, switch_links
from probing.analysis.details import DETAIL_METRICS
from probing.analysis.harness import harness_command, protocol_words
from probing.analysis.ties import TIES, ties_in_words
from probing.analysis.tokens_in_words import tokens_in_words
from probing.catalog import CATALOG
from probing.command_line.settings_flags import settings_words
from probing.settings import Settings

PHASES = (
    Run.State.QUEUED,
    Run.State.DOWNLOADING,
    Run.State.SCORING,
    Run.State.AGGREGATING,
    Run.State.FINISHED,
)
REPRODUCIBLE = (Run.Provenance.MEASURED, Run.Provenance.THIRD_PARTY)


def run_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    scores = list(run.scores.order_by("pk"))
    pages = pages_of(run.benchmark)
    main = pages.main_metric(run.benchmark)
    groups = breakdowns(scores, main, pages.hidden_dimensions)
    sections = probe_sections(run, pages, request.GET)
    special = {section.name for section in sections}
    sections += [dimension_section(run, pages, name, groups[name]) for name in groups if name not in special]
    details = folds(run, scores, request.GET)
    command_line = command(run) if run.provenance in REPRODUCIBLE else ""
    context = {
        "run": run,
        "pages": pages,
        "overall": [s for s in scores if s.dimension == "overall" and s.metric not in {TIES, *DETAIL_METRICS}],
        "folds": [(fold, fold.is_open(request.GET)) for fold in details],
        "main": _overall_score(scores, main),
        "switches": switch_links(pages, request.GET),
        "events": list(run.events.all()),
        "live": run.state in OPEN,
        "working": run.state in WORKING,
        "progress": progress(run),
        "comparable": bool(run.artefact),
        "command": command_line,
        "tokens": tokens_in_words(run.provenance_record),
        "harness": harness_command({**run.provenance_record, "settings": run.settings}) if command_line else None,
        "protocol": protocol_words(run.settings),
        "record": provenance(run),
        "notes": run_notes(run, scores),
        "phases": phases(run),
    }
    folded = [section for fold in details for section in fold.sections]
    return show(request, "run.html", context, [all_scores(scores)], sections=sections, folded=folded)


def _overall_score(scores: Sequence[Score], metric: str) -> Score | None:
    return next((score for score in scores if score.dimension == "overall" and score.metric == metric), None)


def phases(run: Run) -> list[tuple[str, str]]:
    """Return the states that a run passes through, each with "done", "current" or "to come"."""
    if run.state not in PHASES:
        return []
    place = PHASES.index(Run.State(run.state))
    before = len(PHASES) if run.state == Run.State.FINISHED else place
    return [
        (state.label, "done" if number < before else "current" if number == place else "to come")
        for number, state in enumerate(PHASES)
    ]


def all_scores(scores: Sequence[Score]) -> Table[Score]:
    """Return the tidy scores, with the columns of every scores.csv."""
    return Table(
        name="scores",
        caption="All scores",
        columns=[
            Column("metric", "Metric", lambda s: cells.text(s.metric)),
            Column("dimension", "Dimension", lambda s: cells.text(s.dimension)),
            Column("group", "Group", lambda s: cells.text(s.group)),
            Column("value", "Value", lambda s: cells.number(s.value, 4), align="number"),
            Column("n", "Items", lambda s: cells.items(s.n), align="number"),
            Column("low", "95 % low", lambda s: cells.number(s.low, 4), align="number bound"),
            Column("high", "95 % high", lambda s: cells.number(s.high, 4), align="number bound"),
            Column("cluster_low", "", lambda s: cells.number(s.cluster_low), shown=False),
            Column("cluster_high", "", lambda s: cells.number(s.cluster_high), shown=False),
        ],
        rows=scores,
        main=True,
        page_size=PAGE_SIZE,
        empty="No scores yet.",
    )


def command(run: Run) -> str:
    """Return the command line that measures the same."""
    benchmark = run.benchmark.slug if run.benchmark.slug in CATALOG else f"path/to/{run.benchmark.slug}"
    words = ["python", "-m", "probing", "run", _weights(run.model), "--benchmark", benchmark]
    words += ["--commit", run.model.commit] if run.model.source == Model.Source.HUB and run.model.commit else []
    words += settings_words(Settings.from_json(run.settings))
    return shlex.join([*words, "--out", f"run-{run.pk}"])


def _weights(model: Model) -> str:
    """Return what the command names as the model: the file or folder of a local one, as the hub has other weights."""
    if model.weights_file:
        return f"path/to/{model.weights_file}"
    return f"path/to/{model.hub_id.rpartition('/')[-1]}" if model.source == Model.Source.LOCAL else model.hub_id


def run_notes(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return sentences that say which items were asked, and in how many of them options were equal."""
    shares = [(score.value, score.n) for score in scores if score.metric == TIES]
    ties = [ties_in_words(share, items) for share, items in shares if share is not None]
    return [*run.provenance_record.get("benchmark_notes", []), *skipped(run), *ties]


def skipped(run: Run) -> list[str]:
    """Return a sentence for each reason why items were not asked, with their number and relations."""
    by_reason: dict[str, list[dict[str, Any]]] = {}
    for part in run.provenance_record.get("items_skipped", []):
        by_reason.setdefault(part["why"], []).append(part)
    return [
        f"{sum(part['items'] for part in parts):,} items were not asked ({reason}): "
        f"{', '.join(part['relation'] for part in parts)}."
        for reason, parts in by_reason.items()
    ]


def provenance(run: Run) -> list[tuple[str, Any]]:
    """Return the values of run.json with their names; the names of nested values are joined by dots."""
    return list(_flat({**run.provenance_record, "items_skipped": skipped(run)}))


def _flat(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif value not in (None, "", []):
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else value
