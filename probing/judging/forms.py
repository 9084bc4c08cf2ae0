"""Samples of a geography benchmark's sentences, and the forms on which people judge them (paper, section 2.2).

A form is a CSV file with one sentence in each line, and the same as one HTML page. The page needs no network: judges
click, and save what they have judged as a CSV file.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from jinja2 import Environment, FileSystemLoader

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.formats.geography import TypedSentence, fits, typed_sentences
from probing.formats.reading import text_lines
from probing.template import ANSWER_SLOT, BLANK_TEXT, upper_first

SAMPLES, SIZE = 2, 225  # of the paper
# What is judged, as columns of a form with the question to the judge: the paper's three criteria, and the truth. A
# spreadsheet would rewrite a column "true".
QUESTIONS = {
    "grammatical": "Is the sentence grammatical?",
    "repetition": "Does a word stand there twice, where once would do?",
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
class Sampling:
    """How many samples are drawn, the number of sentences in each, and the seed."""

    samples: int = SAMPLES
    size: int = SIZE
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.size < 1:
            raise BadInput("A sample needs a sentence at least.", "Give --samples and --size of 1 or more.")


def sentences_of(benchmark: Benchmark) -> list[TypedSentence]:
    """Return the sentences of a geography benchmark with their fact types; other benchmarks are refused."""
    folder = benchmark.files[0].parent if benchmark.files else Path()
    if benchmark.probe != "cloze" or not fits(folder):
        raise BadInput(
            f"{benchmark.slug} is no geography benchmark.", "Choose a folder with triples.jsonl or triples.csv."
        )
    return typed_sentences(folder)


def draw(typed: Sequence[TypedSentence], sampling: Sampling) -> list[list[TypedSentence]]:
    """Return the samples, each with sentences of every fact type in proportion to their numbers, in mixed order.

    No sentence is in two samples, unless its fact type has too few for all of them. Equal seeds draw equally.
    """
    by_type: dict[str, list[TypedSentence]] = defaultdict(list)
    for key, sentence in typed:
        by_type[key].append((key, sentence))
    sizes = _sizes({key: len(members) for key, members in by_type.items()}, sampling.size)
    samples: list[list[TypedSentence]] = [[] for _ in range(sampling.samples)]
    for key, members in by_type.items():
        shuffled = Random(f"{sampling.seed} {key}").sample(members, len(members))
        for number, sample in enumerate(samples):
            places = range(number * sizes[key], (number + 1) * sizes[key])
            sample += [shuffled[number % len(shuffled)] for number in places]
    for number, sample in enumerate(samples):
        Random(f"{sampling.seed} order {number}").shuffle(sample)
    return samples


def _sizes(numbers: Mapping[str, int], size: int) -> dict[str, int]:
    """Divide the size of a sample among fact types: one sentence each, the rest in proportion (largest remainders)."""
    total = sum(numbers.values())
    if not len(numbers) <= size <= total:
        raise BadInput(
            f"A sample of {size} sentences is not possible.",
            f"Give --size from {len(numbers)}, the number of fact types, to {total}, that of sentences.",
        )
    spare, left = size - len(numbers), total - len(numbers)
    shares = {key: (number - 1) * spare / left if left else 0.0 for key, number in numbers.items()}
    sizes = {key: 1 + int(share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: int(shares[key]) - shares[key])
    for key in by_remainder[: size - sum(sizes.values())]:
        sizes[key] += 1
    return sizes


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
            as_text = {name: f"'{value}" if value.startswith(FORMULA_STARTS) else value for name, value in line.items()}
            writer.writerow(as_text)


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


def _judgement(line: Mapping[str, str | None], location: str, ids: frozenset[str]) -> Judgement:
    sentence = line["id"] or ""
    if sentence not in ids:
        raise BadInput(
            f"{location}: the benchmark has no sentence {sentence!r:.80}.", "Name the version from which it was drawn."
        )
    answers = {}
    for question in QUESTIONS:
        if word := (line[question] or "").strip().casefold():
            if word not in ANSWERS:
                raise BadInput(f"{location}: {question} is {word!r:.40}.", "Write yes or no, or leave it empty.")
            answers[question] = ANSWERS[word]
    return Judgement(line["sample"] or "", sentence, answers)


def judged_by_model(lines: Sequence[Line], probabilities: Mapping[str, float]) -> list[Line]:
    """Return the lines with a model's verdict on grammar, and the probability as a note."""
    return [
        line
        | {
            "grammatical": "yes" if probabilities[line["id"]] >= 0.5 else "no",
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
