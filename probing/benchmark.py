"""What is asked: a benchmark has relations, a relation has templates, an answer space and items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from probing.errors import BadInput

# A tag's value; several values share an item equally (weight 1/d each, methods 1.3).
TagValue = str | tuple[str, ...]
Tags = Mapping[str, TagValue]


@dataclass(frozen=True)
class Item:
    """One question: `subject` fills [X]; `answers` are the right options, as indices into the item's options.

    These are the relation's answer space unless the item has `options` of its own.
    `wording`: the sentence, with [Y] at the blank, where no template of the relation makes it. `id`: a stable name.
    """

    index: int
    subject: str
    answers: tuple[int, ...]
    subject_id: str = ""
    tags: Tags = field(default_factory=dict)
    options: tuple[str, ...] = ()
    wording: str = ""
    id: str = ""


@dataclass(frozen=True)
class Relation:
    """Items that share templates and an answer space. `index` of an item is its line in the relation's file.

    `answer_tags`: what is known of each option, if anything. `questions`: how a chat model is asked (`[X]` is the
    subject), after the message `system`.
    `cascades`: for each template the same with a which-clause, whose first blank is scored (methods 2.4), if known.
    """

    id: str
    templates: tuple[str, ...]
    answer_space: tuple[str, ...]
    items: tuple[Item, ...]
    answer_ids: tuple[str, ...] = ()
    name: str = ""
    tags: Tags = field(default_factory=dict)
    cascades: tuple[str, ...] = ()
    answer_tags: tuple[Tags, ...] = ()
    questions: tuple[str, ...] = ()
    system: str = ""

    @property
    def label(self) -> str:
        """What rows and scores call it: its predicate, where several relations ask for one (methods 4).

        The items of relations with the same label have different indices.
        """
        return str(self.tags.get("predicate", self.id))

    def options_of(self, item: Item) -> tuple[str, ...]:
        return item.options or self.answer_space

    def template_of(self, item: Item, number: int) -> str:
        return item.wording or self.templates[number]

    def tags_of(self, item: Item) -> dict[str, TagValue]:
        """The item's tags over those of its relation."""
        return {**self.tags, **item.tags}


@dataclass(frozen=True)
class Benchmark:
    """Relations under a name, a version and a digest of the `files` that they were read from.

    Copies of these files in one folder are the same benchmark.
    `probe`: how it is asked unless told otherwise.
    `notes`: what the reader of a result should know of how they were read (what was left out, what was drawn).
    """

    slug: str
    version: str
    digest: str
    relations: tuple[Relation, ...]
    title: str = ""
    probe: str = "multiple_choice"
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, relation_id: str) -> Relation:
        for relation in self.relations:
            if relation.id == relation_id:
                return relation
        raise self._unknown(relation_id)

    def select(self, relations: Sequence[str] = (), limit: int | None = None, tags: Tags | None = None) -> "Benchmark":
        """The relations of these ids or labels (all, if none is named), each cut to its first `limit` items.

        `tags`: only relations with these values, or without such a tag; an empty value stands for any.
        """
        if limit is not None and limit < 1:
            raise BadInput(f"A limit of {limit} leaves no items.", "Give a limit of 1 or more.")
        kept = self._tagged(tags or {})
        chosen = [r for name in relations for r in self._named(name, kept)] if relations else kept
        once = {relation.id: replace(relation, items=relation.items[:limit]) for relation in chosen}
        return replace(self, relations=tuple(once.values()))

    def relation_of(self, label: str, index: int) -> Relation:
        """The relation that a row is about."""
        for relation in self._named(label, self.relations):
            if any(item.index == index for item in relation.items):
                return relation
        raise BadInput(f"Relation {label} has no item {index}.", "Choose one that is there.")

    def _named(self, name: str, among: Sequence[Relation]) -> Sequence[Relation]:
        found = [relation for relation in among if name in (relation.id, relation.label)]
        if not found:
            raise self._unknown(name, among)
        return found

    def _unknown(self, name: str, among: Sequence[Relation] = ()) -> BadInput:
        known = ", ".join(dict.fromkeys(relation.label for relation in among or self.relations))
        return BadInput(f"Benchmark {self.slug} has no relation {name!r}.", f"Choose from: {known}.")

    def _tagged(self, tags: Tags) -> tuple[Relation, ...]:
        kept, among = self.relations, ""
        for tag, wanted in tags.items():
            named = f"{tag.replace('_', ' ')} {wanted!r}"
            left = tuple(r for r in kept if not wanted or r.tags.get(tag, wanted) == wanted)
            if kept and not left:
                known = ", ".join(sorted({str(relation.tags[tag]) for relation in kept}))
                raise BadInput(f"Benchmark {self.slug} has no {named}{among}.", f"Choose from: {known}.")
            if len(left) < len(kept):
                kept, among = left, f"{among} with {named}"
        return kept

    @property
    def size(self) -> int:
        """Number of items over all relations."""
        return sum(len(relation.items) for relation in self.relations)
