"""/benchmarks/<slug>/items/ : the questions of a benchmark, the hardest or the easiest first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from leaderboard.figures.questions import (
    HARDEST,
    ORDERS,
    PAIR_TAGS,
    Choice,
    RatedQuestion,
    difficulties,
    question_id,
    question_url,
    read_questions,
    values_of_tag,
)
from leaderboard.models import Benchmark
from leaderboard.models.benchmark import named
from leaderboard.pages.question_page import question_missing
from leaderboard.probes import pages_of
from leaderboard.probes.wording import STATEMENT, language_of, relation_name, tag_text, usual_sentence
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.csv_files import csv_response, wants_csv
from leaderboard.ui.links import page_links, page_number
from leaderboard.ui.tables import PAGE_SIZE, Column, Table, view
from probing.benchmark import TRUTH_VALUES, Relation
from probing.errors import ProbingError

SHARE_RIGHT_HELP = "The share of right answers over all models and wordings that were measured here."


class QuestionsForm(forms.Form):
    """Filters over the questions of a benchmark, and their order."""

    search = forms.CharField(required=False, max_length=100, label="Subject, sentence or answer")

    def __init__(self, data: Any, relations: Sequence[Relation], judged: bool) -> None:
        super().__init__(data, label_suffix="")
        names = {relation.label: relation_name(relation) for relation in relations}
        self.fields["relation"] = _choice_field("Relation", names)
        for tag in PAIR_TAGS:
            values = values_of_tag(relations, tag)
            if len(values) > 1:
                self.fields[tag] = _choice_field(
                    labels.dimension(tag), {value: tag_text(tag, value) for value in values if value}
                )
        if judged:
            self.fields["order"] = forms.ChoiceField(required=False, choices=list(ORDERS.items()), label="Order")
        self.full_clean()

    @property
    def choice(self) -> Choice:
        """The choice of the reader; values that are not valid are left out."""
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return Choice(**{"order": HARDEST, **chosen})


def _choice_field(label: str, titles: Mapping[str, str]) -> forms.ChoiceField:
    """Return a field that chooses one of several values, which pages call by their titles, or all of them."""
    return forms.ChoiceField(required=False, choices=[("", "all"), *titles.items()], label=label)


def questions_view(request: HttpRequest, name: str) -> HttpResponseBase:
    benchmark = get_object_or_404(Benchmark, named(name), current=True)
    judged = bool(benchmark.correctness.column)
    try:
        relations = read_questions(benchmark).relations
        form = QuestionsForm(request.GET, relations, judged)
        rows = difficulties(benchmark, form.choice)
    except ProbingError as error:
        return question_missing(request, benchmark, error)
    columns = question_columns(benchmark, judged)
    start = (page_number(request.GET.get("page", ""), len(rows), PAGE_SIZE) - 1) * PAGE_SIZE
    chosen = rows[start : start + PAGE_SIZE]
    if wants_csv(request):
        values = ([column.cell(row).value for column in columns] for row in (chosen if "page" in request.GET else rows))
        return csv_response([column.name for column in columns], values, request)
    pages = page_links(request.GET, "page", len(rows), PAGE_SIZE)
    table = replace(view(questions_table(benchmark, columns, chosen), request.GET), total=len(rows), pages=pages)
    context = {
        "benchmark": benchmark,
        "form": form,
        "questions": table,
        "judged": judged,
        "playable": not pages_of(benchmark).question_form.unplayable,
        "has_shares": any(row.answered for row in rows),
    }
    return render(request, "questions.html", context)


def question_columns(benchmark: Benchmark, judged: bool) -> list[Column[RatedQuestion]]:
    """Return the columns of a list of questions; those on right answers only where answers are right or wrong."""
    form = pages_of(benchmark).question_form

    def sentence(row: RatedQuestion) -> Cell:
        text = usual_sentence(benchmark, form, row.relation, row.item)
        return cells.text(text, question_url(benchmark, row.relation, row.item), lang=language_of(row.relation))

    def answer(row: RatedQuestion) -> Cell:
        options = row.relation.options_of(row.item)
        return cells.text("; ".join(options[number] for number in row.item.answers), lang=language_of(row.relation))

    columns: list[Column[RatedQuestion]] = [
        Column("id", "", lambda row: cells.text(question_id(row.relation, row.item)), shown=False),
        Column("question", benchmark.noun.capitalize(), sentence, align="head"),
    ]
    if form is STATEMENT:
        columns.append(Column("truth", "True or false", _truth_cell))
    if not judged:
        return [*columns, _relation_column(), *map(_tag_column, PAIR_TAGS)]
    return [
        *columns,
        Column("answer", "Right answer", answer),
        _relation_column(),
        *map(_tag_column, PAIR_TAGS),
        Column("answered", "Answers", lambda row: cells.number(row.answered), align="number", shown=False),
        Column("right", "Right", _right_cell, align="number", folded=True),
        Column("share", "Share right", _share_cell, SHARE_RIGHT_HELP, align="score"),
    ]


def _truth_cell(row: RatedQuestion) -> Cell:
    is_true = row.item.is_true
    return cells.text("" if is_true is None else TRUTH_VALUES[is_true])


def _relation_column() -> Column[RatedQuestion]:
    return Column("relation", "Relation", lambda row: cells.text(relation_name(row.relation)), folded=True)


def _tag_column(name: str) -> Column[RatedQuestion]:
    """Return a tag of the questions' relations for the CSV; pages have filters by it."""
    return Column(name, "", lambda row: cells.text(str(row.relation.tags.get(name, ""))), shown=False)


def _right_cell(row: RatedQuestion) -> Cell:
    return cells.number(None) if not row.answered else Cell(row.right, f"{row.right} of {row.answered}", kind="number")


def _share_cell(row: RatedQuestion) -> Cell:
    return cells.score(row.share)


def questions_table(
    benchmark: Benchmark, columns: Sequence[Column[RatedQuestion]], rows: Sequence[RatedQuestion]
) -> Table[RatedQuestion]:
    return Table(
        name="questions",
        caption=benchmark.nouns.capitalize(),
        columns=columns,
        rows=rows,
        main=True,
        sortable=False,
        empty=f"No {benchmark.noun} passes these filters. Remove one of them.",
    )
