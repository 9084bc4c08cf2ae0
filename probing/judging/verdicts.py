"""What judges agree on, which sentences and templates they refuse, and the version of the benchmark without these.

Agreement is counted in percent, as Cohen's kappa and as Fleiss' kappa. Kappa is the agreement beyond that which chance
would give: 1 for judges who always agree, 0 for judges who agree as often as chance would have it.
"""

import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from probing.arrays import Floats
from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.geography import LEFT_OUT, LeftOut, TypedSentence, read_left_out
from probing.judging.forms import QUESTIONS, Form

# The answers by which a sentence is refused. What gives its answer away is kept, as in the paper.
REFUSING = {"grammatical": False, "repetition": True, "factual": False}
# The fewest judged sentences of a template that is refused if more than half of them are.
SENTENCES_OF_A_TEMPLATE = 3
AGREEMENT = ["sample", "question", "judges", "sentences", "yes", "agreement", "kappa"]
# One list for each judge, with the category of every thing in the same order.
Judgements = Sequence[Sequence[Hashable]]


def agreement(forms: Sequence[Form]) -> pd.DataFrame:
    """Return a row for each sample and question with the judges' agreement on what all of them have answered.

    `yes` is the share of answers that are yes. A form without samples, such as a model's, belongs to every sample.
    The agreement of a single judge and the kappa of judges who always give the same answer are not numbers.
    """
    samples = {judgement.sample for form in forms for judgement in form.judgements}
    rows = [row for sample in sorted(samples - {""}) or [""] for row in _sample_agreement(forms, sample)]
    return pd.DataFrame(rows, columns=AGREEMENT)


def stored_agreement(path: Path) -> pd.DataFrame:
    """Return the agreement that a file `left_out.json` has, without rows where it has none; None where unknown."""
    rows = json.loads(path.read_text(encoding="utf-8")).get("agreement", [])
    about_questions = [row for row in rows if isinstance(row, dict) and row.get("question") in QUESTIONS]
    table = pd.DataFrame(about_questions, columns=AGREEMENT).astype(object)
    return table.where(table.notna(), None)


def _sample_agreement(forms: Sequence[Form], sample: str) -> Iterator[tuple[str, str, int, int, float, float, float]]:
    members = {j.sentence for form in forms for j in form.judgements if j.sample == sample}
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
    """Return the judge's answers to a question on the sentences of a sample."""
    return {
        judgement.sentence: judgement.answers[question]
        for judgement in form.judgements
        if judgement.sample in (sample, "") and judgement.sentence in members and question in judgement.answers
    }


def refusals(forms: Sequence[Form], typed: Sequence[TypedSentence]) -> LeftOut:
    """Return what judges refuse: a sentence if more than half of them refuse it by one of the questions.

    A template is refused with all its sentences if more than half of its judged sentences are, of three or more.
    """
    votes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for form in forms:
        for judgement in form.judgements:
            for question in REFUSING.keys() & judgement.answers.keys():
                votes[judgement.sentence, question].append(judgement.answers[question] != REFUSING[question])
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
    """Say what is left out, for readers of results."""
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
