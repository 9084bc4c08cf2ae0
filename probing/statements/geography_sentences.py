"""The sentence generator of geography (methods 5): from a subject and its objects to masked sentences with answers.

It is deterministic: a sentence depends on its fact alone, and its id on the sentence and its answer. Names are put into
templates without repeated words, with agreeing verbs, and with one word left blank. `fact_types.toml` has the templates
of the 23 fact types under three heads (methods 5.1; the paper's Tables 6 and 7).
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probing.template import ANSWER_SLOT, upper_first


@dataclass(frozen=True)
class FactType:
    """A property of a kind of place, with the templates that word it; its fields are those of `fact_types.toml`."""

    key: str
    head: str
    name: str
    property: str
    kind: str
    templates: tuple[str, ...]
    question: str
    single: str = ""
    masks_subject: bool = False
    subject_question: str = ""


def _fact_type(key: str, entry: dict[str, Any]) -> FactType:
    return FactType(key, **(entry | {"templates": tuple(entry["templates"])}))


_ENTRIES = tomllib.loads(Path(__file__).with_name("fact_types.toml").read_text(encoding="utf-8"))
FACT_TYPES = {key: _fact_type(key, entry) for key, entry in _ENTRIES.items()}


# Sentences of more words are marked as long.
LONG = 20
SINGLE_OBJECT = "single"  # the number of the template for one object
# For each word of a template the endings of names behind which it is left out (methods 5.3; the paper's Table 5).
MUTED_WORDS = {
    "river": ("river",),
    "dam": ("dam", "station", "plant", "barrage", "reservoir"),
    "mountain range": ("mountains", "ghats", "range", "ranges", "highlands", "hills", "escarpment"),
    "forest": (
        *("forest", "forests", "park", "forest complex", "plateau", "woodlands", "woodland", "wilderness"),
        "recreation area",
    ),
    "desert": ("desert", "dunes", "sand sea", "scablands", "scabland"),
    "waterfall": ("falls", "fall", "waterfall", "waterfalls"),
    "canyon": ("valley", "canyon", "gorge", "valleys", "canyons", "gorges", "dells", "ravine", "ravines"),
    "amusement park": ("park", "resort", "resorts"),
    "stadium": ("stadium", "arena", "ground", "sports complex", "convention center"),
    "mine": ("mine", "mines", "quarry"),
}
# First words of names that say little: the word after them is masked (methods 5, "our choice").
GENERIC = {"mount", "mont", "monte", "lake", "gulf", "sea", "bay", "cape", "port", "saint", "san", "santa", "the"}
# Words that name the kind of a place; beside the blank they do not give the answer away.
KIND_WORDS = (
    GENERIC
    | {word for suffixes in MUTED_WORDS.values() for suffix in suffixes for word in suffix.split()}
    | {"of", "and", "ocean", "strait", "channel"}
)
# Function words, which may occur twice in a sentence.
FUNCTION_WORDS = {
    *("the", "of", "and", "a", "an", "in", "on", "by", "is", "as", "its", "it"),
    *("de", "la", "le", "les", "du", "el", "al", "do", "da"),
}
# Last words of names that need a plural verb; falls do not ("The Rhine Falls is located", the paper's Table 6).
PLURAL = {
    *("mountains", "ghats", "ranges", "highlands", "hills", "forests", "woodlands", "dunes", "scablands", "valleys"),
    *("canyons", "gorges", "dells", "ravines", "resorts", "mines", "sanctuaries", "reserves", "parks", "gardens"),
    *("islands", "wetlands", "plains", "caves", "waterfalls"),
}
VERBS = {
    "is": "are",
    "has": "have",
    "flows": "flow",
    "passes": "pass",
    "runs": "run",
    "serves": "serve",
    "operates": "operate",
    "supplies": "supply",
    "bounds": "bound",
}
SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Sentence:
    """A masked sentence: `text` has [Y] in place of `answer`, a word of `name`; `template` is its number or "single".

    `names`: all names in the sentence, the subject's first. `masks_subject`: whether its word is the subject's.
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
    names: tuple[str, ...]
    masks_subject: bool

    @property
    def blank_last(self) -> bool:
        """Tell whether the blank ends the sentence, so that generative models can continue the text before it."""
        return self.text.endswith(f"{ANSWER_SLOT}.")


def sentences(fact_type: FactType, subject: str, objects: tuple[str, ...]) -> Iterator[Sentence]:
    """Yield every distinct sentence about one subject."""
    ids = set()
    for number, template in enumerate(fact_type.templates):
        for sentence in _realisations(fact_type, str(number), template, subject, objects):
            if sentence.id not in ids:
                ids.add(sentence.id)
                yield sentence


def _realisations(
    fact_type: FactType, number: str, template: str, subject: str, objects: tuple[str, ...]
) -> Iterator[Sentence]:
    """Yield the sentences of a template: with each of the first two objects masked, or one for each single object.

    Sentences in which the subject is masked follow where the fact type has them.
    """
    if "{O2}" not in template:
        yield from _with_each_object(fact_type, number, template, subject, objects)
    elif len(objects) > 1:
        names = {"S": subject, "O1": objects[0], "O2": objects[1]}
        yield from (_masked_sentence(fact_type, number, template, names, slot) for slot in ("O1", "O2"))
    elif fact_type.single:
        yield from _with_each_object(fact_type, SINGLE_OBJECT, fact_type.single, subject, objects)


def _with_each_object(
    fact_type: FactType, number: str, template: str, subject: str, objects: tuple[str, ...]
) -> Iterator[Sentence]:
    for name in objects:
        names = {"S": subject, "O": name}
        for slot in ("O", "S") if fact_type.masks_subject else ("O",):
            yield _masked_sentence(fact_type, number, template, names, slot)


def _masked_sentence(
    fact_type: FactType, number: str, template: str, names: Mapping[str, str], masked: str
) -> Sentence:
    """Return the template with all names filled in, and one word of the name in the slot `masked` left blank."""
    template = agreeing(muted(template, names), names["S"])
    before, answer, after = split(names[masked])
    texts = {**names, masked: before + ANSWER_SLOT + after}
    text = upper_first(SLOT.sub(lambda slot: texts[slot[1]], template))
    digest = hashlib.sha256(f"{text} {answer}".encode()).hexdigest()
    return Sentence(
        id=f"{fact_type.key}-{digest[:10]}",
        text=text,
        answer=answer,
        name=names[masked],
        subject=names["S"],
        template=number,
        leaky=_leaky(text, answer, before + after),
        repeated=_repeated(template, names),
        long=len(words(text)) > LONG,
        names=tuple(names.values()),
        masks_subject=masked == "S",
    )


def _leaky(text: str, answer: str, beside: str) -> bool:
    """Return whether the answer occurs elsewhere, or a word of its name beside the blank gives it away."""
    visible = words(text.replace(ANSWER_SLOT, " "))
    return answer.casefold() in visible or bool(set(words(beside)) - KIND_WORDS)


def _repeated(template: str, names: Mapping[str, str]) -> bool:
    own = set(words(SLOT.sub(" ", template))) - FUNCTION_WORDS
    return any(own & set(words(name)) for name in names.values())


def words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation."""
    return re.findall(r"\w+", text.casefold())


def muted(template: str, names: Mapping[str, str]) -> str:
    """Return the template without the words that its names already end in (methods 5.3); `names` are by slot."""
    for slot, name in names.items():
        for word, suffixes in MUTED_WORDS.items():
            if re.search(rf"\b(?:{'|'.join(suffixes)})$", name, re.IGNORECASE):
                template = re.sub(rf"(\{{{slot}\}}) {word}s?\b", r"\1", template)
    return template


def wh_question(fact_type: FactType, names: tuple[str, ...], *, about_subject: bool) -> tuple[str, tuple[str, ...]]:
    """Return the Wh-question about a fact, and the names that answer it; `names` are the subject's and the objects'."""
    if about_subject:
        return fact_type.subject_question.replace("{O}", names[1]), names[:1]
    return muted(fact_type.question, {"S": names[0]}).replace("{S}", names[0]), names[1:]


def agreeing(template: str, subject: str) -> str:
    """Return the template with the verb after "The {S}" in the number of the subject (methods 5.4)."""
    one, many = "|".join(VERBS), "|".join(VERBS.values())
    if words(subject)[-1:] and words(subject)[-1] in PLURAL:
        return re.sub(rf"(?<=^The \{{S\}} )(?:{one})\b", lambda match: VERBS[match[0]], template)
    singular = {plural: verb for verb, plural in VERBS.items()}
    return re.sub(rf"(?<=^The \{{S\}} )(?:{many})\b", lambda match: singular[match[0]], template)


def split(name: str) -> tuple[str, str, str]:
    """Split a name into the text before its masked word, that word, and the text after it (methods 5.2).

    The masked word is the one after "of", else the first; if that is generic and another follows, it is the next one.
    """
    matches = list(re.finditer(r"[^\s,]+", name))
    inner = [number for number, word in enumerate(matches[1:-1], 1) if word[0] == "of"]
    index = inner[0] + 1 if inner else 0
    if matches[index][0].casefold() in GENERIC and index + 1 < len(matches):
        index += 1
    word = matches[index]
    return name[: word.start()], word[0], name[word.end() :]
