"""/runs/<id>/ : the progress of a run, and its results once it is finished."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404

from leaderboard.display import cells
from leaderboard.display.sections import Anchor, Fold, Section, anchors
from leaderboard.display.tables import PAGE_SIZE, Column, PageLink, Table, link
from leaderboard.lists.country_shares import has_map
from leaderboard.lists.progress import progress
from leaderboard.lists.runs import OPEN, WORKING
from leaderboard.lists.scores import breakdowns
from leaderboard.models import Run, Score
from leaderboard.probe_pages import pages_of, reproduction
from leaderboard.probe_pages.breakdowns import dimension_section, relation_names, relation_title
from leaderboard.probe_pages.culture.places import Place, one_place, places_of
from leaderboard.probe_pages.details import surprises
from leaderboard.probe_pages.details.folds import folds
from leaderboard.probe_pages.headline import headline
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemFilter, Row
from leaderboard.views.page import probe_sections, show, switch_links
from probing.analysis.details import DETAIL_METRICS
from probing.analysis.harness import harness_command, protocol_words
from probing.analysis.normalisations import NORMALISATION
from probing.analysis.ties import TIES, ties_in_words
from probing.analysis.tokens_in_words import tokens_in_words

PHASES = (
    Run.State.QUEUED,
    Run.State.DOWNLOADING,
    Run.State.SCORING,
    Run.State.AGGREGATING,
    Run.State.FINISHED,
)
DOMAIN = "domain"  # the breakdown that comes first
QUESTIONS = 10  # that the page shows of a run's items
HIDDEN = ("rank", "index")  # columns that only the list of all items shows
ANSWERS = {"": "All", "yes": "Right", "no": "Wrong"}  # by the value of the parameter `correct`


def run_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    scores = list(run.scores.order_by("pk"))
    pages = pages_of(run.benchmark)
    main = headline(run, pages, scores)
    offered = places_of(pages, [run])
    place = one_place(request.GET, offered)
    sections = run_sections(run, pages, scores, request.GET, place)
    surprising = surprises.sections(run)
    details = folds(run, scores, request.GET)
    asked = questions(run, pages, request.GET)
    script = reproduction.script(run)
    record = {**run.provenance_record, "settings": run.settings}
    context = {
        "run": run,
        "pages": pages,
        "headline": main,
        "others": other_figures(scores, main.score if main else None),
        "surprises": surprising,
        "folds": [(fold, fold.is_open(request.GET)) for fold in details],
        "switches": switch_links(pages, request.GET, offered, place),
        "contents": contents(sections, surprising, details, asked is not None, bool(script)),
        "has_map": has_map(run),
        "asked": asked is not None,
        "answers": [answer_links(request.GET)] if asked and "correct" in {part.name for part in asked.columns} else [],
        "events": list(run.events.all()),
        "live": run.state in OPEN,
        "working": run.state in WORKING,
        "progress": progress(run),
        "script": script,
        "facts": reproduction.facts(run),
        "all_fields": reproduction.all_fields(run),
        "tokens": tokens_in_words(run.provenance_record),
        "harness": harness_command(record) if script else None,
        "protocol": protocol_words(run.settings),
        "notes": run_notes(run, scores),
        "phases": phases(run),
    }
    folded = [*surprising, *(section for fold in details for section in fold.sections)]
    tables: list[Table[Any]] = [all_scores(scores), *([asked] if asked else [])]
    return show(request, "run.html", context, tables, sections=sections, folded=folded)


def run_sections(
    run: Run, pages: ProbePages, scores: Sequence[Score], query: QueryDict, place: Place | None = None
) -> list[Section]:
    """Return the probe's sections and every breakdown, with other normalisations behind that by domain."""
    groups = breakdowns(scores, pages.main_metric(run.benchmark), pages.hidden_dimensions)
    special = probe_sections(run, pages, query, place)
    names = {section.name for section in special}
    plain = [dimension_section(run, pages, name, groups[name]) for name in groups if name not in names]
    plain.sort(key=lambda section: section.name != DOMAIN)
    normalised = [section for section in special if section.name == NORMALISATION]
    return [*(section for section in special if section not in normalised), *plain[:1], *normalised, *plain[1:]]


def contents(
    sections: Sequence[Section], surprising: Sequence[Section], details: Sequence[Fold], questions: bool, script: bool
) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    return [
        *anchors(sections),
        *([Anchor("surprises", "Surprises")] if surprising else []),
        *([Anchor("details", "Behind the figure")] if details else []),
        *([Anchor("questions", "Questions")] if questions else []),
        *([Anchor("reproduce", "Reproduce")] if script else []),
        Anchor("provenance", "Provenance"),
    ]


def other_figures(scores: Sequence[Score], main: Score | None) -> list[Score]:
    """Return the overall figures beside the main one; those of folds stand there, and ties are a sentence."""
    left_out = {TIES, "chance", *DETAIL_METRICS}
    return [
        score for score in scores if score.dimension == "overall" and score.metric not in left_out and score != main
    ]


def questions(run: Run, pages: ProbePages, query: QueryDict) -> Table[Row] | None:
    """Return the first items that pass the filter, None for a run without stored items."""
    if not run.artefact:
        return None
    values = item_rows.ends(run)
    filtered = {"yes": True, "no": False}.get(query.get("correct", "")) if "correct" in values else None
    numbers = item_rows.find(run, ItemFilter(correct=filtered))[:QUESTIONS]
    columns, names = pages.item_columns, relation_names(run)
    return Table(
        name="questions",
        caption="The first questions",
        columns=[_brief(column, names) for column in columns.build(run, values)],
        rows=list(item_rows.rows(run, numbers, columns.listed(values))),
        sortable=False,
        empty="No question passes this filter.",
    )


def _brief(column: Column[Row], names: Mapping[str, str]) -> Column[Row]:
    """Return a column of items as this page shows it: relations by name, and neither ranks nor numbers of questions."""
    if column.name != "relation":
        return replace(column, shown=column.shown and column.name not in HIDDEN)

    def cell(row: Row) -> cells.Cell:
        return replace(column.cell(row), text=relation_title(names, row["relation"]))

    return replace(column, cell=cell)


def answer_links(query: QueryDict) -> list[PageLink]:
    """Return the links that choose which questions are shown: all, or those answered right or wrong."""
    chosen = query.get("correct", "") if query.get("correct") in ANSWERS else ""
    return [PageLink(title, link(query, correct=value or None), value == chosen) for value, title in ANSWERS.items()]


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


def run_notes(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return sentences that say which items were asked, and in how many of them options were equal."""
    shares = [(score.value, score.n) for score in scores if score.metric == TIES]
    ties = [ties_in_words(share, items) for share, items in shares if share]
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
