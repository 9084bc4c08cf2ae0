"""Knowledge graphs that can be put into words (methods 3.1): names of entities, templates of relations, triples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

HEAD_SLOT = "{HEAD}"
TAIL_SLOT = "{TAIL}"
# Puts a triple into words: from the name of the head, the id of the relation and the name of the tail, one sentence for
# each of its phrasings.
Wording = Callable[[str, str, str], tuple[str, ...]]


class Triple(NamedTuple):
    """A relation between two entities, the head and the tail; all three are ids."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True)
class Graph:
    """A knowledge graph.

    `names` and `phrasings` are by id, and each relation has as many phrasings, which are sentences with a slot for the
    head and one for the tail. `categories` are those of each entity, if the graph has them. `notes`: remarks on how the
    graph was read, for readers of results (which splits, what was left out). `wording` takes the place of the
    phrasings, if it is there.
    """

    names: Mapping[str, str]
    phrasings: Mapping[str, tuple[str, ...]]
    triples: tuple[Triple, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    wording: Wording | None = None

    def sentences(self, triple: Triple) -> tuple[str, ...]:
        """Return the triple in words, once for each phrasing, without a final period."""
        head, tail = self.names[triple.head], self.names[triple.tail]
        if self.wording:
            return self.wording(head, triple.relation, tail)
        return tuple(_filled(template, head, tail) for template in self.phrasings[triple.relation])


def _filled(template: str, head: str, tail: str) -> str:
    """Put both names in at once, so that a name may contain the text of a slot."""
    return head.join(part.replace(TAIL_SLOT, tail) for part in template.partition(HEAD_SLOT)[::2])
