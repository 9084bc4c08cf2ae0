"""/papers/ and /papers/<name>/ : every table and figure of the five papers, as printed and as measured here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import get_text_list

from leaderboard.figures.paper_figures import (
    SCORES,
    UNIFIED,
    MeasuredWays,
    PaperFigure,
    figures_of,
    is_measured_here,
    measured_ways,
)
from leaderboard.models import Run
from leaderboard.pages.rendering import page_reference, show
from leaderboard.pages.submit_page import OPTION
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import ACCENT, Point
from leaderboard.ui.charts.dot_plots import headed_dots
from leaderboard.ui.columns import interval_columns
from leaderboard.ui.sections import Drawing, Section, anchors, section
from leaderboard.ui.tables import PAGE_SIZE, Column, Table
from probing.papers.declarations import NAMES, Exhibit, Paper, read_paper
from probing.papers.presentation import labels as paper_labels
from probing.papers.printed_figures import UNRESOLVED, differences_of_source, sizes

MOST_CHARTED = 48  # figures in one chart
BYTES = 2  # for each parameter in the files of most models
PRINTED, MEASURED = "printed", "measured here"
MARKERS = {PRINTED: ("circle-open", ACCENT), MEASURED: ("circle", ACCENT)}
MEASURE_THIS = "Measure this"
NOTHING = cells.text("")
OWN_WORDS = (
    "Measured here: with the pairs and words of each model; the command and comparisons use those that all have in "
    "common, as the paper does."
)
COLUMNS = ("model", "way", "metric", "group")
Texts = Mapping[PaperFigure, Mapping[str, str]]  # of each figure, in the order of the paper, by column


def papers_view(request: HttpRequest) -> HttpResponse:
    return render(request, "papers.html", {"papers": [read_paper(name) for name in NAMES]})


def paper_view(request: HttpRequest, name: str) -> HttpResponseBase:
    if name not in NAMES:
        raise Http404(f"There is no paper {name!r} here. Those that are: {', '.join(NAMES)}.")
    paper = read_paper(name)
    measured = measured_ways(paper)
    figures = {exhibit: figures_of(exhibit, measured) for exhibit in paper.exhibits}
    notes = shared_notes([exhibit for exhibit in paper.exhibits if figures[exhibit]])
    sections = [exhibit_section(paper, exhibit, figures[exhibit], measured, notes) for exhibit in paper.exhibits]
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
    paper: Paper,
    exhibit: Exhibit,
    everything: Sequence[PaperFigure],
    measured: MeasuredWays,
    said: Collection[str] = (),
) -> Section:
    """Return the section of a table or figure: what it shows, how to measure the rest, its figures, and a chart.

    `said`: differences that the page states already. Models without a figure are rows only where one can be measured.
    """
    title, figures = exhibit.number, [row for row in everything if row.part or _missing(row, measured).href]
    if exhibit.facts:
        return section(facts_table(exhibit), note=exhibit.caption, title=title)
    command = f"On the command line: clozeboard paper {paper.name} {exhibit.flag}."
    models = get_text_list(list(dict.fromkeys(row.name for row in everything)), "and")
    differences = [*(text for text in differences_of_source(exhibit) if text not in said), exhibit.differs]
    parts = [
        exhibit.caption,
        f"It is about {models}." if everything and not figures else "",
        *(differences if everything else []),
        OWN_WORDS if exhibit.measure == UNIFIED and figures else "",
        "" if exhibit.measure == SCORES and is_measured_here(exhibit) else command,
    ]
    note = " ".join(filter(None, parts)).replace("`", "")  # which mark commands in documents
    if not figures:
        return Section(exhibit.slug, title, note=note)
    texts = texts_of(paper, exhibit, figures)
    table = figures_table(exhibit, texts, measured)
    return section(table, _drawing(exhibit, texts, measured), note, title=title)


def facts_table(exhibit: Exhibit) -> Table[tuple[str, object]]:
    """Return what the paper states beside measurements, such as the settings of a training."""

    def stated(row: tuple[str, object]) -> Cell:
        return cells.text(f"{row[1]:,}" if isinstance(row[1], int) else str(row[1]))

    columns: list[Column[tuple[str, object]]] = [
        Column("what", "What", lambda row: cells.text(row[0]), align="head"),
        Column("stated", "As stated", stated),
    ]
    return Table(exhibit.slug, exhibit.caption, columns, list(exhibit.facts.items()), sortable=False)


def figures_table(exhibit: Exhibit, texts: Texts, measured: MeasuredWays) -> Table[PaperFigure]:
    told_apart, are_shares = _told_apart(texts), _are_shares(exhibit, texts)
    any_printed = any(row.printed is not None for row in texts)

    def with_bar(cell: Cell) -> Cell:
        return cell if are_shares else replace(cell, bar=None)

    def here(row: PaperFigure) -> Cell:
        if row.measured is None:
            return _missing(row, measured)
        run = measured.runs[row.model, row.way.name]
        return replace(cells.of_run(with_bar(cells.of_score(row.measured)), run), href=run.get_absolute_url())

    def text(name: str, title: str, align: str = "") -> Column[PaperFigure]:
        shown = name == "model" or name in told_apart
        return Column(name, title, lambda row: cells.text(texts[row][name]), align=align, shown=shown)

    columns = [
        text("model", "Model", "head"),
        text("way", "Asked"),
        text("metric", "Figure"),
        text("group", "Part"),
        Column("printed", "Printed", lambda row: with_bar(_printed(row)), align="score", shown=any_printed),
        Column("measured", "Measured here", here, align="score", shown=is_measured_here(exhibit)),
        *interval_columns(lambda row: row.measured),
        Column("difference", "Difference", _difference, align="number", shown=any(row.measured for row in texts)),
    ]
    return Table(exhibit.slug, exhibit.caption, columns, list(texts), page_size=PAGE_SIZE)


def texts_of(paper: Paper, exhibit: Exhibit, figures: Sequence[PaperFigure]) -> Texts:
    """Return the figures with what names them for readers, by the column that says it."""
    return {
        row: {
            "model": row.name or paper.title,
            "way": row.way.label,
            "metric": _named(paper, exhibit, row.part.metric, labels.metric) if row.part else "",
            "group": _named(paper, exhibit, row.part.group, labels.group) if row.part else "",
        }
        for row in figures
    }


def _told_apart(texts: Texts) -> list[str]:
    """Return the columns in whose texts any figures differ."""
    return [name for name in COLUMNS if len({named[name] for named in texts.values()}) > 1]


def _named(paper: Paper, exhibit: Exhibit, name: str, usual: Callable[[str], str]) -> str:
    """Return the name of a metric or group as its paper has it, or else as all pages do."""
    (own,) = paper_labels(paper, exhibit, [name])
    return own if own != name else usual(name)


def _are_shares(exhibit: Exhibit, texts: Texts) -> bool:
    """Tell whether the figures run from 0 to 1, unlike counts, entropies and p-values, which have no bars."""
    return exhibit.unit != "power" and all(0 <= row.printed <= 1 for row in texts if row.printed is not None)


def _printed(row: PaperFigure) -> Cell:
    if row.printed is None:
        return NOTHING
    is_count = row.printed > 1 and row.printed.is_integer()
    cell = cells.number(int(row.printed)) if is_count else cells.score(row.printed)
    return cells.with_mark(cell, Run.Provenance.PUBLISHED)


def _difference(row: PaperFigure) -> Cell:
    if row.printed is None or row.measured is None or row.measured.value is None:
        return cells.signed(None)
    return cells.signed(row.measured.value - row.printed)


def _missing(row: PaperFigure, measured: MeasuredWays) -> Cell:
    """Return the link to the form for a figure that this site could measure."""
    is_too_large = sizes().get(row.model, 0) * BYTES > settings.MODEL_SIZE_LIMIT > 0
    if is_too_large or row.way.name not in measured.benchmarks or row.model.startswith(UNRESOLVED):
        return NOTHING
    options = {f"{OPTION}{name}": value for name, value in row.way.choices.items()}
    named = {"model": row.model, "benchmark": measured.benchmarks[row.way.name].name}
    query = urlencode({**named, **options}, doseq=True)
    return Cell(None, MEASURE_THIS, f"{reverse('submit')}?{query}")


def _drawing(exhibit: Exhibit, texts: Texts, measured: MeasuredWays) -> Drawing | None:
    """Return the chart of shares: hollow dots for what is printed, filled ones for what was measured here."""
    if exhibit.unit != "percent" or len(texts) > MOST_CHARTED:
        return None
    told_apart = _told_apart(texts) or ["model"]
    first, *others = told_apart
    heads: dict[str, str] = {}
    points: list[Point] = []
    for row, named in texts.items():
        label = " · ".join(named[name] for name in told_apart)
        heads[label] = named[first] if others else ""
        if row.printed is not None:
            points.append(Point(label, row.printed, group=PRINTED))
        if row.measured and row.measured.value is not None:
            address = measured.runs[row.model, row.way.name].get_absolute_url()
            ends = (row.measured.low, row.measured.high)
            points.append(Point(label, row.measured.value, *ends, group=MEASURED, href=address))
    if not points:
        return None
    names = {label: label.partition(" · ")[2] or label for label in heads}
    summary = f"{labels.number_of(len(points), 'figure')}: hollow where printed, filled where measured here."
    return summary, headed_dots(points, heads, "", names, MARKERS)
