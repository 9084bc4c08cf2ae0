"""Knowledge graphs that can be put into words (methods 3.1): names of entities, templates of relations, triples."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

HEAD_SLOT = "{HEAD}"
TAIL_SLOT = "{TAIL}"


class Triple(NamedTuple):
    """A relation between two entities, the head and the tail; all three are ids."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True)
class Graph:
    """A knowledge graph.

    `names` and `templates` are by id; `categories` are those of each entity, if the graph has them.
    `notes`: remarks on how the graph was read, for readers of results (which splits, what was left out).
    """

    names: Mapping[str, str]
    templates: Mapping[str, str]
    triples: tuple[Triple, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sentence(self, triple: Triple) -> str:
        """Return the triple in words, without a final period."""
        # Both names are put in at once, so that a name may contain the text of a slot.
        names = {HEAD_SLOT: self.names[triple.head], TAIL_SLOT: self.names[triple.tail]}
        head_first = self.templates[triple.relation].partition(HEAD_SLOT)
        return names[HEAD_SLOT].join(part.replace(TAIL_SLOT, names[TAIL_SLOT]) for part in head_first[::2])
