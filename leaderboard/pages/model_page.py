"""/models/<org>/<name>/ : what a model knows, beside models of similar size, and every run of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from leaderboard.exports.references import model_reference
from leaderboard.figures.profiles import ProfileRow, base_of, medians, profile, tuned_pairs
from leaderboard.figures.runs import OPEN, light_rows, model_runs, model_versions
from leaderboard.figures.scores import breakdowns, main_scores
from leaderboard.figures.standings import differs
from leaderboard.figures.training import Series, series_of
from leaderboard.models import Benchmark, FormerName, Model, Run, Score
from leaderboard.pages.model_sections import (
    by_topic,
    extremes,
    groups_dimension,
    known_groups,
    known_section,
    profile_section,
    tuning_section,
)
from leaderboard.pages.rendering import page_address, show
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import part_in_words, variant_in_words, with_part
from leaderboard.ui import cells
from leaderboard.ui.sections import Section
from leaderboard.ui.tables import Column, Table, interval_columns, score_cell, source_column

HUB = "https://huggingface.co/"
NAMED = 10  # runs without results that the page names; a training can have hundreds of steps
ENDED = (Run.State.FAILED, Run.State.CANCELLED)


class RunScore(NamedTuple):
    """A run and the score that stands for it in the benchmark's main metric; `steps` of a training are in its row."""

    run: Run
    score: Score | None
    steps: int = 0

    @property
    def heading(self) -> str:
        """The title of the benchmark, with the part of its items that the score is about if it is a part."""
        title = self.run.benchmark.title
        return with_part(title, self.score) if self.score else title


def model_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    hub_id = f"{org}/{name}"
    versions = list(model_versions(hub_id))
    if not versions:
        return _under_its_present_name(hub_id)
    runs = list(model_runs(hub_id))
    scores = main_scores(runs, lambda benchmark: pages_of(benchmark).main_metric(benchmark))
    sized = next((version for version in versions if version.parameters), versions[0])
    parameters = sized.parameters
    series = series_of(runs)
    rows = by_topic(profile(hub_id, runs, parameters))
    known_row, known = _known_groups(rows, request.GET.get("benchmark", ""))
    best, least = extremes(known.groups) if known else ([], [])
    has_sorted = any(name == "sort" or name.startswith("published-") for name in request.GET)
    context = {
        "model": versions[0],
        "name": versions[0].printed_name or name,
        "org": "" if versions[0].printed_name else org,
        "parameters": parameters,
        "active": sized.active_parameters if sized.idle_parameters else None,
        "hub_url": _hub_url(versions),
        "versions": shown_versions(versions, series),
        "series": series[0] if series else None,
        "best": best,
        "least": least,
        "known_row": known_row,
        "choices": [row.run.benchmark for row in rows if row.run.artefact],
        "runs_open": has_sorted or not rows,
        **_states(runs),
    }
    sections = [*([profile_section(rows, parameters)] if rows else []), *([known.section] if known else [])]
    base = request.GET.get("base", "") or base_of(versions)
    if tuned := tuned_pairs(base, hub_id, scores):
        sections.append(tuning_section(base, tuned))
    comparable = [run for run in runs if not differs(run)]
    apart = [run for run in runs if differs(run)]
    tables = [runs_table(comparable, scores, series)]
    if apart:
        tables.append(_runs_table([RunScore(run, scores.get(run.pk)) for run in apart], "published"))
    figures = [(run, score) for run in runs if (score := scores.get(run.pk)) and score.value is not None]
    name_shown = context["name"] if versions[0].printed_name else hub_id
    reference = model_reference(name_shown, figures, page_address(request), timezone.now().date())
    return show(request, "model.html", context, tables, sections=sections, reference=reference if figures else None)


def _under_its_present_name(hub_id: str) -> HttpResponseBase:
    """Redirect from a former name of a model; raises `Http404` if there is no such name."""
    former = FormerName.objects.filter(name=hub_id).first()
    if former is None:
        raise Http404(f"This site has no model called {hub_id}.")
    return redirect("model", *former.hub_id.split("/", 1), permanent=True)


def _hub_url(versions: Sequence[Model]) -> str:
    """Return the address of a model's page on the hub; empty for local files, baselines and printed names."""
    model = versions[0]
    on_hub = any(version.source != Model.Source.LOCAL for version in versions)
    return f"{HUB}{model.base_id}" if on_hub and not model.printed_name and not _is_baseline(model) else ""


def _is_baseline(model: Model) -> bool:
    return model.hub_id.startswith("baseline/")


def _states(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the page says about runs without results, and whether anything was measured here."""
    finished = [run for run in runs if run.state == Run.State.FINISHED]
    return {
        "finished": bool(finished),
        "measured": any(run.provenance == Run.Provenance.MEASURED for run in finished),
        **_some("waiting", [run for run in runs if run.state in OPEN]),
        **_some("ended", [run for run in runs if run.state in ENDED]),
    }


def _some(name: str, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the first of these runs under a name, and how many more there are."""
    return {name: runs[:NAMED], f"more_{name}": max(0, len(runs) - NAMED)}


class KnownGroups(NamedTuple):
    """The section on a model's figures by group of items, and these groups, the best known first."""

    section: Section
    groups: list[Any]


def _known_groups(rows: Sequence[ProfileRow], name: str) -> tuple[ProfileRow | None, KnownGroups | None]:
    """Return the groups of the chosen benchmark, or of the first with results here, or of the first at all."""
    own = [row for row in rows if row.run.artefact] or list(rows)
    row = next((row for row in own if row.run.benchmark.name == name), own[0] if own else None)
    if row is None:
        return None, None
    metric = row.run.benchmark.main_metric
    groups = breakdowns(light_rows(Score, row.run.scores.order_by("pk")), metric)
    dimension = groups_dimension(row.run.benchmark, groups)
    if not dimension:
        return row, None
    similar = medians(row.similar, metric, dimension, [group.name for group in groups[dimension]])
    rows_by_gap = known_groups(row.run, dimension, groups[dimension], similar)
    return row, KnownGroups(known_section(row.run, dimension, rows_by_gap), rows_by_gap)


def shown_versions(versions: Sequence[Model], series: Sequence[Series]) -> list[Model]:
    """Return the commits that the page lists: of a training the last step, as its own page has all of them."""
    earlier = {run.model_id for part in series for run in part.runs} - {part.model.pk for part in series}
    return [version for version in versions if version.commit and version.pk not in earlier]


def runs_table(runs: list[Run], scores: dict[int, Score], series: Sequence[Series] = ()) -> Table[RunScore]:
    """Return all runs by benchmark, those of one series in one row; the CSV has a row for every run.

    The state is a column only while any run has no result.
    """
    steps = {part.last.pk: len(part.runs) for part in series}
    earlier = {run.pk for part in series for run in part.runs} - set(steps)
    rows = [RunScore(run, scores.get(run.pk), steps.get(run.pk, 0)) for run in runs if run.pk not in earlier]
    return replace(_runs_table(rows), export=_runs_table([RunScore(run, scores.get(run.pk)) for run in runs]))


def _runs_table(rows: Sequence[RunScore], name: str = "runs") -> Table[RunScore]:
    """Return runs under their benchmarks: all that compare, or published figures with what differs in them."""
    unfinished = any(row.run.state != Run.State.FINISHED for row in rows)
    varied = any(row.run.variant for row in rows)
    return Table(
        name=name,
        caption="Published figures" if name == "published" else "Runs",
        columns=[
            Column("run", "Run", lambda row: cells.Cell(row.run.pk, str(row.run.pk), row.run.get_absolute_url())),
            Column("benchmark", "Benchmark", lambda row: cells.text(row.run.benchmark.title), shown=False),
            Column("settings", "Settings", _settings_cell, align="wide", shown=varied),
            Column("step", "Step", _steps_cell, align="number"),
            Column("commit", "Commit", lambda row: cells.text(row.run.model.commit[:7]), shown=False),
            Column("state", "State", lambda row: cells.text(row.run.get_state_display()), shown=unfinished),
            Column("metric", "Metric", lambda row: cells.text(_metric_label(row.run.benchmark)), shown=False),
            Column("part", "", lambda row: cells.text(part_in_words(row.score) if row.score else ""), shown=False),
            Column("score", "Score", lambda row: score_cell(row.run, row.score), align="score"),
            *interval_columns(lambda row: row.score),
            source_column(lambda row: row.run),
            Column("differs", "What differs", lambda row: cells.text(differs(row.run)), align="wide"),
            Column("date", "Date", lambda row: cells.day(row.run.finished)),
        ],
        rows=rows,
        main=name == "runs",
        heading=lambda row: row.heading,
    )


def _steps_cell(row: RunScore) -> cells.Cell:
    """Show how many steps of a training a row stands for, with a link to them; CSV gets the step of the run itself."""
    step = row.run.model.step
    if not row.steps:
        return cells.number(step)
    address = f"{row.run.model.training_url}?benchmark={row.run.benchmark.name}"
    return cells.Cell(step, f"{row.steps:,} points to {step:,}", address, kind="number")


def _settings_cell(row: RunScore) -> cells.Cell:
    return replace(cells.text(row.run.variant), text=variant_in_words(row.run))


def _metric_label(benchmark: Benchmark) -> str:
    pages = pages_of(benchmark)
    return pages.metric_label(pages.main_metric(benchmark))
