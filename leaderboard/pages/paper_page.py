"""/papers/ and /papers/<name>/ : every table and figure of the papers, as printed and as measured here.

What a paper shows is declared in `probing.papers`. A run counts for one of its ways of asking models if it has the
settings of this way, whatever else the site has measured.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import get_text_list

from leaderboard.changed_settings import differences, settings_group
from leaderboard.figures.runs import State
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.rendering import page_reference, reference_file, what_is_cited
from leaderboard.pages.submit_page import OPTION
from leaderboard.tables import ENDS, File, Files, Row, download, filled, ordered, page_of, parameter
from leaderboard.ui import labels, spelled
from leaderboard.ui.charts.basics import ACCENT, Chart, Point
from leaderboard.ui.charts.dot_plots import headed_dots
from probing.errors import BadInput
from probing.papers.declarations import (
    FIGURE_COLUMNS,
    KEY,
    NAMES,
    UNRESOLVED,
    Exhibit,
    Paper,
    Way,
    differences_of_source,
    models_of,
    printed_figures,
    read_paper,
    sizes,
)
from probing.papers.exhibits import MEASURED, beside
from probing.papers.exhibits import labels as paper_labels
from probing.settings import Settings

MOST_CHARTED = 48  # figures in one chart
BYTES = 2  # for each parameter in the files of most models
PRINTED, MEASURED_HERE = "printed", "measured here"
MARKERS = {PRINTED: ("circle-open", ACCENT), MEASURED_HERE: ("circle", ACCENT)}
OWN_WORDS = (
    "Measured here: with the pairs and words of each model; the command and comparisons use those that all have in "
    "common, as the paper does."
)
NAMING = ("model", "way", "metric", "group")
COLUMNS = (*NAMING, "printed", "measured", *ENDS, "difference")
FACTS = ("what", "stated")
# Measures of exhibits: scores of runs as they are stored, and the same on what all models of a table have in common.
SCORES, UNIFIED = "scores", "unified"
ModelAndWay = tuple[str, str]  # the id of a model and the name of a way


@dataclass(frozen=True)
class MeasuredWays:
    """What this site has of the ways of a paper: the benchmark of each, and its runs with their scores."""

    ways: Mapping[str, Way]
    benchmarks: Mapping[str, Benchmark]
    runs: Mapping[ModelAndWay, Run]
    scores: Mapping[int, Sequence[Score]]

    def of(self, exhibit: Exhibit, pairs: Iterable[ModelAndWay]) -> pd.DataFrame:
        """Return the scores that an exhibit shows, in the form in which the command `paper` has what it measures."""
        rows = [
            (model, way, score.metric, score.dimension, score.group, score.value, score.low, score.high, score.n, score)
            for model, way in pairs
            if is_measured_here(exhibit) and (run := self.runs.get((model, way)))
            for score in self.scores.get(run.pk, ())
            if score.dimension in exhibit.scores.get(score.metric, ())
        ]
        return pd.DataFrame(rows, columns=[*KEY, *MEASURED, "score"])


def papers_view(request: HttpRequest) -> HttpResponse:
    return render(request, "papers.html", {"papers": [read_paper(name) for name in NAMES]})


def paper_view(request: HttpRequest, name: str) -> HttpResponse:
    if name not in NAMES:
        raise Http404(f"There is no paper {name!r} here. Those that are: {', '.join(NAMES)}.")
    paper = read_paper(name)
    measured = measured_ways(paper)
    named = [exhibit for exhibit in paper.exhibits if exhibit.slug == request.GET.get("table")]
    files = _files({exhibit: _shown(rows_of(paper, exhibit, measured)) for exhibit in named}, request)
    if files and (file := download(request, files)):
        return file
    everything = {exhibit: rows_of(paper, exhibit, measured) for exhibit in paper.exhibits}
    rows = {exhibit: _shown(all_rows) for exhibit, all_rows in everything.items()}
    reference = page_reference(request, f"paper-{name}", f"The figures of {paper.title}, printed and measured")
    if file := download(request, _files(rows, request)) or reference_file(request, reference):
        return file
    repeated = repetitions(rows)
    notes = shared_notes([exhibit for exhibit in paper.exhibits if everything[exhibit]])
    context = {
        **what_is_cited(request, reference),
        "paper": paper,
        "notes": notes.values(),
        "any_measured": bool(measured.runs),
        "exhibits": [
            {
                "id": f"section-{exhibit.slug}",
                "title": exhibit.number,
                "exhibit": exhibit,
                "note": _note(exhibit, everything[exhibit], bool(rows[exhibit]), notes),
                "repeats": repeated.get(exhibit, ""),
                "facts": facts_of(exhibit),
                **(_figures(exhibit, rows[exhibit], request) if rows[exhibit] and exhibit not in repeated else {}),
            }
            for exhibit in paper.exhibits
        ],
    }
    return render(request, "paper.html", context)


def _shown(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that readers see: models without a figure only where one can be measured."""
    return [row for row in rows if row["metric"] or row["submit"]]


def _files(rows: Mapping[Exhibit, list[Row]], request: HttpRequest) -> Files:
    """Return the tables of the page: what a paper states beside its measurements, and its figures."""
    files: dict[str, File] = {}
    for exhibit, figures in rows.items():
        if exhibit.facts:
            files[exhibit.slug] = FACTS, facts_of(exhibit)
        elif figures:
            in_order = ordered(figures, request, COLUMNS, exhibit.slug)
            is_one_page = request.GET.get(parameter("page", exhibit.slug))
            files[exhibit.slug] = COLUMNS, page_of(in_order, request, exhibit.slug) if is_one_page else in_order
    return files


def facts_of(exhibit: Exhibit) -> list[Row]:
    """Return what the paper states beside measurements, such as the settings of a training."""
    return [
        {"what": what, "stated": f"{stated:,}" if isinstance(stated, int) else str(stated)}
        for what, stated in exhibit.facts.items()
    ]


def repetitions(rows: Mapping[Exhibit, Sequence[Row]]) -> dict[Exhibit, str]:
    """Map exhibits with the figures of one before them, such as the plot of a table, to the number of that one."""
    numbers: dict[str, str] = {}
    repeated = {}
    for exhibit, figures in rows.items():
        key = repr([[row[name] for name in (*NAMING, "printed", "measured")] for row in figures])
        if numbers.setdefault(key, exhibit.number) != exhibit.number and figures:
            repeated[exhibit] = numbers[key]
    return repeated


def shared_notes(with_figures: Sequence[Exhibit]) -> dict[str, str]:
    """Map the differences that several exhibits have to the sentence that says it once for all of them."""
    by_difference: dict[str, list[str]] = {}
    for exhibit in with_figures:
        for difference in differences_of_source(exhibit):
            by_difference.setdefault(difference, []).append(exhibit.number)
    return {
        text: "About the printed figures"
        f"{'' if len(numbers) == len(with_figures) else ' of ' + get_text_list(numbers, 'and')}: {text}"
        for text, numbers in by_difference.items()
        if len(numbers) > 1
    }


def _note(exhibit: Exhibit, everything: Sequence[Row], has_rows: bool, said: Collection[str]) -> str:
    """Return what a table or figure shows, and in what the printed figures differ from those that are measured here.

    `said`: differences that the page states already.
    """
    if exhibit.facts:
        return exhibit.caption
    models = get_text_list(list(dict.fromkeys(row["name"] for row in everything)), "and")
    differences = [*(text for text in differences_of_source(exhibit) if text not in said), exhibit.differs]
    parts = [
        exhibit.caption,
        f"It is about {models}." if everything and not has_rows else "",
        *(differences if everything else []),
        OWN_WORDS if exhibit.measure == UNIFIED and any(row["score"] for row in everything) else "",
        "" if has_rows else "Only the command shows it.",
    ]
    return " ".join(filter(None, parts)).replace("`", "")  # which mark commands in documents


def _figures(exhibit: Exhibit, rows: Sequence[Row], request: HttpRequest) -> dict[str, Any]:
    """Return a page of the figures of an exhibit, the columns that it needs, where its bars run, and the chart."""
    page = page_of(ordered(rows, request, COLUMNS, exhibit.slug), request, exhibit.slug)
    told_apart = _told_apart(rows)
    columns = filled(page, ("printed", "difference"))
    if is_measured_here(exhibit) and any(row["score"] or row["submit"] for row in page):
        columns.add("measured")
    scale = "0 to 1" if _are_shares(exhibit, rows) else ""
    return {
        "page": page,
        "columns": columns | (filled(page, NAMING) & set(told_apart)),
        "head": "group" if told_apart and "model" not in told_apart and "group" in told_apart else "model",
        "scale": scale,
        "measured_scale": scale if any(row["measured"] is not None for row in page) else "",
        "chart": _chart(exhibit, rows, told_apart),
    }


def _told_apart(rows: Sequence[Row]) -> list[str]:
    """Return the columns in whose texts any rows differ."""
    return [name for name in NAMING if len({row[name] for row in rows}) > 1]


def _are_shares(exhibit: Exhibit, rows: Sequence[Row]) -> bool:
    """Tell whether the figures run from 0 to 1, unlike counts, entropies and p-values, which have no bars."""
    return exhibit.unit != "power" and all(0 <= row["printed"] <= 1 for row in rows if row["printed"] is not None)


def _chart(exhibit: Exhibit, rows: Sequence[Row], told_apart: Sequence[str]) -> Chart | None:
    """Return the chart of shares: hollow dots for what is printed, filled ones for what was measured here."""
    if exhibit.unit != "percent" or len(rows) > MOST_CHARTED:
        return None
    first, *others = told_apart or ["model"]
    heads: dict[str, str] = {}
    points: list[Point] = []
    for row in rows:
        label = " · ".join(row[name] for name in (first, *others))
        heads[label] = row[first] if others else ""
        if row["printed"] is not None:
            points.append(Point(label, row["printed"], group=PRINTED))
        if row["measured"] is not None:
            address = row["run"].get_absolute_url()
            points.append(Point(label, row["measured"], row["low"], row["high"], group=MEASURED_HERE, href=address))
    if not points:
        return None
    names = {label: label.partition(" · ")[2] or label for label in heads}
    summary = f"{labels.number_of(len(points), 'figure')}: hollow where printed, filled where measured here."
    return Chart(exhibit.slug, exhibit.number, summary, headed_dots(points, heads, "", names, MARKERS))


# What this site has measured of the figures of a paper.


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
    return MeasuredWays(ways, {name: benchmark for name, (benchmark, _) in benchmarks.items()}, runs, by_run)


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


def _runs_of(benchmarks: Mapping[str, tuple[Benchmark, Settings]], models: Iterable[str]) -> dict[ModelAndWay, Run]:
    """Return the newest measured run of each model in each way. One query."""
    rows = Run.objects.filter(
        benchmark__in={benchmark.pk for benchmark, _ in benchmarks.values()},
        model__hub_id__in=models,
        state=State.FINISHED,
        provenance=Run.Provenance.MEASURED,
        items_left_out=0,
    )
    runs: dict[ModelAndWay, Run] = {}
    for run in rows.select_related("model").order_by("pk"):
        for name, (benchmark, chosen) in benchmarks.items():
            if run.benchmark_id == benchmark.pk and _has(run, chosen):
                runs[run.model.hub_id, name] = run
    return runs


def _has(run: Run, chosen: Settings) -> bool:
    """Tell whether a run has these settings, whatever number format its model's size asks for."""
    changed = differences(run.settings, chosen)
    return not settings_group(changed, run.settings, run.model.parameters, run.model.stored_dtype)


def rows_of(paper: Paper, exhibit: Exhibit, measured: MeasuredWays) -> list[Row]:
    """Return the rows of an exhibit as the command `paper` has them, by way and model.

    A model that waits for its first figure in a way has a row without a metric.
    """
    printed = printed_figures(exhibit).astype({"printed": float})
    found: dict[ModelAndWay, list[Row]] = {pair: [] for pair in _pairs(exhibit, printed)}
    for figure in beside(printed, measured.of(exhibit, found)).to_dict("records"):
        row = {str(name): None if pd.isna(value) else value for name, value in figure.items()}
        found[figure["model"], figure["way"]].append(row)
    unknown = dict.fromkeys([*FIGURE_COLUMNS, *MEASURED])
    for (model, way), own in found.items():
        if not own:
            own.append({**unknown, "model": model, "name": model, "way": way})
    return [_row(paper, exhibit, figure, measured) for own in found.values() for figure in own]


def _row(paper: Paper, exhibit: Exhibit, figure: Row, measured: MeasuredWays) -> Row:
    """Return a figure of the command with the texts that name it for readers, and what this site has of it."""
    printed, value, score = figure["printed"], figure["value"], figure.get("score")
    is_count = printed is not None and printed > 1 and printed.is_integer()
    difference = None if printed is None or value is None else value - printed
    return {
        "name": figure["name"],
        "model": figure["name"] or paper.title,
        "way": next(way.label for way in exhibit.ways if way.name == figure["way"]),
        "metric": _named(paper, exhibit, figure["metric"], labels.metric),
        "group": _named(paper, exhibit, figure["group"], labels.group),
        "printed": int(printed) if is_count else printed,
        "printed_text": "" if printed is None else f"{printed:,.0f}" if is_count else _text(exhibit, printed),
        "measured": value,
        **{end: getattr(score, end, None) for end in ENDS},
        "difference": difference,
        "difference_text": _text(exhibit, difference, "+"),
        "score": score,
        "run": score and measured.runs[figure["model"], figure["way"]],
        "submit": "" if score or not is_measured_here(exhibit) else _submit_address(figure, measured),
    }


def _text(exhibit: Exhibit, value: float | None, sign: str = "") -> str:
    """Write a figure with three decimals, or as papers print p-values."""
    if value is None:
        return spelled.NO_VALUE
    if exhibit.unit == "power":
        return spelled.power_of_ten(value, 2, sign)
    return spelled.with_minus(f"{value:+.3f}") if sign else spelled.figure(value)


def _named(paper: Paper, exhibit: Exhibit, name: str | None, usual: Callable[[str], str]) -> str:
    """Return the name of a metric or group as its paper has it, or else as all pages do."""
    if not name:
        return ""
    (own,) = paper_labels(paper, exhibit, [name])
    return own if own != name else usual(name)


def _submit_address(figure: Row, measured: MeasuredWays) -> str:
    """Return the address of the form for a figure that this site could measure; of others there is none."""
    model, way = figure["model"], figure["way"]
    is_too_large = sizes().get(model, 0) * BYTES > settings.MODEL_SIZE_LIMIT > 0
    if is_too_large or way not in measured.benchmarks or model.startswith(UNRESOLVED):
        return ""
    options = {f"{OPTION}{name}": value for name, value in measured.ways[way].choices.items()}
    named = {"model": model, "benchmark": measured.benchmarks[way].name}
    return f"{reverse('submit')}?{urlencode({**named, **options}, doseq=True)}"


def _pairs(exhibit: Exhibit, printed: pd.DataFrame) -> Iterator[ModelAndWay]:
    """Yield the models of each way: first those with printed figures, in the order of the paper."""
    pairs = list(zip(printed["model"], printed["way"], strict=True))
    for way in exhibit.ways:
        yield from (pair for pair in pairs if pair[1] == way.name)
        yield from ((model, way.name) for model in printed_models(exhibit, way))


@cache
def printed_models(exhibit: Exhibit, way: Way) -> Sequence[str]:
    """Return the models on the hub that the paper asked in a way."""
    return models_of(exhibit, way) if exhibit.measure and not exhibit.steps else []
