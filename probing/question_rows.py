"""Rows of a table as questions: which columns are read, what they may hold, and what is wrong with which row.

A row has a sentence (`prompt` or `template`), its right `answer`, and what else `READ` lists; further columns are tags.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from probing.errors import BadBenchmark, nearest
from probing.template import ANSWER_SLOT, BLANK_TEXT, SUBJECT_SLOT, with_answer_slot

READ = ("prompt", "template", "subject", "answer", "options", "relation", "id")
OTHER_NAMES = {"choices": "options", "candidates": "options"}  # what columns that are read are called elsewhere
NEAR_ENOUGH = 0.85  # how alike a column and one that is read must be to be taken for a misspelling, from 0 to 1
BEHIND = f"{SUBJECT_SLOT} {ANSWER_SLOT}"  # the template of prompts that end where the answer begins
USUAL_RELATION = "questions"  # of rows that name none
RELATION_ID = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
SEPARATOR = "|"  # between several labels in one text
MOST_NAMED = 20  # faults in one message

Row = Mapping[str, Any]


class RowFault(ValueError):
    """What is wrong with one row, as the end of a sentence; the message about all of them names its place."""


def questions(rows: Iterable[tuple[str, Row | RowFault]], name: str) -> list[dict[str, Any]]:
    """Return the questions of rows that come with their places, such as "line 2"; `name` is what messages call them.

    A question has `relation`, `template`, `subject`, `answers`, `options` (empty where the answers of the relation are
    the options), `id` and `tags`. A template without [X] is a sentence of the question's own. Raises `BadBenchmark`
    with the places of all bad rows.
    """
    made: list[dict[str, Any]] = []
    faults: list[str] = []
    for place, row in rows:
        try:
            if isinstance(row, RowFault):
                raise row
            made.append(_question(row))
        except RowFault as fault:
            faults.append(f"{place}: {fault}")
    ids = [question["id"] for question in made if question["id"]]
    if not faults and len(set(ids)) < len(ids):
        faults = [f"the id {next(one for one in ids if ids.count(one) > 1)!r:.80} stands in several rows"]
    if faults:
        more = f"; and {len(faults) - MOST_NAMED:,} more" if len(faults) > MOST_NAMED else ""
        raise BadBenchmark(f"{name}, {'; '.join(faults[:MOST_NAMED])}{more}.", "Correct these rows.")
    if not made:
        raise BadBenchmark(f"{name} has no rows.", "Add at least one question.")
    return made


def missing_columns(columns: Collection[str]) -> list[str]:
    """Return the columns that every table of questions needs and this one lacks, in words."""
    needed = {"prompt (or template)": {"prompt", "template"}, "answer": {"answer"}}
    return [words for words, names in needed.items() if names.isdisjoint(columns)]


def refuse_columns(columns: Collection[str], name: str) -> None:
    """Raise `BadBenchmark` where a table lacks a column that every question needs, or a column seems to be misspelt.

    A misspelt column would be a tag, and the questions would get other options than those in it.
    """
    if missing := missing_columns(columns):
        step = f"It has {', '.join(map(repr, columns)) or 'none'}: rename one, or add what is missing."
        raise BadBenchmark(f"{name} has no column {' and no column '.join(missing)}.", step)
    for column in columns:
        meant = OTHER_NAMES.get(column) or nearest(column, READ, NEAR_ENOUGH)
        if column not in READ and meant and meant not in columns:
            step = f"Rename it to {meant!r} if it is meant, or else to something less like it."
            raise BadBenchmark(f"{name} has the column {column!r} and none that is called {meant!r}.", step)


def _question(row: Row) -> dict[str, Any]:
    cells = {name: row.get(name) for name in READ}
    subject, template = _sentence(*(_text(cells[name], name) for name in ("prompt", "template", "subject")))
    answers, options = _labels(cells["answer"], "answer"), _labels(cells["options"], "options")
    if not answers:
        raise RowFault("there is no answer")
    if len(options) == 1:
        raise RowFault(f"there is only one option, {options[0]!r:.80}; several have {SEPARATOR} between them")
    if options and (others := [answer for answer in answers if answer not in options]):
        raise RowFault(f"the answer {others[0]!r:.80} is none of the options ({', '.join(options):.200})")
    relation = _text(cells["relation"], "relation") or USUAL_RELATION
    if not RELATION_ID.fullmatch(relation):
        raise RowFault(f"{relation!r:.80} is no relation id (letters, digits, '.', '-' and '_')")
    tags = {str(name): tag for name, value in row.items() if name and name not in READ and (tag := _tag(value, name))}
    return {
        "relation": relation,
        "template": template,
        "subject": subject,
        "answers": answers,
        "options": options,
        "id": _text(cells["id"], "id"),
        "tags": tags,
    }


def _sentence(prompt: str, template: str, subject: str) -> tuple[str, str]:
    """Return the subject and the template; the answer stands at [Y], or else behind the sentence."""
    if bool(prompt) == bool(template):
        raise RowFault("there are both a prompt and a template" if prompt else "there is no prompt")
    text = prompt or template
    if text.count(ANSWER_SLOT) > 1:
        raise RowFault(f"{ANSWER_SLOT} stands more than once")
    if SUBJECT_SLOT in text and not subject:
        raise RowFault(f"there is no subject for {SUBJECT_SLOT}")
    if template and SUBJECT_SLOT not in text:
        raise RowFault(f"the template has no {SUBJECT_SLOT}")
    whole = with_answer_slot(text)
    if not subject and whole == BEHIND.replace(SUBJECT_SLOT, text):
        return text, BEHIND
    return subject or text.replace(ANSWER_SLOT, BLANK_TEXT), whole


def _labels(value: Any, name: str) -> tuple[str, ...]:
    """Return the labels of a list, or of a text with bars between them."""
    if isinstance(value, str):
        parts: list[Any] = [part.strip() for part in value.split(SEPARATOR)] if SEPARATOR in value else [value]
    else:
        parts = list(value) if isinstance(value, Iterable) and not isinstance(value, Mapping) else [value]
    labels = [_text(part, name) for part in parts]
    if len(labels) > 1 and not all(labels):
        raise RowFault(f"one of {name} is empty")
    if len(set(labels)) < len(labels):
        raise RowFault(f"one of {name} occurs twice")
    return tuple(filter(None, labels))


def _tag(value: Any, name: str) -> str | tuple[str, ...]:
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return tuple(_text(part, name) for part in value)
    return _text(value, name)


def _text(value: Any, name: str) -> str:
    """Return a cell as text, which is empty where the cell is; a whole number has no decimal point."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if not isinstance(value, str | int | float):
        raise RowFault(f"{name} holds {value!r:.80}, which is neither text nor number")
    text = str(value)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise RowFault(f"{name} holds half a character (a lone surrogate)")
    return text if text.strip() else ""
