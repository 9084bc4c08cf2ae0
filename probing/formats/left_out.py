"""Sentences and templates that a benchmark leaves out: `left_out.json` in its folder, which makes it a new version.

`sentences` lists ids of sentences, `templates` maps fact types to the numbers of templates, and `notes` says to readers
of results what was left out and why. Whatever else the file holds is for people.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from probing.formats.files import JsonObject, read_object
from probing.statements.geography.sentences import Sentence

LEFT_OUT = "left_out.json"

# The key of a fact type, and one of its sentences.
TypedSentence = tuple[str, Sentence]


@dataclass(frozen=True)
class LeftOut:
    """Ids of sentences, and by fact type numbers of templates, that are not asked; `notes` are for readers."""

    sentences: frozenset[str] = frozenset()
    templates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def covers(self, fact_type: str, sentence: Sentence) -> bool:
        return sentence.id in self.sentences or sentence.template in self.templates.get(fact_type, ())


def read_left_out(folder: Path) -> LeftOut:
    """Read the file of a benchmark's folder; without one nothing is left out."""
    if not (folder / LEFT_OUT).is_file():
        return LeftOut()
    content = read_object(folder / LEFT_OUT)
    templates = content.values.get("templates", {})
    if not isinstance(templates, dict):
        raise content.fault("'templates' is not a JSON object", "Map each fact type to a list of templates' numbers.")
    by_type = JsonObject(templates, content.place)
    return LeftOut(
        frozenset(content.texts("sentences")),
        {fact_type: frozenset(by_type.texts(fact_type)) for fact_type in templates},
        content.texts("notes"),
    )


def without(typed: Iterable[TypedSentence], left_out: LeftOut) -> Iterator[TypedSentence]:
    """Yield the sentences that are not left out."""
    return ((key, sentence) for key, sentence in typed if not left_out.covers(key, sentence))
