"""Human checks of a geography benchmark's sentences (paper, section 2.2): what is asked, agreed on and left out.

People answer four questions about samples of the sentences, on a form: a CSV file with one sentence in each line. A
model may answer the first. Agreement is counted in percent, as Cohen's kappa and as Fleiss' kappa. Kappa is the
agreement beyond that which chance would give: 1 for judges who always agree, 0 for judges who agree as often as chance
would have it. S-TEST's paper asked people as well, whose answers are not public.
"""

import csv
import io
import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from probing.arrays import Floats
from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.folders import new_file, new_folder
from probing.formats.geography import LEFT_OUT, LeftOut, TypedSentence, fits, read_left_out, typed_sentences
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
# The answers by which a sentence is refused. What gives its answer away is kept, as in the paper.
REFUSING = {"grammatical": False, "repetition": True, "factual": False}
# The fewest judged sentences of a template that is refused if more than half of them are.
SENTENCES_OF_A_TEMPLATE = 3
AGREEMENT = ["sample", "question", "judges", "sentences", "yes", "agreement", "kappa"]
# One list for each judge, with the category of every thing in the same order.
Judgements = Sequence[Sequence[Hashable]]


# What one judge says about one sentence: its sample, its id, and the answers to the questions that were answered.
Judgement = tuple[str, str, Mapping[str, bool]]
Form = Sequence[Judgement]  # of one judge


def sentences_of(benchmark: Benchmark) -> list[TypedSentence]:
    """Return the sentences of a geography benchmark with their fact types; other benchmarks are refused."""
    folder = benchmark.files[0].parent if benchmark.files else Path()
    if benchmark.probe != "cloze" or not fits(folder):
        raise BadInput(
            f"{benchmark.slug} is no geography benchmark.", "Choose a folder with triples.jsonl or triples.csv."
        )
    return typed_sentences(folder)


def draw(typed: Sequence[TypedSentence], size: int = SIZE) -> list[list[TypedSentence]]:
    """Return two samples of this size, with sentences of every fact type in proportion to their numbers, and mixed.

    No sentence is in both, unless its fact type has too few. The same sentences are drawn each time.
    """
    by_type: dict[str, list[TypedSentence]] = defaultdict(list)
    for key, sentence in typed:
        by_type[key].append((key, sentence))
    sizes = _sizes({key: len(members) for key, members in by_type.items()}, size)
    samples: list[list[TypedSentence]] = [[] for _ in range(SAMPLES)]
    for key, members in by_type.items():
        shuffled = Random(key).sample(members, len(members))
        for number, sample in enumerate(samples):
            places = range(number * sizes[key], (number + 1) * sizes[key])
            sample += [shuffled[number % len(shuffled)] for number in places]
    for number, sample in enumerate(samples):
        Random(number).shuffle(sample)
    return samples


def _sizes(numbers: Mapping[str, int], size: int) -> dict[str, int]:
    """Divide the size of a sample among fact types: one sentence each, the rest in proportion (largest remainders)."""
    total = sum(numbers.values())
    if not len(numbers) <= size <= total:
        raise BadInput(
            f"A sample of {size} sentences is not possible.",
            f"Give --sample from {len(numbers)}, the number of fact types, to {total}, that of sentences.",
        )
    spare, left = size - len(numbers), total - len(numbers)
    shares = {key: (number - 1) * spare / left if left else 0.0 for key, number in numbers.items()}
    sizes = {key: 1 + int(share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: int(shares[key]) - shares[key])
    for key in by_remainder[: size - sum(sizes.values())]:
        sizes[key] += 1
    return sizes


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
    keys = [(sample, sentence) for sample, sentence, _ in judgements]
    if len(set(keys)) < len(keys):
        raise BadInput(f"{path} has a sentence twice.", "Give each judge a file of their own.")
    if not any(answers for _, _, answers in judgements):
        raise BadInput(f"{path} is not filled in.", "Answer yes or no in its last columns.")
    return judgements


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
    return line["sample"] or "", sentence, answers


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


def agreement(forms: Sequence[Form]) -> pd.DataFrame:
    """Return a row for each sample and question with the judges' agreement on what all of them have answered.

    `yes` is the share of answers that are yes. A form without samples, such as a model's, belongs to every sample.
    The agreement of a single judge and the kappa of judges who always give the same answer are not numbers.
    """
    samples = {sample for form in forms for sample, _, _ in form}
    rows = [row for sample in sorted(samples - {""}) or [""] for row in _sample_agreement(forms, sample)]
    return pd.DataFrame(rows, columns=AGREEMENT)


def stored_agreement(path: Path) -> pd.DataFrame:
    """Return the agreement that a file `left_out.json` has, without rows where it has none; None where unknown."""
    rows = json.loads(path.read_text(encoding="utf-8")).get("agreement", [])
    about_questions = [row for row in rows if isinstance(row, dict) and row.get("question") in QUESTIONS]
    table = pd.DataFrame(about_questions, columns=AGREEMENT).astype(object)
    return table.where(table.notna(), None)


def _sample_agreement(forms: Sequence[Form], sample: str) -> Iterator[tuple[str, str, int, int, float, float, float]]:
    members = {sentence for form in forms for of_sample, sentence, _ in form if of_sample == sample}
    for question in QUESTIONS:
        answers = [answer for form in forms if (answer := _answers(form, question, sample, members))]
        common = sorted(set.intersection(*map(set, answers))) if answers else []
        if not common:
            continue
        judgements = [[answer[sentence] for sentence in common] for answer in answers]
        yes = sum(map(sum, judgements)) / (len(answers) * len(common))
        alone = len(answers) < 2
        measures = (float("nan"),) * 2 if alone else (observed_agreement(judgements), kappa(judgements))
        yield sample, question, len(answers), len(common), yes, *measures


def _answers(form: Form, question: str, sample: str, members: Collection[str]) -> dict[str, bool]:
    return {
        sentence: answers[question]
        for of_sample, sentence, answers in form
        if of_sample in (sample, "") and sentence in members and question in answers
    }


def refusals(forms: Sequence[Form], typed: Sequence[TypedSentence]) -> LeftOut:
    """Return what judges refuse: a sentence if more than half of them refuse it by one of the questions.

    A template is refused with all its sentences if more than half of its judged sentences are, of three or more.
    """
    votes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for form in forms:
        for _, sentence_id, own_answers in form:
            for question in REFUSING.keys() & own_answers.keys():
                votes[sentence_id, question].append(own_answers[question] != REFUSING[question])
    judged = {sentence for sentence, _ in votes}
    refused = frozenset(sentence for (sentence, _), answers in votes.items() if 2 * sum(answers) < len(answers))
    by_template: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for key, sentence in typed:
        if sentence.id in judged:
            by_template[key, sentence.template].append(sentence.id in refused)
    templates: dict[str, frozenset[str]] = {}
    for (key, template), verdicts in by_template.items():
        if len(verdicts) >= SENTENCES_OF_A_TEMPLATE and 2 * sum(verdicts) > len(verdicts):
            templates[key] = templates.get(key, frozenset()) | {template}
    return LeftOut(refused, templates)


def write_version(benchmark: Benchmark, typed: Sequence[TypedSentence], forms: Sequence[Form], folder: Path) -> LeftOut:
    """Write a copy of a geography benchmark without what the judges refuse, in a new folder; return what is left out.

    What the benchmark already left out stays left out.
    """
    source = benchmark.files[0].parent
    before, refused = read_left_out(source), refusals(forms, typed)
    kept = sum(not refused.covers(key, sentence) for key, sentence in typed)
    if kept == len(typed):
        raise BadInput("The judges refuse nothing.", "Keep the benchmark as it is.")
    if not kept:
        raise BadInput("The judges refuse every sentence.", "Check how the forms were filled in.")
    note = _note(refused, len(typed) - kept, len(forms))
    types = before.templates.keys() | refused.templates.keys()
    templates = {
        key: before.templates.get(key, frozenset()) | refused.templates.get(key, frozenset()) for key in sorted(types)
    }
    left_out = LeftOut(before.sentences | refused.sentences, templates, (*before.notes, note))
    with new_folder(folder) as new:
        shutil.copytree(source, new, dirs_exist_ok=True)
        _write(new / LEFT_OUT, left_out, forms)
    return refused


def _note(refused: LeftOut, sentences: int, judges: int) -> str:
    templates = sum(map(len, refused.templates.values()))
    of_templates = f" (whole templates among them: {templates})" if templates else ""
    return f"Sentences left out because most answers of judges were no: {sentences:,}{of_templates}. Judges: {judges}."


def _write(path: Path, left_out: LeftOut, forms: Sequence[Form]) -> None:
    judged = json.loads(agreement(forms).to_json(orient="records", double_precision=6))
    content = {
        "notes": left_out.notes,
        "templates": {key: sorted(numbers) for key, numbers in left_out.templates.items()},
        "sentences": sorted(left_out.sentences),
        "agreement": judged,
    }
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def observed_agreement(judgements: Judgements) -> float:
    """Return the share of pairs of judges who agree, as a mean over things; for two judges the share that is equal."""
    counts = _counts(judgements)
    judges = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))).mean())


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two judges (Cohen 1960), who may prefer different categories.

    It is not a number where both put everything into the same category, as chance would then always agree.
    """
    table = pd.crosstab(np.asarray(first, dtype=object), np.asarray(second, dtype=object), normalize=True)
    shares = [table.sum(axis=axis) for axis in (1, 0)]
    return _beyond_chance(observed_agreement([first, second]), float(shares[0].mul(shares[1], fill_value=0).sum()))


def fleiss_kappa(judgements: Judgements) -> float:
    """Return Fleiss' kappa of any number of judges (Fleiss 1971), all of whom have judged everything.

    It is not a number where everything is in the same category.
    """
    counts = _counts(judgements)
    shares = counts.sum(axis=0) / counts.sum()
    return _beyond_chance(observed_agreement(judgements), float((shares**2).sum()))


def kappa(judgements: Judgements) -> float:
    """Return Cohen's kappa for two judges and Fleiss' kappa for more."""
    return cohens_kappa(*judgements) if len(judgements) == 2 else fleiss_kappa(judgements)


def _counts(judgements: Judgements) -> Floats:
    """Return how many judges chose each category, with a row for each thing and a column for each category."""
    table = pd.DataFrame(judgements).T
    return np.stack([(table == category).sum(axis=1) for category in pd.unique(table.to_numpy().ravel())], axis=1) * 1.0


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
