"""The tables of a comparison that every probe has: its runs, their values and differences by group, their agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan
from typing import NamedTuple

from django.http import QueryDict

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.tables import PAGE_SIZE, Column, Table, link
from leaderboard.lists.compared_runs import Comparison, Pattern, read_answers, short_names
from leaderboard.lists.scores import place
from leaderboard.models import Run
from leaderboard.probe_pages.breakdowns import titled_cell
from leaderboard.probe_pages.item_columns import item_url
from leaderboard.probe_pages.item_sentences import RowKey, row_key, sentences
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import Names, group_title
from leaderboard.stored.item_rows import Row
from probing.analysis.comparison import RESULT_NAMES, SIDE_BOUNDS

SIGNIFICANT = 0.05
DISAGREEMENTS_PER_PAGE = 20
HOLM = "The p-value, corrected by Holm's method for all tests of the dimension: every group of every run."
CROSSED_RUNS = 4  # with more runs, a table of all combinations of right and wrong answers would be too large


class Interval(NamedTuple):
    """A value with its 95 % interval, if it has one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ComparedRun:
    """A run of a comparison: what the comparison calls it, a short name, and its overall figures.

    `against_first` is its overall difference from the first run; the first run has none.
    """

    key: str
    name: str
    run: Run
    overall: Interval
    against_first: Row | None = None


@dataclass(frozen=True)
class GroupValues:
    """The values of all runs in one group, in the order of the runs."""

    dimension: str
    group: str
    n: float
    values: Sequence[Interval]


def compared_runs(runs: Sequence[Run], differences: Sequence[Row]) -> list[ComparedRun]:
    """Return the runs with their overall figures."""
    overall = [row for row in differences if row["dimension"] == "overall"]
    rows: list[Row | None] = [None, *overall]
    values = [_side(overall[0], "first"), *(_side(row, "second") for row in overall)]
    return [ComparedRun(*of_run) for of_run in zip(RESULT_NAMES, short_names(runs), runs, values, rows, strict=False)]


def group_values(differences: Sequence[Row]) -> list[GroupValues]:
    """Return the values of all runs by group: overall, then tags, then relations."""
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in differences:
        by_group.setdefault((row["dimension"], row["group"]), []).append(row)
    groups = [
        GroupValues(*name, rows[0]["n"], [_side(rows[0], "first"), *(_side(row, "second") for row in rows)])
        for name, rows in by_group.items()
    ]
    return sorted(groups, key=lambda group: (group.dimension != "overall", place(group.dimension)))


def _side(row: Row, side: str) -> Interval:
    low, high = (None if isnan(row[f"{side}_{end}"]) else row[f"{side}_{end}"] for end in ("low", "high"))
    return Interval(row[side], low, high)


def is_certain(row: Row) -> bool:
    """Tell whether a difference is significant after Holm's correction."""
    return bool(row["p_holm"] < SIGNIFICANT)


def runs_table(rows: Sequence[ComparedRun], metric: str, query: QueryDict) -> Table[ComparedRun]:
    """Return the runs with their overall values and differences from the first; a link makes another run the first."""

    def name_cell(row: ComparedRun) -> Cell:
        return cells.text(row.name, row.run.get_absolute_url(), row.run.name)

    def place_cell(row: ComparedRun) -> Cell:
        if row.against_first is None:
            return cells.text(row.key)
        numbers = [str(other.run.pk) for other in rows if other is not row]
        return cells.text(row.key, _with_runs(query, [str(row.run.pk), *numbers]), "Make this run the first.")

    reported = any(row.run.provenance != Run.Provenance.MEASURED for row in rows)
    return Table(
        name="runs",
        caption="The runs, and their differences from the first one",
        columns=[
            Column("name", "Run", name_cell, align="head"),
            Column("run", "", lambda row: cells.number(row.run.pk), shown=False),
            Column("value", metric, lambda row: cells.score(*row.overall), align="score"),
            *interval_columns(lambda row: row.overall),
            *_against_first_columns(),
            *([source_column(lambda row: row.run)] if reported else []),
            Column("result", "Place", place_cell, "Differences are from the first run; select a place to change it."),
        ],
        rows=rows,
        sortable=False,
    )


def _against_first_columns() -> list[Column[ComparedRun]]:
    """Return the columns of a run's overall difference from the first one, which has none itself."""

    def bound(name: str) -> Callable[[ComparedRun], Cell]:
        return lambda row: cells.signed(row.against_first[name] if row.against_first else None)

    def p_value(name: str) -> Callable[[ComparedRun], Cell]:
        return lambda row: cells.p_value(row.against_first[name]) if row.against_first else cells.number(None)

    return [
        Column("difference", "Difference", lambda row: _difference(row.against_first), align="number"),
        Column("difference_low", "", bound("low"), shown=False),
        Column("difference_high", "", bound("high"), shown=False),
        Column("p", "p", p_value("p"), align="number"),
        Column("p_holm", "p, Holm", p_value("p_holm"), HOLM, align="number"),
    ]


def _difference(row: Row | None) -> Cell:
    """Show a difference from the first run; the first run itself has none."""
    return cells.signed(row["difference"], low=row["low"], high=row["high"]) if row else cells.number(None)


def _with_runs(query: QueryDict, numbers: Sequence[str]) -> str:
    """Return the address of the page with the same parameters for these runs, in this order."""
    changed = query.copy()
    changed.setlist("m", list(numbers))
    return link(changed, right=None, sort=None, page=None)


def values_table(
    rows: Sequence[GroupValues], runs: Sequence[ComparedRun], metric: str, names: Names
) -> Table[GroupValues]:
    """Return a row per group with the value of every run; the CSV has the intervals as well."""
    return Table(
        name="values",
        caption=f"{metric} by group",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(labels.dimension(row.dimension))),
            Column("group", "Group", lambda row: _group_cell(row.dimension, row.group, names), align="head"),
            Column("n", "Questions", lambda row: cells.items(row.n), align="number"),
            *(column for number, run in enumerate(runs) for column in _value_columns(number, run)),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def _value_columns(number: int, run: ComparedRun) -> list[Column[GroupValues]]:
    def value(row: GroupValues) -> Interval:
        return row.values[number]

    def cell(row: GroupValues) -> Cell:
        return replace(cells.score(*value(row)), bar=None)

    return [
        Column(run.key, run.name, cell, run.run.name, align="number"),
        *interval_columns(value, run.key),
    ]


def _group_cell(dimension: str, group: str, names: Names) -> Cell:
    return titled_cell(group, group_title(dimension, group, names))


def differences_table(runs: Sequence[ComparedRun], rows: Sequence[Row], metric: str, names: Names) -> Table[Row]:
    by_key = {run.key: run for run in runs}
    more_than_two = len(runs) > 2

    return Table(
        name="differences",
        caption=f"Difference from {runs[0].name}",
        columns=[
            Column("dimension", "Dimension", lambda row: cells.text(labels.dimension(row["dimension"]))),
            Column("group", "Group", lambda row: _group_cell(row["dimension"], row["group"], names), align="head"),
            Column("name", "Run", lambda row: cells.text(by_key[row["result"]].name), shown=more_than_two),
            Column("result", "", lambda row: cells.text(row["result"]), shown=False),
            Column("run", "", lambda row: cells.number(by_key[row["result"]].run.pk), shown=False),
            Column("n", "Questions", lambda row: cells.items(row["n"]), align="number"),
            Column("first", runs[0].name, lambda row: cells.number(row["first"]), align="number"),
            Column(
                "second",
                f"Its {labels.within(metric)}" if more_than_two else runs[1].name,
                lambda row: cells.number(row["second"]),
                align="number",
            ),
            *(_bound_column(bound) for bound in SIDE_BOUNDS),
            Column("difference", "Difference", _difference, align="number"),
            Column("low", "", lambda row: cells.signed(row["low"]), shown=False),
            Column("high", "", lambda row: cells.signed(row["high"]), shown=False),
            Column("gained", "Gained", lambda row: cells.number(row["gained"]), align="number"),
            Column("lost", "Lost", lambda row: cells.number(row["lost"]), align="number"),
            Column("p", "p", lambda row: cells.p_value(row["p"]), align="number"),
            Column("p_holm", "p, Holm", lambda row: cells.p_value(row["p_holm"]), HOLM, align="number"),
        ],
        rows=rows,
        main=True,
        page_size=PAGE_SIZE,
        band=lambda row: "certain" if is_certain(row) else "",
    )


def _bound_column(name: str) -> Column[Row]:
    return Column(name, "", lambda row: cells.number(None if isnan(row[name]) else row[name]), shown=False)


def agreement_table(runs: Sequence[ComparedRun], comparison: Comparison, query: QueryDict) -> Table[Pattern]:
    """Return how often each combination of right and wrong answers occurs, as bars; each number links to its answers.

    For up to four runs all combinations are listed. For more, only those that occur, the most frequent first.
    """
    counts = comparison.counts()
    if len(runs) > CROSSED_RUNS:
        patterns, order = sorted(counts, key=lambda pattern: -counts[pattern]), ", the most frequent first"
    else:
        patterns, order = list(product((True, False), repeat=len(runs))), ""
    return Table(
        name="agreement",
        caption=f"Right and wrong answers, counted over questions and wordings{order}",
        columns=[
            *(_pattern_column(place, run) for place, run in enumerate(runs)),
            Column("answers", "Answers", lambda row: _count(counts, row, query), align="score"),
        ],
        rows=patterns,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
    )


def _count(counts: Mapping[Pattern, int], pattern: Pattern, query: QueryDict) -> Cell:
    """Return the number of answers of a pattern with a bar for their share."""
    digits = "".join(str(int(right)) for right in pattern)
    address = link(query, right=digits, domain=None, relation=None, **{"disagreements-page": None})
    number = counts.get(pattern, 0)
    share = cells.share(number / sum(counts.values()))
    note = f"{100 * number / sum(counts.values()):.0f} % of all answers"
    return replace(share, value=number, text=f"{number:,}", href=f"{address}#table-disagreements", note=note)


def _pattern_column(place: int, run: ComparedRun) -> Column[Pattern]:
    return Column(
        run.key, run.name, lambda row: Cell(word := _right_or_wrong(row[place]), word, kind=_mark(row[place]))
    )


def _right_or_wrong(right: bool) -> str:
    return "right" if right else "wrong"


def _mark(right: bool) -> str:
    """Return the kind of cell that marks an answer as right or wrong."""
    return "yes" if right else "no"


def disagreements_table(
    runs: Sequence[ComparedRun], rows: Sequence[Row], pattern: Pattern | None, names: Names, pages: ProbePages
) -> Table[Row]:
    """Return the answers on which runs disagree; those of a page are read when it is shown."""
    questions: dict[RowKey, str] = {}

    def read(shown: Sequence[Row]) -> None:
        read_answers([side.run for side in runs], shown, pages.model_answer)
        questions.update(sentences(runs[0].run, shown, pages.question_form))

    def question(row: Row) -> Cell:
        subject = cells.text(row["subject"], item_url(runs[0].run, row), lang=row.get("language", ""))
        return replace(subject, text=questions.get(row_key(row), subject.text))

    def right_names(row: Row) -> Cell:
        right = _chosen(runs, row["right"])
        listed = ", ".join(run.name for run in right) or "none"
        return cells.text(listed if len(runs) <= CROSSED_RUNS else f"{len(right)} of {len(runs)}", note=listed)

    def right_keys(row: Row) -> Cell:
        return cells.text(", ".join(run.key for run in _chosen(runs, row["right"])) or "none")

    return Table(
        name="disagreements",
        caption=_pattern_caption(runs, pattern) if pattern else "Answers on which the runs disagree",
        columns=[
            Column("subject", "Question", question, align="head"),
            Column("relation", "Relation", lambda row: _group_cell("relation", row["relation"], names), folded=True),
            Column("template", "Wording", _wording_cell, align="number", shown=False),
            Column("answer", "Answer", lambda row: cells.text(row["answer_label"], lang=row.get("language", ""))),
            *(_answer_column(place, run) for place, run in enumerate(runs)),
            Column("right_names", "Right", right_names, folded=len(runs) <= CROSSED_RUNS),
            Column("right", "", right_keys, shown=False),
        ],
        rows=rows,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
        empty="There are no such answers.",
        prepare=read,
    )


def _wording_cell(row: Row) -> Cell:
    """Show the number of a wording from 1; the CSV has the template's number, which counts from 0."""
    return Cell(row["template"], str(row["template"] + 1), kind="number")


def _answer_column(place: int, run: ComparedRun) -> Column[Row]:
    def cell(row: Row) -> Cell:
        right = row["right"][place]
        answer = row["answers"][place] or _right_or_wrong(right)
        return Cell(answer, answer, kind=_mark(right), lang=row.get("language", ""))

    return Column(run.key, run.name, cell)


def _pattern_caption(runs: Sequence[ComparedRun], pattern: Pattern) -> str:
    wrong = [not right for right in pattern]
    parts = [
        f"{word}: {', '.join(run.name for run in _chosen(runs, choice))}"
        for word, choice in (("right", pattern), ("wrong", wrong))
        if any(choice)
    ]
    return labels.sentence("; ".join(parts))


def _chosen(runs: Sequence[ComparedRun], chosen: Sequence[bool]) -> list[ComparedRun]:
    return [run for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen]
