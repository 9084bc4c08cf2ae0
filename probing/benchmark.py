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
    """One question: `subject` fills [X]; `answers` are the right options, as indices into the answer space."""

    index: int
    subject: str
    answers: tuple[int, ...]
    subject_id: str = ""
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True)
class Relation:
    """Items that share templates and an answer space. `index` of an item is its line in the relation's file."""

    id: str
    templates: tuple[str, ...]
    answer_space: tuple[str, ...]
    items: tuple[Item, ...]
    answer_ids: tuple[str, ...] = ()
    name: str = ""
    tags: Tags = field(default_factory=dict)

    def tags_of(self, item: Item) -> dict[str, TagValue]:
        """The item's tags over those of its relation."""
        return {**self.tags, **item.tags}


@dataclass(frozen=True)
class Benchmark:
    """Relations under a name, a version and a digest of the `files` that they were read from.

    Copies of these files in one folder are the same benchmark.
    """

    slug: str
    version: str
    digest: str
    relations: tuple[Relation, ...]
    title: str = ""
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)

    def __getitem__(self, relation_id: str) -> Relation:
        for relation in self.relations:
            if relation.id == relation_id:
                return relation
        known = ", ".join(relation.id for relation in self.relations)
        raise BadInput(f"Benchmark {self.slug} has no relation {relation_id!r}.", f"Choose from: {known}.")

    def select(self, relations: Sequence[str] = (), limit: int | None = None) -> "Benchmark":
        """The named relations (all, if none is named), each cut to its first `limit` items."""
        chosen = tuple(self[name] for name in dict.fromkeys(relations)) or self.relations
        if limit is not None and limit < 1:
            raise BadInput(f"A limit of {limit} leaves no items.", "Give a limit of 1 or more.")
        return replace(self, relations=tuple(replace(r, items=r.items[:limit]) for r in chosen))

    @property
    def size(self) -> int:
        """Number of items over all relations."""
        return sum(len(relation.items) for relation in self.relations)
