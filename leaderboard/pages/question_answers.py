"""What models answer to one question: every wording, the shares of the options, and the perplexities of statements."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import ModelAnswer, short_names
from leaderboard.figures.item_rows import ItemsMissing, Row
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT
from leaderboard.figures.questions import BenchmarkQuestion, QuestionOutcomes, question_url
from leaderboard.models import Benchmark, Run
from leaderboard.probes import pages_of
from leaderboard.probes.items import SHARE_HELP, item_url, shares_of
from leaderboard.probes.wording import OUTCOMES, AnswerWords, language_of
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Bar, Cell
from leaderboard.ui.tables import Column, Table, settings_column
from leaderboard.ui.visible import visible
from probing.benchmark import Item

OPTION_COLUMNS = ("scores", "prediction")
LONGEST, LONGEST_NOTE = 60, 500  # letters of an answer that a cell and its tooltip show
OPTIONS_SHOWN = 8
RUNS_SHOWN = 5  # whose shares stand side by side
CHOSEN = " ●"
MOST_CONTRASTS = 5
# What a cell says of a true and a false statement, of which a model prefers one.
PREFERENCES = {True: "the true one preferred", False: "the false one preferred", None: "no preference"}
RowsByTemplate = dict[int, Row]


@dataclass(frozen=True)
class Answers:
    """A run's answers to one question: the stored rows by template, and whether each is right, None if not counted.

    `beside`: the rows of the questions that the page shows beside it, by index and template.
    """

    run: Run
    rows: RowsByTemplate
    outcomes: Sequence[int]
    beside: Mapping[int, RowsByTemplate]

    def right(self, template: int) -> bool | None:
        """Tell whether the answer to a wording is right; None where it does not count."""
        outcome = self.outcomes[template] if template < len(self.outcomes) else NOT_COUNTED
        return None if outcome == NOT_COUNTED else outcome == RIGHT

    @property
    def counted(self) -> int:
        return sum(outcome != NOT_COUNTED for outcome in self.outcomes)


def read_answers(
    runs: Sequence[Run], question: BenchmarkQuestion, outcomes: QuestionOutcomes, beside: Sequence[Item] = ()
) -> list[Answers]:
    """Read the answers of a few runs to one question from their files; a run without files has none.

    `beside`: further items of the relation, whose rows are read as well.
    """
    indices = [item.index for item in (question.item, *beside)]
    by_run = [(run, _rows(run, question.relation.label, indices)) for run in runs]
    return [Answers(run, rows.pop(question.item.index, {}), outcomes.of(run.pk), rows) for run, rows in by_run]


def _rows(run: Run, relation: str, indices: Sequence[int]) -> dict[int, RowsByTemplate]:
    """Return the stored rows of items by index and template."""
    columns = (*_answer(run).columns, "relation", *OPTION_COLUMNS)
    by_index: dict[int, RowsByTemplate] = defaultdict(dict)
    with suppress(ItemsMissing):
        for row in item_rows.answers(run, relation, indices, columns):
            by_index[row["index"]][row["template"]] = row
    return by_index


def _answer(run: Run) -> ModelAnswer:
    pages = pages_of(run.benchmark)
    return pages.question_form.answer or pages.model_answer


def answers_table(
    question: BenchmarkQuestion, answers: Sequence[Answers], templates: Sequence[int], words: AnswerWords
) -> Table[Answers]:
    """Return each model's answer to each wording, with a mark that tells right from wrong."""
    judged = any(row.counted for row in answers)
    lang = language_of(question.relation)

    def right(row: Answers) -> Cell:
        number = sum(outcome == RIGHT for outcome in row.outcomes)
        words = f"{number} of {row.counted}" if row.counted else cells.NO_VALUE
        return Cell(number if row.counted else None, words, kind="number")

    def columns(template: int) -> list[Column[Answers]]:
        title = f"Answer to wording {template + 1}" if len(templates) > 1 else "Answer"
        text = partial(_answer_cell, template=template, question=question, lang=lang, judged=judged)
        outcome = partial(_outcome_cell, template=template)
        return [
            Column(f"answer_{template}", title, text, align="wide"),
            Column(f"right_{template}", f"{title}: {words.right}", outcome, shown=False),
        ]

    return Table(
        name="answers",
        caption="Every model's answer",
        columns=[
            Column("model", "Model", _model_cell, align="head"),
            settings_column(lambda row: row.run),
            Column("parameters", "Size", lambda row: cells.parameters(row.run.model.parameters), align="number"),
            *(
                [Column("right", labels.sentence(words.right), right, align="number")]
                if judged and len(templates) > 1
                else []
            ),
            *(column for template in templates for column in columns(template)),
        ],
        rows=answers,
        main=True,
        sortable=False,
        empty="No model's answer passes these filters.",
    )


def _model_cell(row: Answers) -> Cell:
    """Link a model to the same page with everything that is stored of its run's answer."""
    first = next(iter(row.rows.values()), None)
    return cells.text(
        visible(row.run.model.hub_id), href=item_url(row.run, first) if first else row.run.get_absolute_url()
    )


def _answer_cell(row: Answers, template: int, question: BenchmarkQuestion, lang: str, judged: bool) -> Cell:
    if template not in row.rows:
        return Cell(None, "not asked", kind="missing")
    stored, right = row.rows[template], row.right(template)
    text = visible(" ".join(_answer(row.run).text(stored).split()))
    tie = _tied(stored, question.relation.options_of(question.item))
    shown = f"tie: {tie}" if tie else text
    short = shorten(shown, LONGEST)
    note = "" if short == shown else shorten(shown, LONGEST_NOTE)
    if not judged:
        return Cell(text, short, note=note, lang=lang)
    return pages_of(row.run.benchmark).words.cell(right, text, short, note, lang)


def shorten(text: str, length: int) -> str:
    """Return the beginning of a text that is longer."""
    return text if len(text) <= length else f"{text[:length]}…"


def _outcome_cell(row: Answers, template: int) -> Cell:
    return cells.yes_no(row.right(template))


def _tied(row: Row, options: Sequence[str]) -> str:
    """Return the options that share the best score, of which the first counts as the answer; empty without a tie."""
    scores = row.get("scores") or []
    if len(scores) != len(options) or len(scores) < 2:
        return ""
    best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
    return ", ".join(best) if len(best) > 1 else ""


@dataclass(frozen=True)
class OptionShares:
    """An option with its share in each run, whether it is right, and in which runs it was chosen."""

    label: str
    right: bool
    shares: Sequence[float]
    chosen: Sequence[bool]


def options_table(
    question: BenchmarkQuestion, answers: Sequence[Answers], template: int, words: AnswerWords
) -> Table[Any] | None:
    """Return the shares of the options side by side in a few models; None where no model chose among options.

    A page shows the right options and those with the largest shares, the CSV all of them.
    """
    scored = [row for row in answers if len(_scores(row, template)) == len(_options(question)) > 1][:RUNS_SHOWN]
    if not scored:
        return None
    rows = _option_rows(question, scored, template)
    shown = [row for number, row in enumerate(rows) if row.right or any(row.chosen) or number < OPTIONS_SHOWN]
    names = short_names([row.run for row in scored])
    lang = language_of(question.relation)
    columns: list[Column[OptionShares]] = [
        Column("option", "Option", partial(_option_cell, lang=lang, words=words)),
        *(
            Column(name, visible(name), partial(_share_cell, model=number), SHARE_HELP)
            for number, name in enumerate(names)
        ),
    ]
    full_table = Table("options", "Shares of the options", columns, rows, sortable=False)
    return Table(
        "options",
        "Shares of the options",
        columns,
        shown,
        sortable=False,
        band=lambda row: "right" if row.right else "",
        export=full_table,
    )


def _options(question: BenchmarkQuestion) -> Sequence[str]:
    return question.relation.options_of(question.item)


def _scores(row: Answers, template: int) -> Sequence[float]:
    return row.rows.get(template, {}).get("scores") or ()


def _option_rows(question: BenchmarkQuestion, scored: Sequence[Answers], template: int) -> list[OptionShares]:
    """Return all options, the most probable on average first."""
    by_run = [shares_of(_scores(row, template)) for row in scored]
    best = [max(_scores(row, template)) for row in scored]
    rows = [
        OptionShares(
            label,
            option in question.item.answers,
            [shares[option] for shares in by_run],
            [_scores(row, template)[option] == top for row, top in zip(scored, best, strict=True)],
        )
        for option, label in enumerate(_options(question))
    ]
    return sorted(rows, key=lambda row: -sum(row.shares))


def _option_cell(row: OptionShares, lang: str, words: AnswerWords) -> Cell:
    return words.cell(True, row.label, lang=lang) if row.right else Cell(row.label, row.label, lang=lang)


def _share_cell(row: OptionShares, model: int) -> Cell:
    """Show a share as a bar, with a dot where the model chose the option."""
    share, chosen = row.shares[model], row.chosen[model]
    bar = Bar(100 * share, 0, 100 * share)
    return Cell(share, f"{share:.2f}{CHOSEN if chosen else ''}", bar=bar, kind="share", spoken="chosen" * chosen)


def contrasts(question: BenchmarkQuestion) -> list[Item]:
    """Return statements of the same relation that are false if this one is true, and true if it is false.

    Those about the same subject or object come first, then those that follow it in the benchmark; nothing for a
    question that is no statement.
    """
    is_true = question.item.is_true
    if is_true is None:
        return []
    items, names = question.relation.items, set(question.item.names)
    onwards = [*items[question.number :], *items[: question.number]]
    others = (item for item in onwards if item.is_true is not is_true)
    return list(islice(sorted(others, key=lambda item: not names & set(item.names)), MOST_CONTRASTS))


@dataclass(frozen=True)
class Statement:
    """A statement with its perplexities in runs, None where it is not stored.

    `preferred` tells of each run whether it finds the true one of this statement and that of the page less perplexing,
    None where they are equal or where one is missing; it is empty for the statement of the page itself.
    """

    item: Item
    text: str
    perplexities: Sequence[float | None]
    preferred: Sequence[bool | None] = ()


def statements_table(
    benchmark: Benchmark, question: BenchmarkQuestion, beside: Sequence[Item], answers: Sequence[Answers], template: int
) -> Table[Statement] | None:
    """Return a statement and those `beside` it with their perplexities in a few models; None where none are beside."""
    if not beside:
        return None
    shown = answers[:RUNS_SHOWN]
    own = Statement(question.item, _text(question.item, template), [_perplexity(row.rows, template) for row in shown])
    others = [_against(own, item, template, shown) for item in beside]
    names = short_names([row.run for row in shown])

    def text(row: Statement) -> Cell:
        return cells.text(row.text, "" if row is own else question_url(benchmark, question.relation, row.item))

    return Table(
        name="statements",
        caption="Perplexities of true and false statements",
        columns=[
            Column("statement", "Statement", text, align="head"),
            Column("true", "True", lambda row: cells.yes_no(row.item.is_true)),
            *(
                Column(name, visible(name), partial(_perplexity_cell, model=number), align="number")
                for number, name in enumerate(names)
            ),
        ],
        rows=[own, *others],
        sortable=False,
        band=lambda row: "own" if row is own else "",
    )


def _text(item: Item, template: int) -> str:
    return item.options[template]


def _perplexity(rows: Mapping[int, Mapping[str, float]], template: int) -> float | None:
    return rows[template]["perplexity"] if template in rows else None


def _against(own: Statement, item: Item, template: int, answers: Sequence[Answers]) -> Statement:
    values = [_perplexity(row.beside.get(item.index, {}), template) for row in answers]
    preferred = [_prefers_true(own, one, other) for one, other in zip(own.perplexities, values, strict=True)]
    return Statement(item, _text(item, template), values, preferred)


def _prefers_true(own: Statement, perplexity: float | None, other: float | None) -> bool | None:
    if perplexity is None or other is None or perplexity == other:
        return None
    return (perplexity < other) == own.item.is_true


def _perplexity_cell(row: Statement, model: int) -> Cell:
    """Show a perplexity; beside another statement's, a mark tells whether the model prefers the true one."""
    value = row.perplexities[model]
    if value is None:
        return Cell(None, "not asked", kind="missing")
    text = f"{value:,.1f}"
    if not row.preferred:
        return Cell(value, text, kind="number")
    right = row.preferred[model]
    mark, kind = OUTCOMES[right]
    return Cell(value, f"{mark} {text}", kind=kind, spoken=PREFERENCES[right])
