"""What a model knows, says and declines: the fold of a run that asks by generation.

Runs of one model that ask the same facts by likelihood and by generation are crossed item by item.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd
from django.http import QueryDict

from leaderboard.changed_settings import LEFT_OUT
from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records, rows_of_part
from leaderboard.figures.item_rows import Row
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Run
from leaderboard.pages.comparison_tables import difference_cell
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import Names, group_title, relation_names
from leaderboard.ui import cells, charts
from leaderboard.ui.cells import Cell
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.sections import Drawing, Section, section
from leaderboard.ui.tables import PAGE_SIZE, Column, Table
from probing.analysis.breakdowns import CROSSED, OVERALL
from probing.analysis.know_say import (
    ATTEMPTED,
    CORRECT,
    DECLINES,
    INDEX,
    KEEPS_IT,
    KNOWN,
    LEAVE_OPTION,
    OF_OPTIONS,
    OF_RESPONSES,
    OUTCOMES,
    RESPONSES,
    SAID,
    SAYS_ANYWAY,
    SAYS_IT,
    SAYS_WRONG,
    WITH_LEAVE,
    WRONG,
    crossed,
    index_differences,
    index_scores,
    known_facts,
    refuse_penalty,
    said_by_known,
    share_differences,
    share_scores,
    way_of,
)
from probing.analysis.responses import DECLINED
from probing.benchmark import ROW_KEY
from probing.errors import BadInput, ProbingError

OPTION_COLUMNS = ("subject_id", "answers", "correct", "scores", "exact", "domain")
RESPONSE_COLUMNS = ("prediction_label", "correct_normalised")


class Ways(NamedTuple):
    """A run by likelihood, and those by generation by way of asking; each has stored answers."""

    known: Run
    said: dict[str, Run]


def ways_beside(run: Run) -> Ways | None:
    """Return a run of each way on the same facts and weights, this run among them; None where none has options.

    All come from the same source, such as being measured here. The other run by generation has the settings of this
    one, but for the leave to decline. Those by likelihood with the usual settings come first, then the newest. `run`:
    one of the probe `answering`. One query.
    """
    beside = Run.objects.filter(
        model=run.model_id,
        benchmark__slug=run.benchmark.slug,
        benchmark__digest=run.benchmark.digest,
        benchmark__probe__in=(*OF_OPTIONS, OF_RESPONSES),
        state=Run.State.FINISHED,
        provenance=run.provenance,
    )
    stored = beside.exclude(artefact="").select_related("model", "benchmark")
    matching = [other for other in stored if other.benchmark.probe in OF_OPTIONS or _differ_in_leave(run, other)]
    by_preference = sorted(matching, key=lambda other: (not other.settings_group, other.pk))
    chosen = {way_of(other.benchmark.probe, other.settings): other for other in [*by_preference, run]}
    known = chosen.pop(KNOWN, None)
    return Ways(known, {way: chosen[way] for way in (SAID, WITH_LEAVE) if way in chosen}) if known else None


def _differ_in_leave(run: Run, other: Run) -> bool:
    """Tell whether two runs by generation differ in no setting but the leave to decline."""
    ignored = {LEAVE_OPTION, LEFT_OUT}
    return run.group_without(ignored) == other.group_without(ignored)


class CrossedFigures(NamedTuple):
    """What is known and said of the same facts: crossed rows, and all figures but the index.

    `tags`: the tags of the rows by which they are broken down. `curves`: those of `said_by_known`, by way.
    """

    rows: pd.DataFrame
    tags: list[str]
    shares: pd.DataFrame
    differences: pd.DataFrame
    curves: dict[str, pd.DataFrame]


def crossed_runs(ways: Ways, part: Slice = OVERALL_SLICE) -> CrossedFigures:
    """Return what is known and said on a part of the items; what was asked for last is kept in memory.

    Runs are named by the folders of their results as well, whose files never change.
    """
    said = tuple((way, run, run.artefact) for way, run in ways.said.items())
    return crossed_results(ways.known, ways.known.artefact, said, part)


@lru_cache(maxsize=4)
def crossed_results(known: Run, artefact: str, said: Sequence[tuple[str, Run, str]], part: Slice) -> CrossedFigures:
    """Return what `crossed_runs` does."""
    columns = [*ROW_KEY, *OPTION_COLUMNS, *CROSSED.get(part.dimension, (part.dimension,))]
    relations = item_rows.frame(known, ["relation"])["relation"].unique()  # one after the other: scores take much room
    facts = pd.concat([known_facts(item_rows.frame(known, columns, relation)) for relation in relations])
    responses = {way: item_rows.frame(run, [*ROW_KEY, *RESPONSE_COLUMNS]) for way, run, _ in said}
    rows, ways = crossed(rows_of_part(facts.reset_index(drop=True), part), responses), [*responses]
    tags = ["domain"] if "domain" in rows else []
    curves = {way: said_by_known(rows, way) for way in ways}
    return CrossedFigures(rows, tags, share_scores(rows, ways, tags), share_differences(rows, ways, tags), curves)


PENALTY, USUAL_PENALTY = "penalty", 0.5  # the parameter, and the value that the form offers first
MOST_BARS = 200  # of a picture
DIMENSIONS = [OVERALL, "domain", "relation"]  # in the order of the tables
RELATIONS, RELATIONS_TITLE = "know-say-relations", "Known, said and declined, by relation"
TITLES = {
    "known": "Knows",
    SAYS_IT: "Knows and says",
    SAYS_ANYWAY: "Says, prefers another",
    KEEPS_IT: "Knows, does not say",
    SAYS_WRONG: "Says wrong",
    DECLINES: "Declines",
    CORRECT: "Correct",
    WRONG: "Wrong",
    DECLINED: "Declined",
    ATTEMPTED: "Correct of attempted",
    INDEX: "Index",
}
PLAIN = (*RESPONSES, ATTEMPTED, INDEX)  # the metrics without chance
OUTCOMES_NOTE = (
    "A question is known where the likelihoods prefer a right option, and said where the response names a right "
    "answer. Chance, in the CSV, is what a guess among the options would make of the same responses."
)
PENALTY_NOTE = "At this penalty, answering pays for a model that is right with a probability above {least:.2f}."
DIFFERENCES_NOTE = "The same questions in two ways, compared one by one. The index has no test."
HOLM = "The p-value, corrected by Holm's method for all groups of its kind."
PROBABILITY_TITLE = "Probability of the right answer"
CURVE_NOTE = (
    "Questions are sorted by the probability that the likelihoods give to the right answer, and cut into groups."
)


class GroupOfWay(NamedTuple):
    """The figures of one way of answering in a group of questions, and of what is known there, by metric."""

    way: str
    dimension: str
    group: str
    scores: Mapping[str, Row]


def know_say_context(run: Run, query: QueryDict, pair: PairInLanguage | None) -> tuple[dict[str, Any], list[Section]]:
    """Return what the template needs of the fold, and its sections once the reader has chosen a penalty.

    Both are empty where no other run asks the same facts of the model by likelihood.
    """
    ways = ways_beside(run) if run.artefact and run.benchmark.probe == OF_RESPONSES else None
    if ways is None:
        return {}, []
    kept = [(name, value) for name in query if name != PENALTY for value in query.getlist(name)]
    text = query.get(PENALTY, "")
    context: dict[str, Any] = {"known_run": ways.known, "penalty": text or USUAL_PENALTY, "penalty_kept": kept}
    context |= {"said_runs": list(ways.said.items()), "chosen": bool(text)}
    if not text:
        return {"know_say": context}, []
    try:
        penalty = _read_penalty(text)
        crossed = crossed_runs(ways, pair.part if pair else OVERALL_SLICE)
        sections = _sections(run, crossed, list(ways.said), penalty)
    except ProbingError as error:
        return {"know_say": context | {"error": error}}, []
    return {"know_say": context | {"sections": sections}}, sections


def _read_penalty(text: str) -> float:
    try:
        penalty = float(text)
    except ValueError:
        raise BadInput(f"The penalty {text!r:.40} is no number.", "Give a number from 0 to 1.") from None
    refuse_penalty(penalty)
    return penalty


def _sections(run: Run, crossed: CrossedFigures, ways: Sequence[str], penalty: float) -> list[Section]:
    """Return the sections; only the index is computed for each penalty."""
    scores = records(crossed.shares) + records(index_scores(crossed.rows, ways, crossed.tags, penalty))
    of_index = index_differences(crossed.rows, ways, penalty, (OVERALL, "relation", *crossed.tags))
    differences = records(crossed.differences) + records(of_index)
    names = relation_names(run)
    return [
        *_outcomes_sections(_groups(scores, ways), names, penalty),
        section(_differences_table(sorted(differences, key=_dimension_place), names), note=DIFFERENCES_NOTE),
        *(
            _curve_section(number, way, curve)
            for number, (way, curve) in enumerate(crossed.curves.items(), 1)
            if len(curve)
        ),
    ]


def _groups(scores: Sequence[Row], ways: Sequence[str]) -> list[GroupOfWay]:
    """Return the rows of the table: all questions, then domains and relations, each in all ways."""
    by_group: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in scores:
        for way in ways if row["way"] == KNOWN else [row["way"]]:
            by_group.setdefault((row["dimension"], row["group"], way), {})[row["metric"]] = row
    listed = [GroupOfWay(way, dimension, group, values) for (dimension, group, way), values in by_group.items()]
    return sorted(listed, key=lambda row: DIMENSIONS.index(row.dimension))


def _dimension_place(row: Row) -> int:
    return DIMENSIONS.index(row["dimension"])


def _title(dimension: str, group: str, names: Names) -> str:
    return "All questions" if dimension == OVERALL else group_title(dimension, group, names)


def _outcomes_sections(groups: Sequence[GroupOfWay], names: Names, penalty: float) -> list[Section]:
    """Return the table with the picture of all questions and of each domain, and that of each relation."""

    def title(row: GroupOfWay) -> str:
        return _title(row.dimension, row.group, names)

    table = Table(
        name="know-say",
        caption=f"Known, said and declined; a wrong answer costs {penalty:g}",
        columns=[
            Column("group", "Questions about", lambda row: Cell(row.group, title(row)), align="head"),
            Column("dimension", "", lambda row: cells.text(row.dimension), shown=False),
            Column("way", "Asked", lambda row: cells.text(row.way)),
            Column("n", "Questions", lambda row: cells.items(row.scores["known"]["n"]), align="number"),
            *(column for metric in TITLES for column in _figure_columns(metric)),
        ],
        rows=groups,
        sortable=False,
        page_size=PAGE_SIZE,
    )
    overall, domains, relations = ([row for row in groups if row.dimension == name] for name in DIMENSIONS)
    least = penalty / (1 + penalty)
    picture, of_relations = (_outcomes_drawing([*overall, *rows], title) for rows in (domains, relations))
    return [
        section(
            table, picture, f"{OUTCOMES_NOTE} {PENALTY_NOTE.format(least=least)}", title="Known, said and declined"
        ),
        Section(RELATIONS, RELATIONS_TITLE, chart=Chart(RELATIONS, RELATIONS_TITLE, *of_relations)),
    ]


def _figure_columns(metric: str) -> list[Column[GroupOfWay]]:
    """Return the column of a metric, and those of the CSV with its intervals and chance."""

    def value(row: GroupOfWay, name: str = "value") -> float | None:
        stored = row.scores.get(metric, {}).get(name)
        return None if stored is None or pd.isna(stored) else float(stored)

    def cell(row: GroupOfWay) -> Cell:
        scored = cells.score(value(row), value(row, "low"), value(row, "high"))
        return replace(scored, bar=None)  # eleven columns of bars would be too wide

    def only_in_csv(name: str) -> Column[GroupOfWay]:
        return Column(f"{metric}_{name}", "", lambda row: cells.number(value(row, name)), shown=False)

    ends = ("low", "high", "cluster_low", "cluster_high", *(() if metric in PLAIN else ("chance",)))
    folded = metric not in ("known", *OUTCOMES, INDEX)
    return [Column(metric, TITLES[metric], cell, align="score", folded=folded), *map(only_in_csv, ends)]


def _outcomes_drawing(groups: Sequence[GroupOfWay], title: Callable[[GroupOfWay], str]) -> Drawing:
    """Return a bar of what comes of the questions of each group in each way, all questions first."""
    bars = {f"{title(row)}, {row.way}": [row.scores[name]["value"] for name in OUTCOMES] for row in groups[:MOST_BARS]}
    first = groups[0].scores
    outcomes = ", ".join(f"{TITLES[name].lower()}: {first[name]['value']:.3f}" for name in OUTCOMES)
    shares_said = sorted((shares[OUTCOMES.index(SAYS_IT)], bar) for bar, shares in bars.items())
    low, high = (f"{share:.3f} ({bar})" for share, bar in (shares_said[0], shares_said[-1]))
    words = f"Of all questions {first['known']['value']:.3f} are known; {groups[0].way}, {outcomes}. "
    words += f"Known and said, group by group: from {low} to {high}."
    cut = f" The first {len(bars):,} of {len(groups):,} bars are drawn." if len(groups) > MOST_BARS else ""
    return words + cut, charts.stacked(bars, [TITLES[name] for name in OUTCOMES], "share of questions")


def _differences_table(rows: Sequence[Row], names: Names) -> Table[Row]:
    def group(row: Row) -> str:
        return _title(row["dimension"], row["group"], names)

    def p_value(p: float) -> Cell:
        return cells.number(None) if pd.isna(p) else cells.p_value(p)

    return Table(
        name="know-say-differences",
        caption="What changes from one way of asking to the other",
        columns=[
            Column("group", "Questions about", lambda row: Cell(row["group"], group(row)), align="head"),
            Column("dimension", "", lambda row: cells.text(row["dimension"]), shown=False),
            Column("metric", "Share", lambda row: cells.text(_share_name(row))),
            Column("from", "From", lambda row: cells.text(row["from"])),
            Column("to", "To", lambda row: cells.text(row["to"])),
            Column("n", "Questions", lambda row: cells.items(row["n"]), align="number"),
            Column("first", "First", lambda row: cells.number(row["first"]), align="number"),
            Column("second", "Second", lambda row: cells.number(row["second"]), align="number"),
            Column("difference", "Difference", difference_cell, align="number"),
            Column("low", "", lambda row: cells.number(row["low"]), shown=False),
            Column("high", "", lambda row: cells.number(row["high"]), shown=False),
            Column("p", "p", lambda row: p_value(row["p"]), align="number"),
            Column("p_holm", "p, Holm", lambda row: p_value(row["p_holm"]), HOLM, align="number"),
        ],
        rows=rows,
        sortable=False,
        page_size=PAGE_SIZE,
    )


def _share_name(row: Row) -> str:
    return "Right" if row["metric"] == "right" else TITLES[row["metric"]]


def _curve_section(number: int, way: str, curve: pd.DataFrame) -> Section:
    title = f"Correct answers by what is known, {way}"
    rows = records(curve)
    table = Table(
        name=f"know-say-curve-{number}",
        caption=title,
        columns=[
            Column("bin", "Group", lambda row: cells.number(int(row["bin"])), align="number"),
            Column("probability", PROBABILITY_TITLE, lambda row: cells.number(row["confidence"]), align="number"),
            Column("correct", "Correct", lambda row: cells.score(row["accuracy"], row["low"], row["high"])),
            Column("low", "", lambda row: cells.number(row["low"]), shown=False),
            Column("high", "", lambda row: cells.number(row["high"]), shown=False),
            Column("n", "Questions", lambda row: cells.items(row["items"]), align="number"),
        ],
        rows=rows,
        sortable=False,
    )
    points = [Point(f"group {row['bin']}", row["accuracy"], row["low"], row["high"], row["confidence"]) for row in rows]
    words = f"{title}: {points[0].value:.2f} where it is least probable, {points[-1].value:.2f} where it is most."
    plot = charts.calibration(points, PROBABILITY_TITLE.lower(), diagonal=True)
    return section(table, (words, plot), CURVE_NOTE)
