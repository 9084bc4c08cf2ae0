"""What models answer to one question: every wording, and the shares of the options."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import ModelAnswer, short_names
from leaderboard.figures.item_rows import ItemsMissing
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT
from leaderboard.figures.questions import BenchmarkQuestion, QuestionOutcomes
from leaderboard.models import Run
from leaderboard.probes import pages_of
from leaderboard.probes.items import item_url, shares_of
from leaderboard.tables import Row
from leaderboard.ui import labels
from leaderboard.ui.visible import visible

OPTION_COLUMNS = ("scores", "prediction")
LONGEST, LONGEST_NOTE = 60, 500  # letters of an answer that a cell and its tooltip show
OPTIONS_SHOWN = 8
RUNS_SHOWN = 5  # whose shares stand side by side
MOST_INSTEAD = 5  # wrong answers that are counted


def read_answers(runs: Sequence[Run], question: BenchmarkQuestion, outcomes: QuestionOutcomes) -> list[Row]:
    """Read the answers of a few runs to one question from their files; a run without files has none.

    Of each `run` there are the stored `rows` by template, and its `outcomes`.
    """
    return [{"run": run, "rows": _rows(run, question), "outcomes": outcomes.of(run.pk)} for run in runs]


def _rows(run: Run, question: BenchmarkQuestion) -> dict[int, Row]:
    """Return the stored rows of a question by template."""
    columns = (*_answer(run).columns, "relation", *OPTION_COLUMNS)
    with suppress(ItemsMissing):
        rows = item_rows.answers(run, question.relation.label, [question.item.index], columns)
        return {row["template"]: row for row in rows}
    return {}


def _answer(run: Run) -> ModelAnswer:
    pages = pages_of(run.benchmark)
    return pages.question_form.answer or pages.model_answer


# Every model's answer to each wording.


def answer_columns(templates: Sequence[int], *, judged: bool) -> list[str]:
    """Return the columns of the CSV; the number of right answers only where several wordings can be right or wrong."""
    of_templates = [name for template in templates for name in (f"answer_{template}", f"right_{template}")]
    right = ["right"] if judged and len(templates) > 1 else []
    return ["model", "settings", "parameters", *right, *of_templates]


def answer_row(answers: Row, question: BenchmarkQuestion, templates: Sequence[int]) -> Row:
    """Return a run with its answer to each wording, which leads to everything that is stored of it."""
    run, first = answers["run"], next(iter(answers["rows"].values()), None)
    outcomes = [outcome for outcome in answers["outcomes"] if outcome != NOT_COUNTED]
    given = {template: _given(answers, question, template) for template in templates}
    return {
        "run": run,
        "href": item_url(run, first) if first else run.get_absolute_url(),
        "answers": list(given.values()),
        "counted": len(outcomes),
        "model": visible(run.model.hub_id),
        "settings": labels.variant(run),
        "parameters": run.model.parameters,
        "right": outcomes.count(RIGHT) if outcomes else None,
        **{f"answer_{template}": answer["text"] for template, answer in given.items()},
        **{f"right_{template}": answer["right"] for template, answer in given.items()},
    }


def _given(answers: Row, question: BenchmarkQuestion, template: int) -> Row:
    """Return an answer as it stands in the file and on the page, and whether it is right, None if not counted."""
    outcomes, row = answers["outcomes"], answers["rows"].get(template)
    outcome = outcomes[template] if template < len(outcomes) else NOT_COUNTED
    text = visible(" ".join(_answer(answers["run"]).text(row).split())) if row else None
    tie = _tied(row, question.relation.options_of(question.item)) if row else ""
    whole = f"tie: {tie}" if tie else text or ""
    shown = shorten(whole, LONGEST)
    return {
        "number": template + 1,
        "text": text,
        "shown": shown,
        "note": "" if shown == whole else shorten(whole, LONGEST_NOTE),
        "right": None if outcome == NOT_COUNTED else outcome == RIGHT,
    }


def shorten(text: str, length: int) -> str:
    """Return the beginning of a text that is longer."""
    return text if len(text) <= length else f"{text[:length]}…"


def _tied(row: Row, options: Sequence[str]) -> str:
    """Return the options that share the best score, of which the first counts as the answer; empty without a tie."""
    scores = row.get("scores") or []
    if len(scores) != len(options) or len(scores) < 2:
        return ""
    best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
    return ", ".join(best) if len(best) > 1 else ""


def said_instead(rows: Sequence[Row]) -> list[Row]:
    """Return the most frequent answers that are not right, with how many of all answers they are."""
    judged = [answer for row in rows for answer in row["answers"] if answer["right"] is not None]
    wrong = Counter(answer["shown"] for answer in judged if not answer["right"] and answer["text"])
    frequent = wrong.most_common(MOST_INSTEAD)
    return [
        {"answer": answer, "number": number, "of": len(judged), "share": number / len(judged)}
        for answer, number in frequent
    ]


# The shares of the options side by side in a few models.


def option_rows(question: BenchmarkQuestion, answers: Sequence[Row], template: int) -> tuple[list[str], list[Row]]:
    """Return the names of a few models that chose among options, and all options, the most probable on average first.

    A page shows the right options, those that a model chose, and those with the largest shares (`is_shown`).
    """
    options = question.relation.options_of(question.item)
    scored = [row for row in answers if len(_scores(row, template)) == len(options) > 1][:RUNS_SHOWN]
    names = short_names([row["run"] for row in scored])
    scores = {name: _scores(row, template) for name, row in zip(names, scored, strict=True)}
    shares = {name: shares_of(of_run) for name, of_run in scores.items()}
    chosen = {(name, n) for name, of_run in scores.items() for n, score in enumerate(of_run) if score == max(of_run)}
    best_first = sorted(range(len(options)), key=lambda option: -sum(of_run[option] for of_run in shares.values()))
    rows = [
        {
            "option": options[option],
            "right": option in question.item.answers,
            "models": [(name, shares[name][option], (name, option) in chosen) for name in names],
            "is_shown": option in question.item.answers
            or place < OPTIONS_SHOWN
            or any((name, option) in chosen for name in names),
            **{name: shares[name][option] for name in names},
        }
        for place, option in enumerate(best_first)
    ]
    return names, rows if names else []


def _scores(answers: Row, template: int) -> Sequence[float]:
    scores: Sequence[float] = answers["rows"].get(template, {}).get("scores") or ()
    return scores
