"""/runs/<id>/ : the progress of a run, and its results once it is finished."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from leaderboard.exports import reproduction
from leaderboard.exports.every_eval_ever import has_samples
from leaderboard.exports.references import run_reference
from leaderboard.figures.comparisons import neighbours
from leaderboard.figures.progress import progress, provisional
from leaderboard.figures.runs import OPEN, WORKING
from leaderboard.figures.scores import OVERALL_SLICE, part_of
from leaderboard.figures.training import is_part_of_series
from leaderboard.models import Run, RunRank, Score
from leaderboard.pages import explorer
from leaderboard.pages.favoured_answers import favoured_answers
from leaderboard.pages.rendering import LIVE_SECONDS, reference_file, what_is_cited
from leaderboard.pages.run_answers import (
    ANOTHER_TEST,
    ONLY_FIRST,
    SURPRISES,
    by_place,
    is_only_first,
    reads_right,
    surprises,
    wording_in_words,
)
from leaderboard.pages.search_page import gone
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, chosen_pair, pairs_of, switches
from leaderboard.tables import TIDY, Files, Row, download, tidy_row
from leaderboard.ui import labels, spelled
from leaderboard.ui.spelled import uncertainty
from probing.analysis.accuracy import BASELINES, CHANCE, MAJORITY, TIES, ties_in_words
from probing.analysis.confidence import CALIBRATION_ERROR, MAX_SOFTMAX
from probing.analysis.details import DETAIL_METRICS
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
PLACE, PLACE_COLUMNS = "place", ("group", "value", "low", "high", "n")  # of the blank; no scores of it are stored


def run_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = Run.objects.select_related("model", "benchmark").filter(pk=pk).first()
    if run is None:
        return _no_such_run(request, pk)
    scores, pages = list(run.scores.order_by("pk")), pages_of(run.benchmark)
    offered = pairs_of([run])
    pair = chosen_pair(request.GET, offered)
    places = by_place(run, pair)
    main = headline(run, scores, pair, places)
    breakdowns = explorer.run_breakdowns(run, scores, pair, pooled=len(offered) > 1)
    if len(places) > 1 and "blank" not in breakdowns:  # which says the same
        breakdowns = {**breakdowns, PLACE: (PLACE_COLUMNS, places)}
    parts: dict[str, Any] = {
        "explorer": _explored(request, run, scores, breakdowns, main["score"] if main else None),
        "surprises": surprises(run),
        "favoured": favoured_answers(run, scores, request, pair) if run.artefact else {},
        "probe": pages.run_parts(run, request.GET, pair) if run.state == Run.State.FINISHED else {},
    }
    files = {
        "scores": (TIDY, [tidy_row(score) for score in scores]),
        **breakdowns,
        **({"breakdown": parts["explorer"]["file"]} if parts["explorer"] else {}),
        **({"confident-errors": (SURPRISES, parts["surprises"])} if parts["surprises"] else {}),
        **parts["favoured"].get("files", {}),
        **parts["probe"].get("files", {}),
    }
    address = request.build_absolute_uri(run.get_absolute_url())
    reference = run_reference(run, pages, main["score"], address) if main else None
    if file := download(request, files) or (reference and reference_file(request, reference)):
        return file
    context = {
        "run": run,
        "benchmark": run.benchmark,
        "pages": pages,
        "words": pages.words,
        "headline": main,
        **parts,
        "charts": {explorer.NAME: parts["explorer"]["chart"]} if parts["explorer"].get("chart") else {},
        "switches": switches(request.GET, offered, pair),
        "scores": scores,
        "has_series": is_part_of_series(run),
        "neighbours": neighbours(run) if run.artefact else [],
        "notes": run_notes(run, scores),
        **state_in_detail(run),
        **_origin(run),
        **what_is_cited(request, reference),
    }
    response = render(request, "run.html", context)
    if context["live"]:  # it changes with time and with parts of runs
        patch_cache_control(response, max_age=LIVE_SECONDS)
    return response


def _no_such_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that a run is gone, as later ones exist; raises `Http404` where there never was one of this number.

    Rows of printed figures had such pages once.
    """
    if not Run.objects.filter(pk__gt=pk).exists():
        raise Http404(f"There is no run {pk}.")
    return gone(request)


def _explored(request: HttpRequest, run: Run, scores: Sequence[Score], breakdowns: Files, main: Score | None) -> Row:
    """Return the breakdown that the reader chose; nothing for a run without any."""
    dimensions = explorer.choices(breakdowns, main)
    if not dimensions:
        return {}
    pages = pages_of(run.benchmark)
    title = pages.metric_label(run.benchmark.main_metric)
    series = [{"column": "value", "title": title, "href": run.get_absolute_url()}]
    macro = run.benchmark.correctness.macro
    chosen = explorer.explorer(request, breakdowns, dimensions, title, series, macro=macro)
    further = {"template": wording_in_words(scores), PLACE: "" if reads_right(run) else ANOTHER_TEST}
    chosen["notes"] += filter(None, [further.get(chosen["by"])])
    return chosen


def state_in_detail(run: Run) -> dict[str, Any]:
    """Return what the page says about the state of a run and its progress."""
    return {
        "events": list(run.events.all()),
        "live": run.state in OPEN,
        "working": run.state in WORKING,
        "progress": progress(run),
        "provisional": provisional(run) if run.state in OPEN else None,
        "phases": phases(run),
    }


def _origin(run: Run) -> dict[str, Any]:
    """Return what the page says about where the figures of a run come from, and how they can be measured again."""
    record = {**run.provenance_record, "settings": run.settings}
    script, cautioned = reproduction.script(run), start_cautions(run.provenance_record)
    return {
        "has_samples": has_samples(run),
        "script": script,
        "facts": reproduction.facts(run),
        "tokens": [sentence for sentence in describe_tokens(run.provenance_record) if sentence not in cautioned],
        "harness": harness_command(record) if script else None,
        "protocol": protocol_words(run.settings),
    }


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


def run_notes(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return sentences on what was asked and is unknown, and on ties."""
    shares = [(score.value, score.n) for score in scores if score.metric == TIES]
    ties = [ties_in_words(share, items) for share, items in shares if share]
    notes = [*run.provenance_record.get("benchmark_notes", []), *skipped_in_words(run.provenance_record)]
    notes += unknown_names_in_words(run.provenance_record)
    return [*notes, *ties]


def headline(
    run: Run, scores: Sequence[Score], pair: PairInLanguage | None = None, places: Sequence[Row] = ()
) -> Row | None:
    """Return the figure of a run with what one must know to read it; None without a score in its main metric.

    `pair`: what it is about where a run was asked several pairs of cultures or in several languages, which are never
    pooled. Wordings and ranks are about all items, and stand beside figures of all items only. `places`: the figures by
    the place of the blank.
    """
    pages = pages_of(run.benchmark)
    metric, part = run.benchmark.main_metric, pair.part if pair else OVERALL_SLICE
    own = {score.metric: score for score in scores if part_of(score) == part}
    main = own.get(metric)
    if main is None or main.value is None:
        return None
    by_wording = [score.value for score in scores if score.dimension == "template" and score.metric == metric]
    values = [value for value in by_wording if value is not None and pair is None]
    first = [ONLY_FIRST] if is_only_first(run, places) else []
    chance, commonest = (own[name].value if name in own and name != metric else None for name in (CHANCE, MAJORITY))
    if chance is not None and commonest is not None and spelled.figure(chance) == spelled.figure(commonest):
        commonest = None  # which the chance has said already
    return {
        "title": pages.metric_label(metric),
        "part": pair.title if pair else "",
        "score": main,
        "basis": basis(run, main, scores, own.values()),
        "places": places if len(places) > 1 else (),
        "cautions": [*first, *start_cautions(run.provenance_record)],
        "uncertainty": uncertainty(main.value, main.low, main.high),
        "wordings": (min(values), max(values)) if len(values) > 1 else None,
        "number_of_wordings": len(values),
        "chance": chance,
        "commonest": commonest,
        "commonest_title": labels.within(pages.metric_label(MAJORITY)),
        "others": other_figures(own, metric),
        "confidence": confidence_in_words(own),
        "rank": "" if pair else _rank(run, metric),
    }


def other_figures(own: Mapping[str, Score], main: str) -> list[Score]:
    """Return the figures beside the main one that no sentence says and no table explains."""
    left_out = {main, TIES, CHANCE, *BASELINES, *DETAIL_METRICS}
    return [score for metric, score in own.items() if metric not in left_out]


def confidence_in_words(own: Mapping[str, Score]) -> str:
    """Say how sure the model is of its answers, and how far that is from how often they are right."""
    if CALIBRATION_ERROR not in own or MAX_SOFTMAX not in own:
        return ""
    sure, error = own[MAX_SOFTMAX].value or 0, own[CALIBRATION_ERROR].value or 0
    return f"On average it gives {100 * sure:.0f} % to its answer; the calibration error is {error:.3f}."


def basis(run: Run, main: Score, scores: Iterable[Score], own: Iterable[Score] = ()) -> str:
    """Return the averaging and the denominator of a figure: "mean of 20 fact types, 1,381 of 2,362 sentences".

    `own`: the scores about the same items, which tell how many were asked where only some of these count.
    """
    benchmark, pages = run.benchmark, pages_of(run.benchmark)
    nouns = pages.count_title.lower() or benchmark.nouns
    # Chance is about all items.
    number_asked = max((score.n for score in own if score.metric != CHANCE), default=main.n)
    of_file = benchmark.items if part_of(main) == OVERALL_SLICE else 0
    whole = max(number_asked if pages.count_title else main.n, of_file)
    counted = f"{spelled.items(main.n)}{f' of {spelled.items(whole)}' if main.n < whole else ''} {nouns}"
    others = f" ({pages.not_counted})" if pages.count_title and main.n < number_asked else ""
    if not benchmark.correctness.macro:
        return f"{'share of' if benchmark.correctness.column else 'from'} {counted}{others}"
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
