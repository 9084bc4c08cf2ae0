"""The tables of answers in a comparison: how often runs agree, and the answers on which they do not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from django.http import QueryDict

from leaderboard.display import cells, labels
from leaderboard.display.cells import Cell
from leaderboard.display.links import link
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import Comparison, Pattern, read_answers
from leaderboard.probe_pages.comparison_tables import ComparedRun, group_cell
from leaderboard.probe_pages.items import item_url
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import Names, RowKey, row_key, sentences
from leaderboard.stored.item_rows import Row

DISAGREEMENTS_PER_PAGE = 20
CROSSED_RUNS = 4  # with more runs, a table of all combinations of right and wrong answers would be too large


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
            Column("answers", "Answers", lambda row: _count_cell(counts, row, query), align="score"),
        ],
        rows=patterns,
        sortable=False,
        page_size=DISAGREEMENTS_PER_PAGE,
    )


def _count_cell(counts: Mapping[Pattern, int], pattern: Pattern, query: QueryDict) -> Cell:
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
            Column("relation", "Relation", lambda row: group_cell("relation", row["relation"], names), folded=True),
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
