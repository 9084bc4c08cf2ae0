"""Report on the quality of sentences about geography (methods 5.4): counts, and the sentences a person should read.

The flags are this project's own; as in the paper, a model may judge how acceptable a sentence with its answer is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Protocol

from probing.statements.geography.sentences import Sentence
from probing.statements.geography.wording import VERBS, words
from probing.template import ANSWER_SLOT, upper_first

DECIMALS = 4  # of probabilities and shares

# The key of the fact type, and one of its sentences.
Worded = tuple[str, Sentence]


class SentenceJudge(Protocol):
    """A model that gives the probability that a sentence is acceptable; `about` names the model."""

    @property
    def about(self) -> str: ...

    def acceptability(self, sentences: Sequence[str]) -> Iterable[float]: ...


def report(worded: Sequence[Worded], judge: SentenceJudge | None = None) -> dict[str, Any]:
    """Return counts by fact type and the flagged sentences; with a judge also the acceptability of each sentence."""
    probabilities = _probabilities(worded, judge) if judge else {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    flagged: dict[str, list[dict[str, str]]] = defaultdict(list)
    for key, sentence in worded:
        counts[key]["sentences"] += 1
        for flag in _flags(sentence, probabilities.get(sentence.id, 1.0)):
            counts[key][flag] += 1
            flagged[flag].append({"id": sentence.id, "text": sentence.text, "answer": sentence.answer})
    content: dict[str, Any] = {"counts": counts, "flagged": flagged}
    if judge:
        shares = _shares(worded, probabilities)
        content["acceptability"] = {"judge": judge.about, "acceptable": shares, "sentences": probabilities}
    return content


def _probabilities(worded: Sequence[Worded], judge: SentenceJudge) -> dict[str, float]:
    """Return the id of each sentence -> the probability that the sentence with its answer is acceptable."""
    texts = [upper_first(sentence.text.replace(ANSWER_SLOT, sentence.answer)) for _, sentence in worded]
    probabilities = judge.acceptability(texts)
    return {
        sentence.id: round(probability, DECIMALS)
        for (_, sentence), probability in zip(worded, probabilities, strict=True)
    }


def _shares(worded: Iterable[Worded], probabilities: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return fact type -> share of acceptable sentences, among all of them and by template."""
    verdicts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for key, sentence in worded:
        for group in ("all", sentence.template):
            verdicts[key][group].append(_is_acceptable(probabilities[sentence.id]))
    return {
        key: {group: round(fmean(group_verdicts), DECIMALS) for group, group_verdicts in groups.items()}
        for key, groups in verdicts.items()
    }


def _is_acceptable(probability: float) -> bool:
    return probability >= 0.5


def _flags(sentence: Sentence, probability: float) -> Iterator[str]:
    if sentence.leaky:
        yield "leaky"
    if sentence.repeated:
        yield "repeats_a_word"
    if sentence.long:
        yield "long"
    if _is_number_in_doubt(sentence):
        yield "number_in_doubt"
    if not _is_acceptable(probability):
        yield "unacceptable"


def _is_number_in_doubt(sentence: Sentence) -> bool:
    """Return whether a name that looks like a plural stands before a verb in the singular."""
    last_word = (words(sentence.subject) or [""])[-1]
    looks_plural = last_word.endswith("s") and not last_word.endswith(("ss", "us", "is"))
    return looks_plural and any(f"{sentence.subject} {verb} " in sentence.text for verb in VERBS)
