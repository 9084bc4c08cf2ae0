"""Forms on which sentences are judged: CSV files with one sentence in each line, and the same as one HTML page.

The page needs no network: judges click, and save what they have judged as a CSV file.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from probing.errors import BadInput
from probing.files.folders import new_file
from probing.formats.geography import TypedSentence
from probing.formats.reading import text_lines
from probing.template import ANSWER_SLOT, BLANK_TEXT, upper_first

# What is judged, as columns of a form with the question to the judge. A spreadsheet would rewrite a column "true".
QUESTIONS = {
    "acceptable": "Is the sentence good English: grammatical, and without a needlessly repeated word?",
    "factual": "Is what it says true?",
    "leaky": "Do the words around the blank give the answer away?",
}
FACTS = ("sample", "id", "fact_type", "template", "sentence", "masked", "answer")
COLUMNS = (*FACTS, *QUESTIONS, "note")
ANSWERS = {"yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False}
FORMULA_STARTS = ("=", "+", "-", "@")  # of text that a spreadsheet would compute
Line = dict[str, str]
TEMPLATE = "form.html"


@dataclass(frozen=True)
class Judgement:
    """What one judge says about one sentence; `answers` holds the questions that the judge has answered."""

    sample: str
    sentence: str
    answers: Mapping[str, bool]


@dataclass(frozen=True)
class Form:
    """The judgements of one judge, who is called by the name of the file."""

    judge: str
    judgements: tuple[Judgement, ...]


def empty_lines(sample: str, typed: Iterable[TypedSentence]) -> list[Line]:
    """Return the lines of a form without any judgement."""
    return [
        {
            "sample": sample,
            "id": sentence.id,
            "fact_type": key,
            "template": sentence.template,
            "sentence": upper_first(sentence.text.replace(ANSWER_SLOT, sentence.answer)),
            "masked": sentence.text.replace(ANSWER_SLOT, BLANK_TEXT),
            "answer": sentence.answer,
            **dict.fromkeys((*QUESTIONS, "note"), ""),
        }
        for key, sentence in typed
    ]


def write_form(path: Path, lines: Iterable[Line]) -> None:
    """Write a form as CSV in UTF-8 with a byte order mark, without which spreadsheets garble names."""
    with new_file(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow({name: _not_a_formula(value) for name, value in line.items()})


def read_form(path: Path, ids: frozenset[str]) -> Form:
    """Read a filled form, also with the semicolons of some spreadsheets; `ids` are those of all sentences."""
    text = "\n".join(text_lines(path))
    header = text.partition("\n")[0]
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=";" if header.count(";") > header.count(",") else ",", strict=True
    )
    missing = [name for name in ("sample", "id", *QUESTIONS) if name not in (reader.fieldnames or ())]
    if missing:
        raise BadInput(f"{path} has no column {missing[0]!r}.", f"Its first line should be: {','.join(COLUMNS)}.")
    try:
        judgements = tuple(_judgement(line, f"{path}, line {reader.line_num}", ids) for line in reader)
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.reader.line_num}: {error}.", "Save it as CSV again.") from error
    keys = [(judgement.sample, judgement.sentence) for judgement in judgements]
    if len(set(keys)) < len(keys):
        raise BadInput(f"{path} has a sentence twice.", "Give each judge a file of their own.")
    if not any(judgement.answers for judgement in judgements):
        raise BadInput(f"{path} is not filled in.", "Answer yes or no in its last columns.")
    return Form(str(path), judgements)


def _judgement(line: Mapping[str, str | None], place: str, ids: frozenset[str]) -> Judgement:
    sentence = line["id"] or ""
    if sentence not in ids:
        raise BadInput(
            f"{place}: the benchmark has no sentence {sentence!r:.80}.", "Name the version from which it was drawn."
        )
    answers = {}
    for question in QUESTIONS:
        if word := (line[question] or "").strip().casefold():
            if word not in ANSWERS:
                raise BadInput(f"{place}: {question} is {word!r:.40}.", "Write yes or no, or leave it empty.")
            answers[question] = ANSWERS[word]
    return Judgement(line["sample"] or "", sentence, answers)


def _not_a_formula(value: str) -> str:
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value


def judged_by_model(lines: Sequence[Line], probabilities: Mapping[str, float]) -> list[Line]:
    """Return the lines with a model's verdict on acceptability, and the probability as a note."""
    return [
        line
        | {
            "acceptable": "yes" if probabilities[line["id"]] >= 0.5 else "no",
            "note": f"probability {probabilities[line['id']]:.4f}",
        }
        for line in lines
    ]


def write_page(path: Path, title: str, lines: Sequence[Line]) -> None:
    """Write the page of a form; texts are escaped, as sentences may come from anywhere."""
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template(TEMPLATE).render(title=title, lines=lines, questions=QUESTIONS, columns=COLUMNS)
    with new_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
