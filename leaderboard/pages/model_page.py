"""/models/<org>/<name>/ : what a model knows, beside models of similar size, and every run."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.text import slugify

from leaderboard.exports.references import Reference, listed
from leaderboard.figures.profiles import medians, profile
from leaderboard.figures.runs import OPEN, model_printed, model_runs, model_versions
from leaderboard.figures.scores import PART_SETTINGS, Group, breakdowns, main_scores, scores_of
from leaderboard.figures.training import Series, series_of
from leaderboard.models import Benchmark, Entry, FormerName, Model, PrintedRow, Run, Score
from leaderboard.pages.rendering import LIVE_SECONDS, page_reference, reference_file, what_is_cited
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import topic_of, topic_order
from leaderboard.probes.breakdowns import group_href
from leaderboard.probes.culture.pairs import part_in_words, settings_in_words, variant_in_words, with_part
from leaderboard.probes.wording import group_title, relation_names
from leaderboard.tables import ENDS, Row, download, filled, ordered
from leaderboard.ui import labels
from leaderboard.ui.charts import dot_plots
from leaderboard.ui.charts.basics import Chart, Point, score_points, summary

HUB = "https://huggingface.co/"
ENDED = (Run.State.FAILED, Run.State.CANCELLED)
EXTREMES = 3  # groups that are named as known best, and as known least
LEAST_QUESTIONS = 10  # of each of these
REPORTED = "reported"  # among the differences of a published run

RUNS = (
    *("run", "benchmark", "settings", "step", "commit", "state", "metric", "part", "score", *ENDS),
    *("provenance", "date"),
)
PUBLISHED = ("benchmark", "place", "settings", "metric", "part", "score", *ENDS, "provenance", "differs")
PROFILE = (
    *("benchmark", "topic", "metric", "run", "score", *ENDS, "published", "published_difference", "chance"),
    *("similar", "similar_low", "similar_median", "similar_high", "similar_models", "provenance"),
)
KNOWN = ("group", "value", *ENDS, "chance", "median", "n")


def model_view(request: HttpRequest, org: str, name: str) -> HttpResponseBase:
    hub_id = f"{org}/{name}"
    versions = list(model_versions(hub_id))
    if not versions:
        return _under_its_present_name(hub_id)
    runs, printed = list(model_runs(hub_id)), model_printed(hub_id)
    scores = main_scores([*runs, *printed])
    sized = next((version for version in versions if version.parameters), versions[0])
    stored = sorted(profile(hub_id, [*runs, *printed], sized.parameters), key=_topic_and_title)
    chosen = _chosen_figure(stored, request.GET.get("benchmark", ""))
    dimension, groups = known_groups(chosen) if chosen else ("", [])
    rows = {
        "runs": [_run_row(run, scores.get(run.pk)) for run in runs],
        "published": [_printed_row(row, scores.get(row.pk)) for row in printed],
        "profile": [_profile_row(figure) for figure in stored],
        "known": groups,
    }
    files = _files(request, rows)
    everything: list[Entry] = [*runs, *printed]
    reference = _reference(request, versions[0], [(run, scores[run.pk]) for run in everything if run.pk in scores])
    if file := download(request, files) or (reference_file(request, reference) if reference else None):
        return file
    context = {
        **{f"{table}_filled": filled(of_table, columns) for table, (columns, of_table) in files.items()},
        **{table: of_table for table, (_, of_table) in files.items()},
        **_facts(versions, runs, printed),
        **_runs_context(request, files["runs"][1], series_of(runs)),
        "sized": sized,
        "charts": _charts(rows["profile"], chosen["run"] if chosen else None, dimension, groups),
        "profile_note": _profile_note(rows["profile"], sized.parameters),
        "choices": [figure["run"].benchmark for figure in stored if figure["run"].artefact],
        **(_known_context(chosen["run"], dimension, groups) if chosen and groups else {}),
        **what_is_cited(request, reference),
    }
    response = render(request, "model.html", context)
    if context["live"]:  # it changes with time and with parts of runs
        patch_cache_control(response, max_age=LIVE_SECONDS)
    return response


def _files(request: HttpRequest, rows: Mapping[str, list[Row]]) -> dict[str, tuple[Sequence[str], list[Row]]]:
    """Return the tables with their columns and their rows in the order that the query string asks for."""
    tables = (
        ("runs", RUNS, "heading"),
        ("published", PUBLISHED, "heading"),
        ("profile", PROFILE, "topic"),
        ("known", KNOWN, ""),
    )
    return {
        name: (columns, ordered(rows[name], request, columns, "" if name == "runs" else name, within))
        for name, columns, within in tables
        if rows[name] or name == "runs"
    }


def _reference(request: HttpRequest, model: Model, scores: Sequence[tuple[Entry, Score]]) -> Reference | None:
    """Return how the page is cited; None without a figure."""
    figures = [(run, score) for run, score in scores if score.value is not None]
    name = model.printed_name or model.hub_id
    key = f"model-{slugify(name.replace('/', ' '))}"
    return page_reference(request, key, f"{name}: figures by benchmark", listed(figures)) if figures else None


def _under_its_present_name(hub_id: str) -> HttpResponseBase:
    """Redirect from a former name of a model; raises `Http404` if there is no such name."""
    former = FormerName.objects.filter(name=hub_id).first()
    if former is None:
        raise Http404(f"This site has no model called {hub_id}.")
    return redirect("model", *former.hub_id.split("/", 1), permanent=True)


def _hub_url(versions: Sequence[Model]) -> str:
    """Return the address of a model's page on the hub; empty for local files and printed names."""
    model = versions[0]
    is_local = all(version.source == Model.Source.LOCAL for version in versions)
    return "" if is_local or model.printed_name else f"{HUB}{model.base_id}"


def _facts(versions: Sequence[Model], runs: Sequence[Run], printed: Sequence[PrintedRow]) -> dict[str, Any]:
    """Return what the page says about the model, and about runs without results."""
    model, finished = versions[0], [run for run in runs if run.state == Run.State.FINISHED]
    waiting = [run for run in runs if run.state in OPEN]
    org, _, name = model.hub_id.partition("/")
    return {
        "model": model,
        "name": model.printed_name or name,
        "org": "" if model.printed_name else org,
        "hub_url": _hub_url(versions),
        "versions": [version for version in versions if version.commit],
        "finished": bool(finished or printed),
        "is_comparable": bool(finished),
        "measured": any(run.provenance == Run.Provenance.MEASURED for run in finished),
        "live": bool(waiting),  # the steps of a run at work are no change of the data
        "waiting": waiting,
        "ended": [run for run in runs if run.state in ENDED],
    }


# Its runs.


def _run_row(run: Run, score: Score | None) -> Row:
    """Return a run with the score that stands for it in the main metric, or in that of published figures."""
    return {
        **_figure_row(run, score),
        "run": run.pk,
        "step": run.model.step,
        "commit": run.model.commit[:7],
        "state": run.get_state_display(),
        "date": timezone.localtime(run.finished).date().isoformat() if run.finished else None,
    }


def _printed_row(row: PrintedRow, score: Score | None) -> Row:
    """Return a row of a source with the score that stands for it."""
    return {**_figure_row(row, score), "place": row.first.place, "differs": row.differs}


def _figure_row(run: Entry, score: Score | None) -> Row:
    pages = pages_of(run.benchmark)
    return {
        "stored": run,
        "figure": score,
        "heading": with_part(run.benchmark.title, score) if score else run.benchmark.title,
        "benchmark": run.benchmark.title,
        "settings": run.variant,
        "settings_in_words": variant_in_words(run),
        "metric": pages.metric_label(run.benchmark.main_metric),
        "part": part_in_words(score) if score else "",
        "score": score.value if score else None,
        **_ends(score),
        "provenance": run.source,
    }


def _ends(score: Score | None) -> Row:
    """Return the ends of the intervals of a score."""
    return {end: getattr(score, end, None) for end in ENDS}


def _runs_context(request: HttpRequest, rows: Sequence[Row], series: Sequence[Series]) -> dict[str, Any]:
    """Return the runs, those of one series in one row, which says how many steps it has."""
    steps = {part.last.pk: len(part.runs) for part in series}
    earlier = [run for part in series for run in part.runs if run.pk not in steps]
    hidden = {run.pk for run in earlier}
    return {
        "runs": [{**row, "steps": steps.get(row["run"], 0)} for row in rows if row["run"] not in hidden],
        "series": series,
        "earlier_models": {run.model_id for run in earlier} - {part.model.pk for part in series},
        "unfinished": any(row["stored"].state != Run.State.FINISHED for row in rows),
        "has_sorted": "sort" in request.GET,
    }


# Its figures on all benchmarks.


def _topic_and_title(row: Row) -> tuple[int, str]:
    benchmark = row["run"].benchmark
    return topic_order(benchmark), benchmark.title


def row_label(run: Entry, score: Score | None = None) -> str:
    """Return the title of a run's benchmark, with the part of it that its score is about and unusual settings."""
    part = part_in_words(score) if score else ""
    settings = run.group_without(PART_SETTINGS) if part else settings_in_words(run)
    beside = ", ".join(filter(None, [part, settings]))
    return f"{run.benchmark.title} ({beside})" if beside else run.benchmark.title


def metric_label(benchmark: Benchmark) -> str:
    """Return the title of the metric in which models are compared: that of the benchmark's probe."""
    return pages_of(benchmark).metric_label(benchmark.main_metric)


def _profile_row(figure: Row) -> Row:
    """Return a figure of `profile` with the values of the CSV."""
    run, score, band = figure["run"], figure["score"], figure["band"]
    published, printed = figure["published"] or (None, None)
    return {
        "stored": run,
        "figure": score,
        "band": band,
        "published_run": published,
        "published_note": _note(published) if published else "",
        "benchmark": row_label(run, score),
        "topic": topic_of(run.benchmark),
        "metric": metric_label(run.benchmark),
        "run": None if run.is_published else run.pk,
        "score": score.value,
        **_ends(score),
        "published": printed.value if printed else None,
        "published_difference": _published_difference(figure),
        "chance": figure["chance"],
        "similar": _similar_words(band, len(figure["similar"])) if band else "",
        "similar_low": band[0] if band else None,
        "similar_median": figure["median"],
        "similar_high": band[1] if band else None,
        "similar_models": len(figure["similar"]),
        "provenance": run.source,
    }


def _note(published: PrintedRow) -> str:
    """Return the source of a published figure, and what differs in it."""
    return ", ".join(filter(None, [published.citation, published.settings_group, published.differs]))


def _published_difference(figure: Row) -> float | None:
    """Return the published figure minus that measured here, on the same items in the same settings.

    Who reported a figure is no setting.
    """
    if figure["published"] is None:
        return None
    measured, (published, score) = figure["run"], figure["published"]
    ignored = {REPORTED, *(PART_SETTINGS if part_in_words(figure["score"]) else ())}
    same_settings = published.group_without(ignored) == measured.group_without(ignored)
    comparable = same_settings and published.benchmark_id == measured.benchmark_id and not published.differs
    return float(score.value or 0) - figure["score"].value if comparable else None


def _similar_words(band: tuple[float, float], number: int) -> str:
    low, high = band
    return f"{low:.3f}, 1 model" if number == 1 else f"{low:.3f} to {high:.3f}, {number} models"


def profile_chart(rows: Sequence[Row]) -> Chart:
    """Return the chart of the figures on all benchmarks, beside the range of models of similar size."""
    points = [_point(row["benchmark"], row["figure"], row["stored"], row["stored"].get_absolute_url()) for row in rows]
    heads = {row["benchmark"]: row["topic"] for row in rows}
    bands, chance = _by_label(rows, "benchmark", "band"), _by_label(rows, "benchmark", "chance")
    kind = rows[0]["stored"].model.kind
    figure = dot_plots.profile(points, heads, "score", kind, bands, chance=chance)
    return Chart("profile", "Profile", _profile_summary(rows), figure)


def _point(label: str, figure: Score, run: Entry, href: str) -> Point:
    group = "" if run.provenance == Run.Provenance.MEASURED else dot_plots.PUBLISHED
    return Point(label, figure.value or 0.0, figure.low, figure.high, group=group, href=href)


def _by_label(rows: Sequence[Row], label: str, name: str) -> dict[str, Any]:
    """Map the labels of rows to what they have of this name, as far as they have it."""
    return {row[label]: row[name] for row in rows if row[name] is not None}


def _charts(profile_rows: Sequence[Row], run: Run | None, dimension: str, groups: Sequence[Row]) -> dict[str, Chart]:
    figures = [profile_chart(profile_rows)] if profile_rows else []
    return {
        chart.name: chart for chart in [*figures, *([known_chart(run, dimension, groups)] if run and groups else [])]
    }


def _profile_note(rows: Sequence[Row], parameters: int | None) -> str:
    if not parameters:
        return "Its size is not known, so it is not compared with models of similar size."
    if not any(row["band"] for row in rows):
        return "No other model of similar size has figures on these benchmarks yet."
    note = "The grey bands are the ranges of models with half to twice as many parameters."
    return f"{note} The ticks are chance." if any(row["chance"] is not None for row in rows) else note


def _profile_summary(rows: Sequence[Row]) -> str:
    low, high = min(rows, key=lambda row: row["score"]), max(rows, key=lambda row: row["score"])
    ends = f"{low['benchmark']} {low['score']:.3f}"
    if high is not low:
        ends = f"From {ends} to {high['benchmark']} {high['score']:.3f}"
    compared = [row for row in rows if row["similar_median"] is not None]
    if not compared:
        return f"{ends}."
    above_in = labels.ahead_in((row["score"] - row["similar_median"] for row in compared), "benchmark")
    return f"{ends}. Above the median of models of similar size {above_in}."


# What it knows best and least, by group of items.


def _chosen_figure(figures: Sequence[Row], benchmark: str) -> Row | None:
    """Return the figure on the chosen benchmark, or on the first with results here, or on the first at all."""
    own = [figure for figure in figures if figure["run"].artefact] or figures
    return next((figure for figure in own if figure["run"].benchmark.name == benchmark), own[0] if own else None)


def groups_dimension(benchmark: Benchmark, groups: Mapping[str, Sequence[Group]]) -> str:
    """Return the dimension that says best what a model knows; empty where none has two groups with figures."""
    dimensions = ("domain", "fact_type", *pages_of(benchmark).default_dimensions, "relation")
    return next((name for name in dimensions if sum(map(_has_value, groups.get(name, ()))) > 1), "")


def _has_value(group: Group) -> bool:
    return group.main is not None and group.main.value is not None


def known_groups(figure: Row) -> tuple[str, list[Row]]:
    """Return the dimension that says best what a model knows, and its groups, the best known against chance first.

    Beside each group stand chance and the median of measured models of similar size.
    """
    run, metric = figure["run"], figure["run"].benchmark.main_metric
    by_dimension = breakdowns(scores_of([run]), metric)
    dimension = groups_dimension(run.benchmark, by_dimension)
    names, groups = relation_names(run), [group for group in by_dimension.get(dimension, ()) if _has_value(group)]
    similar = medians(figure["similar"], metric, dimension, [group.name for group in groups])
    rows = [
        {
            "figure": group.main,
            "title": group_title(dimension, group.name, names),
            "href": group_href(run, dimension, group.name),
            "group": group.name,
            "value": group.main.value,
            **_ends(group.main),
            "chance": group.scores["chance"].value if "chance" in group.scores else None,
            "median": similar.get(group.name),
            "n": group.main.n or None,
        }
        for group in groups
        if group.main
    ]
    return dimension, sorted(rows, key=lambda row: row["value"] - (row["chance"] or 0), reverse=True)


def _known_context(run: Run, dimension: str, groups: Sequence[Row]) -> dict[str, Any]:
    """Return what the page says of the groups of a run, and which are known best and least."""
    best, least = extremes(groups)
    title, words = known_title(run, dimension), labels.dimension(dimension)
    return {
        "known_run": run,
        "known_title": title,
        "known_on": row_label(run),
        "dimension": words,
        "best": best,
        "least": least,
    }


def known_title(run: Run, dimension: str) -> str:
    return f"{metric_label(run.benchmark)} by {labels.dimension(dimension).lower()}"


def known_chart(run: Run, dimension: str, groups: Sequence[Row]) -> Chart:
    """Return the chart of the groups of a run."""
    title, heads = known_title(run, dimension), {group["title"]: "" for group in groups}
    points = [_point(group["title"], group["figure"], run, group["href"]) for group in groups]
    medians, chance = _by_label(groups, "title", "median"), _by_label(groups, "title", "chance")
    metric = labels.within(metric_label(run.benchmark))
    words = summary(f"{title} on {row_label(run)}", score_points((group["title"], group["figure"]) for group in groups))
    return Chart(
        "known", title, words, dot_plots.profile(points, heads, metric, run.model.kind, medians=medians, chance=chance)
    )


def extremes(groups: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return what a model knows best and least against chance, without naming a group twice.

    Groups of few questions are left out, and what it knows best is clearly above chance: its interval is.
    """
    many = [group for group in groups if (group["n"] or 0) >= LEAST_QUESTIONS]
    number = min(EXTREMES, len(many) // 2)
    return [group for group in many[:number] if _is_known(group)], many[::-1][:number]


def _is_known(group: Row) -> bool:
    """Tell whether a model is clearly above chance; a figure without interval is taken as it is."""
    lowest = group["value"] if group["low"] is None else group["low"]
    return bool(lowest > (group["chance"] or 0))
