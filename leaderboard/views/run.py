"""/runs/<id>/ : the progress of a run, and its results once it is finished."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse

from leaderboard.display import cells, labels
from leaderboard.display.links import PageLink, link
from leaderboard.display.sections import Anchor, Fold, Section, anchors
from leaderboard.display.tables import PAGE_SIZE, Column, Table
from leaderboard.exports.every_eval_ever import has_samples
from leaderboard.exports.hugging_face import dataset_id, is_for_model_page
from leaderboard.exports.references import run_reference
from leaderboard.lists.country_shares import has_map
from leaderboard.lists.progress import progress
from leaderboard.lists.runs import OPEN, WORKING
from leaderboard.lists.scores import breakdowns
from leaderboard.lists.trajectories import is_part_of_series
from leaderboard.models import Run, Score
from leaderboard.probe_pages import pages_of, reproduction
from leaderboard.probe_pages.baselines import baselines_in_words
from leaderboard.probe_pages.breakdowns import dimension_section, group_names, has_all_items, titled_cell
from leaderboard.probe_pages.culture.places import Place, one_place, places_of
from leaderboard.probe_pages.details import surprises
from leaderboard.probe_pages.details.folds import folds
from leaderboard.probe_pages.headline import headline
from leaderboard.probe_pages.items import right_or_wrong
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import group_title, relation_names, sentences
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemFilter, Row
from leaderboard.views.page import probe_sections, show, switch_links
from probing.analysis.details import DETAIL_METRICS
from probing.analysis.harness import harness_command, protocol_words
from probing.analysis.ties import TIES, ties_in_words
from probing.analysis.tokens_in_words import tokens_in_words
from probing.results.skipped_items import skipped_in_words

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
    surprising = surprises.sections(run, pages.question_form)
    details = folds(run, scores, request.GET)
    first_questions = questions(run, pages, request.GET)
    script = reproduction.script(run)
    address = request.build_absolute_uri(run.get_absolute_url())
    context = {
        "run": run,
        "pages": pages,
        "headline": main,
        "others": other_figures(scores, main.score if main else None),
        "surprises": surprising,
        "folds": [(fold, fold.is_open(request.GET)) for fold in details],
        "switches": switch_links(pages, request.GET, offered, place),
        "contents": contents(sections, surprising, details, first_questions is not None, bool(script)),
        "has_map": has_map(run),
        "has_series": is_part_of_series(run),
        "has_questions": first_questions is not None,
        "answers": answer_links(request.GET) if has_right_answers(first_questions) else [],
        "notes": run_notes(run, scores) + single_groups(run, pages, scores),
        **_state(run),
        **_origin(run, script),
        **(reuse(request, run) if main and run.state == Run.State.FINISHED else {}),
    }
    folded = [*surprising, *(section for fold in details for section in fold.sections)]
    tables: list[Table[Any]] = [all_scores(run, scores), *([first_questions] if first_questions else [])]
    reference = run_reference(run, pages, main.score, address) if main else None
    return show(request, "run.html", context, tables, sections=sections, folded=folded, reference=reference)


def _state(run: Run) -> dict[str, Any]:
    """Return what the page says about the state of a run and its progress."""
    return {
        "events": list(run.events.all()),
        "live": run.state in OPEN,
        "working": run.state in WORKING,
        "progress": progress(run),
        "phases": phases(run),
    }


def _origin(run: Run, script: str) -> dict[str, Any]:
    """Return what the page says about where the figures of a run come from, and how they can be measured again."""
    record = {**run.provenance_record, "settings": run.settings}
    return {
        "script": script,
        "facts": reproduction.facts(run),
        "all_fields": reproduction.all_fields(run),
        "tokens": tokens_in_words(run.provenance_record),
        "harness": harness_command(record) if script else None,
        "protocol": protocol_words(run.settings),
    }


def reuse(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return what the page offers of a finished run for other sites and programs."""
    return {
        "picture": request.build_absolute_uri(reverse("run_picture", args=[run.pk])),
        "on_hub": is_for_model_page(run),
        "hub_dataset": dataset_id(run.benchmark),
        "has_samples": has_samples(run),
    }


def run_sections(
    run: Run, pages: ProbePages, scores: Sequence[Score], query: QueryDict, place: Place | None = None
) -> list[Section]:
    """Return the probe's sections and every breakdown, that by domain first."""
    groups = breakdowns(scores, pages.main_metric(run.benchmark), pages.hidden_dimensions)
    special = probe_sections(run, pages, query, place)
    names = {section.name for section in special}
    plain = [
        dimension_section(run, pages, name, rows)
        for name, rows in groups.items()
        if name not in names and not has_all_items(rows, scores)
    ]
    plain.sort(key=lambda section: section.name != DOMAIN)
    return [*special, *plain]


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
    columns = pages.item_columns
    rows = list(item_rows.rows(run, numbers, columns.listed(values)))
    built = columns.build(run, values, sentences=sentences(run, rows, pages.question_form))
    return Table(
        name="questions",
        caption="The first questions",
        columns=[replace(column, shown=column.shown and column.name not in HIDDEN) for column in built],
        rows=rows,
        sortable=False,
        band=right_or_wrong(run),
        empty="No question passes this filter.",
    )


def has_right_answers(table: Table[Row] | None) -> bool:
    """Tell whether the questions can be chosen by whether they were answered rightly."""
    return table is not None and any(column.name == "correct" for column in table.columns)


def answer_links(query: QueryDict) -> list[list[PageLink]]:
    """Return the links that choose which questions are shown: all, or those answered right or wrong."""
    chosen = query.get("correct", "") if query.get("correct") in ANSWERS else ""
    return [[PageLink(title, link(query, correct=value or None), value == chosen) for value, title in ANSWERS.items()]]


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


def all_scores(run: Run, scores: Sequence[Score]) -> Table[Score]:
    """Return the tidy scores, with the columns of every scores.csv."""
    pages, relations = pages_of(run.benchmark), relation_names(run)
    return Table(
        name="scores",
        caption="All scores",
        columns=[
            Column("metric", "Metric", lambda s: titled_cell(s.metric, pages.metric_label(s.metric))),
            Column("dimension", "Dimension", lambda s: titled_cell(s.dimension, labels.dimension(s.dimension))),
            Column("group", "Group", lambda s: titled_cell(s.group, group_title(s.dimension, s.group, relations))),
            Column("value", "Value", lambda s: cells.number(s.value, 4), align="number"),
            Column("n", "Questions", lambda s: cells.items(s.n), align="number"),
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


def single_groups(run: Run, pages: ProbePages, scores: Sequence[Score]) -> list[str]:
    """Return a sentence for each breakdown whose only group has all items, which needs no section."""
    groups = breakdowns(scores, pages.main_metric(run.benchmark), pages.hidden_dimensions)
    return [
        f"There is no breakdown by {labels.dimension(name).lower()}, as all questions are in one group: "
        f"{group_names(run, name, rows)[rows[0].name]}."
        for name, rows in groups.items()
        if has_all_items(rows, scores)
    ]


def run_notes(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return sentences that say what a baseline does, which items were asked, and in how many options were equal."""
    shares = [(score.value, score.n) for score in scores if score.metric == TIES]
    ties = [ties_in_words(share, items) for share, items in shares if share]
    baseline = [words] if (words := baselines_in_words([run], pages_of(run.benchmark).baseline_note)) else []
    notes = [*run.provenance_record.get("benchmark_notes", []), *skipped_in_words(run.provenance_record)]
    return [*baseline, *notes, *ties]
