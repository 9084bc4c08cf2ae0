"""The sentence generator: from a subject and its objects to masked sentences with their answers (methods 5).

Deterministic: a sentence follows from its fact alone, and its id from the sentence and its answer.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from probing.statements.geography.fact_types import FactType
from probing.statements.geography.wording import GENERIC, MUTED, SLOT, agreeing, muted, split, words
from probing.template import ANSWER_SLOT, upper_first

# Sentences of more words are marked as long.
LONG = 20
SINGLE = "single"
# Words that name the kind of a place; seeing them beside the blank gives nothing away.
KINDS = (
    GENERIC
    | {word for suffixes in MUTED.values() for suffix in suffixes for word in suffix.split()}
    | {"of", "and", "ocean", "strait", "channel"}
)
# Words without content, which may stand twice.
SMALL = {
    *("the", "of", "and", "a", "an", "in", "on", "by", "is", "as", "its", "it"),
    *("de", "la", "le", "les", "du", "el", "al", "do", "da"),
}


@dataclass(frozen=True)
class Sentence:
    """`text` has [Y] where `answer`, a word of `name`, was taken out; `template` is its number or "single".

    `leaky`: the rest of the sentence gives the answer away. `repeated`: a word of the template also stands in a name.
    `long`: more than 20 words. All three are flags; nothing is left out for them (methods 5.4).
    """

    id: str
    text: str
    answer: str
    name: str
    subject: str
    template: str
    leaky: bool
    repeated: bool
    long: bool

    @property
    def blank_last(self) -> bool:
        """Whether a text can simply be continued: what generative models need."""
        return self.text.endswith(f"{ANSWER_SLOT}.")


def sentences(fact_type: FactType, subject: str, objects: tuple[str, ...]) -> Iterator[Sentence]:
    """Every sentence about one subject, each once."""
    seen = set()
    for number, template in enumerate(fact_type.templates):
        for sentence in _realisations(fact_type, str(number), template, subject, objects):
            if sentence.id not in seen:
                seen.add(sentence.id)
                yield sentence


def _realisations(
    fact_type: FactType, number: str, template: str, subject: str, objects: tuple[str, ...]
) -> Iterator[Sentence]:
    """Two of several objects in turn, or each object by itself; then the subject, where it is asked for too."""
    if "{O2}" not in template:
        yield from _with_each_object(fact_type, number, template, subject, objects)
    elif len(objects) > 1:
        names = {"S": subject, "O1": objects[0], "O2": objects[1]}
        yield from (_sentence(fact_type, number, template, names, slot) for slot in ("O1", "O2"))
    elif fact_type.single:
        yield from _with_each_object(fact_type, SINGLE, fact_type.single, subject, objects)


def _with_each_object(
    fact_type: FactType, number: str, template: str, subject: str, objects: tuple[str, ...]
) -> Iterator[Sentence]:
    for name in objects:
        names = {"S": subject, "O": name}
        for slot in ("O", "S") if fact_type.masks_subject else ("O",):
            yield _sentence(fact_type, number, template, names, slot)


def _sentence(fact_type: FactType, number: str, template: str, names: Mapping[str, str], asked: str) -> Sentence:
    """The template with all names in it, but for one word of the name in the slot `asked`."""
    template = agreeing(muted(template, names), names["S"])
    before, answer, after = split(names[asked])
    shown = {**names, asked: before + ANSWER_SLOT + after}
    text = upper_first(SLOT.sub(lambda slot: shown[slot[1]], template))
    return Sentence(
        id=_id(fact_type.key, text, answer),
        text=text,
        answer=answer,
        name=names[asked],
        subject=names["S"],
        template=number,
        leaky=_leaky(text, answer, before + after),
        repeated=_repeated(template, names),
        long=len(words(text)) > LONG,
    )


def _id(key: str, text: str, answer: str) -> str:
    digest = hashlib.sha256(f"{text} {answer}".encode()).hexdigest()
    return f"{key}-{digest[:10]}"


def _leaky(text: str, answer: str, beside: str) -> bool:
    """The answer stands elsewhere in the sentence, or a telling word of its name stands beside the blank."""
    visible = words(text.replace(ANSWER_SLOT, " "))
    return answer.casefold() in visible or bool(set(words(beside)) - KINDS)


def _repeated(template: str, names: Mapping[str, str]) -> bool:
    own = set(words(SLOT.sub(" ", template))) - SMALL
    return any(own & set(words(name)) for name in names.values())
