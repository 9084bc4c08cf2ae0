"""/runs/<id>/ : the progress of a run, and its results once it is finished."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard.exports import reproduction
from leaderboard.exports.every_eval_ever import has_samples
from leaderboard.exports.references import run_reference
from leaderboard.figures.highlights import highlights
from leaderboard.figures.item_rows import Row
from leaderboard.figures.progress import progress
from leaderboard.figures.runs import OPEN, WORKING
from leaderboard.figures.scores import OVERALL_SLICE, breakdowns, part_of
from leaderboard.figures.training import is_part_of_series
from leaderboard.models import Run, RunRank, Score
from leaderboard.pages.rendering import show
from leaderboard.pages.run_folds import PlaceFigure, by_place, cautions, folds, place_section
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import baselines_in_words
from leaderboard.probes.breakdowns import dimension_section, has_all_items, titled_cell
from leaderboard.probes.culture.pairs import PairInLanguage, one_pair, pairs_of, switches
from leaderboard.probes.items import item_url
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import answer_cell, group_title, relation_names, row_key, sentences, several_answers
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import uncertainty
from leaderboard.ui.sections import Anchor, Fold, Section, anchors, section
from leaderboard.ui.tables import PAGE_SIZE, Column, Table
from probing.analysis.accuracy import CHANCE, TIES, ties_in_words
from probing.analysis.details import DETAIL_METRICS
from probing.benchmark import PAGE_VIEWS
from probing.harness.harness_command import harness_command, protocol_words
from probing.probes import probe_named
from probing.results.completeness import skipped_in_words
from probing.results.run_json import describe_tokens, start_cautions
from probing.results.unknown_names import unknown_names_in_words

PHASES = (
    Run.State.QUEUED,
    Run.State.DOWNLOADING,
    Run.State.SCORING,
    Run.State.AGGREGATING,
    Run.State.FINISHED,
)
DOMAIN = "domain"  # the breakdown that comes first
MAIN_BREAKDOWNS = (
    DOMAIN,
    "cardinality",
    "relation",
    "culture",
    "culture_pair",
    "language",
    "fact_type",
    "head",
    PAGE_VIEWS,
)


def run_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    scores = list(run.scores.order_by("pk"))
    pages = pages_of(run.benchmark)
    offered = pairs_of([run])
    pair = one_pair(request.GET, offered)
    places = by_place(run, pair)
    main = headline(run, pages, scores, pair, places)
    sections, others = run_sections(run, pages, scores)
    surprising = surprise_sections(run, pages)
    details = [
        *breakdown_fold([*others, *place_section(run, places)]),
        *folds(run, scores, request.GET),
    ]
    probe = pages.run_parts(run, request.GET, pair) if run.state == Run.State.FINISHED else {}
    script = reproduction.script(run)
    address = request.build_absolute_uri(run.get_absolute_url())
    context = {
        "run": run,
        "pages": pages,
        "headline": main,
        "others": other_figures(scores, main.score if main else None),
        "probe": probe,
        "surprises": surprising,
        "folds": [(fold, fold.is_open(request.GET)) for fold in details],
        "switches": switches(request.GET, offered, pair),
        "contents": contents(sections, surprising, details, bool(script)),
        "has_series": is_part_of_series(run),
        "notes": run_notes(run, scores),
        **_state(run),
        **_origin(run, script),
        "has_samples": has_samples(run),
    }
    folded = [*surprising, *(section for fold in details for section in fold.sections)]
    reference = run_reference(run, pages, main.score, address) if main else None
    tables, files = [all_scores(run, scores)], probe.get("files", {})
    return show(request, "run.html", context, tables, (), sections, folded, reference, files)


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
        "tokens": _tokens(run),
        "harness": harness_command(record) if script else None,
        "protocol": protocol_words(run.settings),
    }


def _tokens(run: Run) -> list[str]:
    """Return sentences on how texts became tokens, but for the cautions that stand beside the figure."""
    cautioned = start_cautions(run.provenance_record)
    return [sentence for sentence in describe_tokens(run.provenance_record) if sentence not in cautioned]


def run_sections(run: Run, pages: ProbePages, scores: Sequence[Score]) -> tuple[list[Section], list[Section]]:
    """Return the main breakdowns, that by domain first, and the other breakdowns."""
    groups = breakdowns(scores, pages.main_metric(run.benchmark), pages.hidden_dimensions)
    plain = [
        dimension_section(run, pages, name, rows) for name, rows in groups.items() if not has_all_items(rows, scores)
    ]
    plain.sort(key=lambda section: section.name != DOMAIN)
    repeated = {"relation"} if "fact_type" in groups else set()  # these are the same groups
    main = [section for section in plain if section.name in MAIN_BREAKDOWNS and section.name not in repeated]
    return main, [section for section in plain if section not in main]


def breakdown_fold(sections: Sequence[Section]) -> list[Fold]:
    """Return the fold of breakdowns that are no main ones."""
    if not sections:
        return []
    titles = [section.title[:1].lower() + section.title[1:] for section in sections]
    return [Fold("breakdowns", "Other breakdowns", f"{labels.sentence(', '.join(titles))}.", sections)]


def contents(
    sections: Sequence[Section], surprising: Sequence[Section], details: Sequence[Fold], script: bool
) -> list[Anchor]:
    """Return the page's contents list: what a reader may jump to, in the order of the page."""
    return [
        *anchors(sections),
        *([Anchor("surprises", "Surprises")] if surprising else []),
        *([Anchor("details", "Behind the figure")] if details else []),
        *([Anchor("reproduce", "Reproduce")] if script else []),
        Anchor("provenance", "Provenance"),
    ]


def other_figures(scores: Sequence[Score], main: Score | None) -> list[Score]:
    """Return the figures about the same items as the main one; those of folds stand there, and ties are a sentence."""
    left_out, part = {TIES, CHANCE, *DETAIL_METRICS}, part_of(main) if main else OVERALL_SLICE
    return [score for score in scores if part_of(score) == part and score.metric not in left_out and score != main]


def phases(run: Run) -> list[tuple[str, str]]:
    """Return the states that a run passes through, each with "done", "current" or "to come"."""
    if run.state not in PHASES:
        return []
    phase = PHASES.index(Run.State(run.state))
    before = len(PHASES) if run.state == Run.State.FINISHED else phase
    return [
        (state.label, "done" if number < before else "current" if number == phase else "to come")
        for number, state in enumerate(PHASES)
    ]


def all_digits(score: Score) -> cells.Cell:
    """Show the value of a score with four decimals, or a p-value as papers print it."""
    return cells.power(score.value) if score.metric.startswith(cells.P_VALUE) else cells.number(score.value, 4)


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
            Column("value", "Value", all_digits, align="number"),
            Column("n", run.benchmark.nouns.capitalize(), lambda s: cells.items(s.n), align="number"),
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
    """Return sentences on what a baseline does, what was asked and is unknown, and ties."""
    shares = [(score.value, score.n) for score in scores if score.metric == TIES]
    ties = [ties_in_words(share, items) for share, items in shares if share]
    baseline = [words] if (words := baselines_in_words([run], pages_of(run.benchmark).baseline_note)) else []
    notes = [*run.provenance_record.get("benchmark_notes", []), *skipped_in_words(run.provenance_record)]
    notes += unknown_names_in_words(run.provenance_record)
    return [*baseline, *notes, *ties]


class Headline(NamedTuple):
    """A run's main figure. `uncertainty` is its interval over items as text; `wordings` are its ends over wordings.

    `part` says which items it is about, empty for all of them, and `way` what counts as right where that depends on the
    kind of the model. `basis` says what the figure is a mean of, and how many of the items count. `places` are the
    figures by the place of the blank where there are several, `cautions` what else a reader must know. `rank` is that
    among how many runs, empty without one.
    """

    title: str
    part: str
    way: str
    score: Score
    basis: str
    places: Sequence[PlaceFigure]
    cautions: Sequence[str]
    uncertainty: str
    wordings: tuple[float, float] | None
    number_of_wordings: int
    chance: float | None
    rank: str


def headline(
    run: Run,
    pages: ProbePages,
    scores: Sequence[Score],
    pair: PairInLanguage | None = None,
    places: Sequence[PlaceFigure] = (),
) -> Headline | None:
    """Return the figure of a run, None where it has no score in the main metric of its benchmark.

    `pair`: what it is about where a run was asked several pairs of cultures or in several languages, which are never
    pooled. Wordings and ranks are about all items, and stand beside figures of all items only. `places`: the figures by
    the place of the blank.
    """
    metric, part = pages.main_metric(run.benchmark), pair.part if pair else OVERALL_SLICE
    own = {score.metric: score for score in scores if part_of(score) == part}
    main = own.get(metric)
    if main is None or main.value is None:
        return None
    by_wording = [score.value for score in scores if score.dimension == "template" and score.metric == metric]
    values = [value for value in by_wording if value is not None and pair is None]
    return Headline(
        title=pages.metric_label(metric),
        part=pair.title if pair else "",
        way=run.way,
        score=main,
        basis=basis(run, main, scores, own.values()),
        places=places if len(places) > 1 else (),
        cautions=[*cautions(run, places), *start_cautions(run.provenance_record)],
        uncertainty=uncertainty(main.value, main.low, main.high),
        wordings=(min(values), max(values)) if len(values) > 1 else None,
        number_of_wordings=len(values),
        chance=own[CHANCE].value if CHANCE in own and metric != CHANCE else None,
        rank="" if pair else _rank(run, metric),
    )


def basis(run: Run, main: Score, scores: Iterable[Score], own: Iterable[Score] = ()) -> str:
    """Return the averaging and the denominator of a figure: "mean of 20 fact types, 1,381 of 2,362 sentences".

    `own`: the scores about the same items, which tell how many were asked where only some of these count.
    """
    benchmark, count = run.benchmark, pages_of(run.benchmark).count_column
    nouns = count.title.lower() if count else benchmark.nouns
    asked = max((score.n for score in own if score.metric != CHANCE), default=main.n)  # chance is about all items
    of_file = benchmark.items if part_of(main) == OVERALL_SLICE else 0
    whole = max(asked if count else main.n, of_file)
    counted = f"{cells.items(main.n).text}{f' of {cells.items(whole).text}' if main.n < whole else ''} {nouns}"
    others = f" ({count.others})" if count and main.n < asked else ""
    if not benchmark.correctness.macro:
        return f"{'share' if benchmark.correctness.column else 'mean'} of {counted}{others}"
    groups = averaged(main, scores)
    return ", ".join([*([f"mean of {groups}"] if groups else []), f"{counted}{others}"])


def averaged(main: Score, scores: Iterable[Score]) -> str:
    """Return how many groups a macro-average is about, such as "20 fact types"; empty without scores of them."""
    values = [score for score in scores if score.metric == main.metric and score.value is not None]
    for dimension in ("fact_type", "relation"):
        if groups := sum(score.dimension == dimension for score in values):
            return labels.number_of(groups, labels.dimension(dimension).lower())
    return ""


def _rank(run: Run, metric: str) -> str:
    """Return the rank among several ranked runs of the same settings, such as "1–2 of 5"; empty without one."""
    own = run.ranks.filter(metric=metric, best__isnull=False).first()
    number = _ranked_like(run, metric) if own else 0
    if own is None or number < 2:
        return ""
    return f"{own.rank_range} of {number}{' with these settings' if run.settings_group else ''}"


def _ranked_like(run: Run, metric: str) -> int:
    """Return how many runs of the benchmark have a rank in the group of this one. One query."""
    ranked = RunRank.objects.filter(run__benchmark=run.benchmark, metric=metric, best__isnull=False)
    probe = probe_named(run.benchmark.probe)
    others = ranked.filter(run__group=run.group).values_list("run__model__kind", "run__settings")
    return sum(probe.way(kind, settings.get("options", {})) == run.way for kind, settings in others)


# Surprises of a run: questions that it got wrong while it was sure, and those that it only just got right.


def surprise_sections(run: Run, pages: ProbePages) -> list[Section]:
    """Return both lists, without one that is empty; nothing for a run whose stored items have no margins."""
    sure, lucky, *_ = highlights(run)
    if sure is None or lucky is None:
        return []
    words = pages.words
    lists = (
        ("confident-errors", words.sure, sure, words.sure_note),
        ("lucky-answers", words.lucky, lucky, words.lucky_note),
    )
    return [
        section(_table(run, name, title, rows, pages), note=note, title=title)
        for name, title, rows, note in lists
        if rows
    ]


def _table(run: Run, name: str, title: str, rows: Sequence[Row], pages: ProbePages) -> Table[Row]:
    names, questions = relation_names(run), sentences(run, rows, pages.question_form)
    answers = several_answers(run, rows, pages.question_form)

    def question(row: Row) -> cells.Cell:
        subject = cells.text(row["subject"], item_url(run, row), lang=lang(row))
        return replace(subject, text=questions.get(row_key(row), subject.text))

    def lang(row: Row) -> str:
        return str(row.get("language") or "")

    return Table(
        name=name,
        caption=title,
        columns=[
            Column(
                "subject",
                "Question",
                question,
                align="head",
            ),
            Column(
                "relation",
                "Relation",
                lambda row: cells.text(group_title("relation", row["relation"], names)),
                folded=True,
            ),
            Column("answer", pages.words.answer, lambda row: answer_cell(row, answers)),
            Column("prediction", "Model's answer", lambda row: cells.text(row["prediction_label"], lang=lang(row))),
            Column("margin", "Margin", lambda row: cells.signed(row["margin"]), align="number", folded=True),
        ],
        rows=rows,
        sortable=False,
    )
