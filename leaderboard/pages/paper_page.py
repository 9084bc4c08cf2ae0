"""/papers/ and /papers/<name>/ : every table and figure of the five papers, as printed and as measured here.

What a paper shows is declared in `probing.papers`. A run counts for one of its ways of asking models if it has the
settings of this way, whatever else the site has measured.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import get_text_list

from leaderboard.changed_settings import differences, settings_group
from leaderboard.figures.runs import State
from leaderboard.models import Benchmark, Run, Score
from leaderboard.pages.rendering import page_reference, show
from leaderboard.pages.submit_page import OPTION
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import ACCENT, Point
from leaderboard.ui.charts.dot_plots import headed_dots
from leaderboard.ui.sections import Drawing, Section, anchors, section
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, interval_columns
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
MEASURE_THIS = "Measure this"
NOTHING = cells.text("")
OWN_WORDS = (
    "Measured here: with the pairs and words of each model; the command and comparisons use those that all have in "
    "common, as the paper does."
)
COLUMNS = ("model", "way", "metric", "group")
# Measures of exhibits: scores of runs as they are stored, and the same on what all models of a table have in common.
SCORES, UNIFIED = "scores", "unified"
# Of the rows of an exhibit, beside what the command has: the score that this site has stored, and the texts that name a
# row for readers, by column.
SCORE, TEXTS = "score", "texts"
Row = Mapping[str, Any]
Asked = tuple[str, str]  # the id of a model and the name of a way


@dataclass(frozen=True)
class MeasuredWays:
    """What this site has of the ways of a paper: the benchmark of each, and its runs with their scores."""

    ways: Mapping[str, Way]
    benchmarks: Mapping[str, Benchmark]
    runs: Mapping[Asked, Run]
    scores: Mapping[int, Sequence[Score]]

    def of(self, exhibit: Exhibit, asked: Iterable[Asked]) -> pd.DataFrame:
        """Return the scores that an exhibit shows, in the form in which the command `paper` has what it measures."""
        rows = [
            (model, way, score.metric, score.dimension, score.group, score.value, score.low, score.high, score.n, score)
            for model, way in asked
            if is_measured_here(exhibit) and (run := self.runs.get((model, way)))
            for score in self.scores.get(run.pk, ())
            if score.dimension in exhibit.scores.get(score.metric, ())
        ]
        return pd.DataFrame(rows, columns=[*KEY, *MEASURED, SCORE])


def papers_view(request: HttpRequest) -> HttpResponse:
    return render(request, "papers.html", {"papers": [read_paper(name) for name in NAMES]})


def paper_view(request: HttpRequest, name: str) -> HttpResponseBase:
    if name not in NAMES:
        raise Http404(f"There is no paper {name!r} here. Those that are: {', '.join(NAMES)}.")
    paper = read_paper(name)
    measured = measured_ways(paper)
    rows = {exhibit: rows_of(paper, exhibit, measured) for exhibit in paper.exhibits}
    notes = shared_notes([exhibit for exhibit in paper.exhibits if rows[exhibit]])
    sections = [exhibit_section(paper, exhibit, rows[exhibit], measured, notes) for exhibit in paper.exhibits]
    context = {
        "paper": paper,
        "notes": notes.values(),
        "contents": anchors(sections),
        "any_measured": bool(measured.runs),
    }
    reference = page_reference(request, f"paper-{name}", f"The figures of {paper.title}, printed and measured")
    return show(request, "paper.html", context, sections=sections, reference=reference)


def shared_notes(with_figures: Sequence[Exhibit]) -> dict[str, str]:
    """Map the differences that several exhibits have to the sentence that says it once for all of them."""
    by_difference: dict[str, list[str]] = {}
    for exhibit in with_figures:
        for difference in differences_of_source(exhibit):
            by_difference.setdefault(difference, []).append(exhibit.number)
    return {
        text: text if len(numbers) == len(with_figures) else f"{get_text_list(numbers, 'and')}: {text}"
        for text, numbers in by_difference.items()
        if len(numbers) > 1
    }


def exhibit_section(
    paper: Paper, exhibit: Exhibit, everything: Sequence[Row], measured: MeasuredWays, said: Collection[str] = ()
) -> Section:
    """Return the section of a table or figure: what it shows, how to measure the rest, its figures, and a chart.

    `said`: differences that the page states already. Models without a figure are rows only where one can be measured.
    """
    title, rows = exhibit.number, [row for row in everything if row["metric"] or _missing(row, measured).href]
    if exhibit.facts:
        return section(facts_table(exhibit), note=exhibit.caption, title=title)
    command = f"On the command line: clozeboard paper {paper.name} {exhibit.flag}."
    models = get_text_list(list(dict.fromkeys(row["name"] for row in everything)), "and")
    differences = [*(text for text in differences_of_source(exhibit) if text not in said), exhibit.differs]
    parts = [
        exhibit.caption,
        f"It is about {models}." if everything and not rows else "",
        *(differences if everything else []),
        OWN_WORDS if exhibit.measure == UNIFIED and rows else "",
        "" if exhibit.measure == SCORES and is_measured_here(exhibit) else command,
    ]
    note = " ".join(filter(None, parts)).replace("`", "")  # which mark commands in documents
    if not rows:
        return Section(exhibit.slug, title, note=note)
    return section(figures_table(exhibit, rows, measured), _drawing(exhibit, rows, measured), note, title=title)


def facts_table(exhibit: Exhibit) -> Table[tuple[str, object]]:
    """Return what the paper states beside measurements, such as the settings of a training."""

    def stated(row: tuple[str, object]) -> Cell:
        return cells.text(f"{row[1]:,}" if isinstance(row[1], int) else str(row[1]))

    columns: list[Column[tuple[str, object]]] = [
        Column("what", "What", lambda row: cells.text(row[0]), align="head"),
        Column("stated", "As stated", stated),
    ]
    return Table(exhibit.slug, exhibit.caption, columns, list(exhibit.facts.items()), sortable=False)


def figures_table(exhibit: Exhibit, rows: Sequence[Row], measured: MeasuredWays) -> Table[Row]:
    told_apart, are_shares = _told_apart(rows), _are_shares(exhibit, rows)

    def with_bar(cell: Cell) -> Cell:
        return cell if are_shares else replace(cell, bar=None)

    def here(row: Row) -> Cell:
        if row[SCORE] is None:
            return _missing(row, measured)
        run = measured.runs[row["model"], row["way"]]
        return replace(cells.of_run(with_bar(cells.of_score(row[SCORE])), run), href=run.get_absolute_url())

    def text(name: str, title: str, align: str = "") -> Column[Row]:
        shown = name == "model" or name in told_apart
        return Column(name, title, lambda row: cells.text(row[TEXTS][name]), align=align, shown=shown)

    any_printed = any(row["printed"] is not None for row in rows)
    any_measured = any(row[SCORE] is not None for row in rows)
    columns = [
        text("model", "Model", "head"),
        text("way", "Asked"),
        text("metric", "Figure"),
        text("group", "Part"),
        Column("printed", "Printed", lambda row: with_bar(_printed(exhibit, row)), align="score", shown=any_printed),
        Column("measured", "Measured here", here, align="score", shown=is_measured_here(exhibit)),
        *interval_columns(lambda row: row[SCORE]),
        Column("difference", "Difference", partial(_difference, exhibit), align="number", shown=any_measured),
    ]
    return Table(exhibit.slug, exhibit.caption, columns, rows, page_size=PAGE_SIZE)


def _told_apart(rows: Sequence[Row]) -> list[str]:
    """Return the columns in whose texts any rows differ."""
    return [name for name in COLUMNS if len({row[TEXTS][name] for row in rows}) > 1]


def _named(paper: Paper, exhibit: Exhibit, name: str, usual: Callable[[str], str]) -> str:
    """Return the name of a metric or group as its paper has it, or else as all pages do."""
    (own,) = paper_labels(paper, exhibit, [name])
    return own if own != name else usual(name)


def _are_shares(exhibit: Exhibit, rows: Sequence[Row]) -> bool:
    """Tell whether the figures run from 0 to 1, unlike counts, entropies and p-values, which have no bars."""
    return exhibit.unit != "power" and all(0 <= row["printed"] <= 1 for row in rows if row["printed"] is not None)


def _printed(exhibit: Exhibit, row: Row) -> Cell:
    if row["printed"] is None:
        return NOTHING
    is_count = row["printed"] > 1 and row["printed"].is_integer()
    cell = cells.number(int(row["printed"])) if is_count else cells.score(row["printed"])
    cell = cells.power(row["printed"]) if exhibit.unit == "power" else cell
    return cells.with_mark(cell, Run.Provenance.PUBLISHED)


def _difference(exhibit: Exhibit, row: Row) -> Cell:
    if row["printed"] is None or row["value"] is None:
        return cells.signed(None)
    difference = row["value"] - row["printed"]
    return cells.power(difference, "+") if exhibit.unit == "power" else cells.signed(difference)


def _missing(row: Row, measured: MeasuredWays) -> Cell:
    """Return the link to the form for a figure that this site could measure."""
    is_too_large = sizes().get(row["model"], 0) * BYTES > settings.MODEL_SIZE_LIMIT > 0
    if is_too_large or row["way"] not in measured.benchmarks or row["model"].startswith(UNRESOLVED):
        return NOTHING
    options = {f"{OPTION}{name}": value for name, value in measured.ways[row["way"]].choices.items()}
    named = {"model": row["model"], "benchmark": measured.benchmarks[row["way"]].name}
    query = urlencode({**named, **options}, doseq=True)
    return Cell(None, MEASURE_THIS, f"{reverse('submit')}?{query}")


def _drawing(exhibit: Exhibit, rows: Sequence[Row], measured: MeasuredWays) -> Drawing | None:
    """Return the chart of shares: hollow dots for what is printed, filled ones for what was measured here."""
    if exhibit.unit != "percent" or len(rows) > MOST_CHARTED:
        return None
    told_apart = _told_apart(rows) or ["model"]
    first, *others = told_apart
    heads: dict[str, str] = {}
    points: list[Point] = []
    for row in rows:
        label = " · ".join(row[TEXTS][name] for name in told_apart)
        heads[label] = row[TEXTS][first] if others else ""
        if row["printed"] is not None:
            points.append(Point(label, row["printed"], group=PRINTED))
        if row["value"] is not None:
            address = measured.runs[row["model"], row["way"]].get_absolute_url()
            points.append(Point(label, row["value"], row["low"], row["high"], group=MEASURED_HERE, href=address))
    if not points:
        return None
    names = {label: label.partition(" · ")[2] or label for label in heads}
    summary = f"{labels.number_of(len(points), 'figure')}: hollow where printed, filled where measured here."
    return summary, headed_dots(points, heads, "", names, MARKERS)


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
        for name, (benchmark, chosen) in benchmarks.items():
            if run.benchmark_id == benchmark.pk and _has(run, chosen):
                runs[run.model.hub_id, name] = run
    return runs


def _has(run: Run, chosen: Settings) -> bool:
    """Tell whether a run has these settings, whatever number format its model's size asks for."""
    changed = differences(run.settings, chosen)
    return not settings_group(changed, run.settings, run.model.parameters, run.model.stored_dtype)


def rows_of(paper: Paper, exhibit: Exhibit, measured: MeasuredWays) -> list[Row]:
    """Return the rows of an exhibit as the command `paper` has them, by way and model, with `SCORE` and their texts.

    A model that waits for its first figure in a way has a row without a metric.
    """
    printed = printed_figures(exhibit).astype({"printed": float})
    rows: dict[Asked, list[Row]] = {pair: [] for pair in _asked(exhibit, printed)}
    for row in beside(printed, measured.of(exhibit, rows)).to_dict("records"):
        known = {str(name): None if pd.isna(value) else value for name, value in row.items()}
        rows[row["model"], row["way"]].append({SCORE: None, **known})
    unknown = dict.fromkeys([*FIGURE_COLUMNS, *MEASURED, SCORE])
    for (model, way), own in rows.items():
        if not own:
            own.append({**unknown, "model": model, "name": model, "way": way})
    ways = {way.name: way.label for way in exhibit.ways}
    return [{**row, TEXTS: _texts(paper, exhibit, row, ways)} for own in rows.values() for row in own]


def _asked(exhibit: Exhibit, printed: pd.DataFrame) -> Iterator[Asked]:
    """Yield the models of each way: first those with printed figures, in the order of the paper."""
    pairs = list(zip(printed["model"], printed["way"], strict=True))
    for way in exhibit.ways:
        yield from (pair for pair in pairs if pair[1] == way.name)
        yield from ((model, way.name) for model in printed_models(exhibit, way))


def _texts(paper: Paper, exhibit: Exhibit, row: Row, ways: Mapping[str, str]) -> dict[str, str]:
    """Return what names a row for readers, by the column that says it."""
    metric, group = row["metric"], row["group"]
    return {
        "model": row["name"] or paper.title,
        "way": ways[row["way"]],
        "metric": _named(paper, exhibit, metric, labels.metric) if metric else "",
        "group": _named(paper, exhibit, group, labels.group) if group else "",
    }


@cache
def printed_models(exhibit: Exhibit, way: Way) -> Sequence[str]:
    """Return the models on the hub that the paper asked in a way."""
    return models_of(exhibit, way) if exhibit.measure and not exhibit.steps else []
