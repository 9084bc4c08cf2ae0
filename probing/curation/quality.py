"""How good sentences about geography are (methods 5.4): counts, and the sentences that a person should read.

The flags are ours; whether a sentence with its answer is acceptable may be said by a model, as in the paper.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Protocol

from probing.statements.geography.sentences import Sentence
from probing.statements.geography.wording import VERBS, words
from probing.template import ANSWER_SLOT, upper_first

DIGITS = 4  # of a probability

# The key of its fact type, and a sentence.
Worded = tuple[str, Sentence]


class Judge(Protocol):
    """A model of acceptability; `about` says which."""

    @property
    def about(self) -> str: ...

    def acceptability(self, sentences: Sequence[str]) -> Iterable[float]: ...


def report(worded: Sequence[Worded], judge: Judge | None = None) -> dict[str, Any]:
    """Counts by fact type, and the flagged sentences; with a judge also what it says of each sentence."""
    chances = _chances(worded, judge) if judge else {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    flagged: dict[str, list[dict[str, str]]] = defaultdict(list)
    for key, sentence in worded:
        counts[key]["sentences"] += 1
        for flag in _flags(sentence, chances.get(sentence.id, 1.0)):
            counts[key][flag] += 1
            flagged[flag].append({"id": sentence.id, "text": sentence.text, "answer": sentence.answer})
    found: dict[str, Any] = {"counts": counts, "flagged": flagged}
    if judge:
        shares = _shares(worded, chances)
        found["acceptability"] = {"judge": judge.about, "acceptable": shares, "sentences": chances}
    return found


def _chances(worded: Sequence[Worded], judge: Judge) -> dict[str, float]:
    """Id of a sentence -> the probability that it is acceptable with its answer."""
    texts = [upper_first(sentence.text.replace(ANSWER_SLOT, sentence.answer)) for _, sentence in worded]
    said = judge.acceptability(texts)
    return {sentence.id: round(chance, DIGITS) for (_, sentence), chance in zip(worded, said, strict=True)}


def _shares(worded: Iterable[Worded], chances: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Fact type -> the share of acceptable sentences, of all and by template."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for key, sentence in worded:
        for group in ("all", sentence.template):
            found[key][group].append(_acceptable(chances[sentence.id]))
    return {key: {group: round(fmean(each), DIGITS) for group, each in groups.items()} for key, groups in found.items()}


def _acceptable(chance: float) -> bool:
    return chance >= 0.5


def _flags(sentence: Sentence, chance: float) -> Iterator[str]:
    if sentence.leaky:
        yield "leaky"
    if sentence.repeated:
        yield "repeats_a_word"
    if sentence.long:
        yield "long"
    if _disagrees(sentence):
        yield "number_in_doubt"
    if not _acceptable(chance):
        yield "unacceptable"


def _disagrees(sentence: Sentence) -> bool:
    """A name that looks like a plural before a verb in the singular."""
    last = (words(sentence.subject) or [""])[-1]
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return plural and any(f"{sentence.subject} {verb} " in sentence.text for verb in VERBS)
