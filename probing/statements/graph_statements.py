"""True and false statements of knowledge graphs in words (methods 3.1, 3.2), drawn with the same seed for each model.

A graph can be put into words if it has names of entities, templates of relations, and triples.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import NamedTuple

from probing.benchmark import TRUTH_VALUES
from probing.errors import BadBenchmark, BadInput

HEAD_SLOT = "{HEAD}"
TAIL_SLOT = "{TAIL}"
# Puts a triple into words: from the name of the head, the id of the relation and the name of the tail, one sentence for
# each of its phrasings.
Wording = Callable[[str, str, str], tuple[str, ...]]
MOST_DRAWS = 1000  # for one false triple; then the graph is taken to have none
HEAD, RELATION, TAIL = range(3)
PARTS = (HEAD, RELATION, TAIL)


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


class Level(NamedTuple):
    """How difficult a false statement is: fewer parts of a true triple drawn again, within their categories or not."""

    resampled: int
    within_category: bool

    def __str__(self) -> str:
        return f"{self.resampled} of 3 parts{' within their categories' if self.within_category else ''}"


LADDER = tuple(Level(resampled, within) for within in (False, True) for resampled in (3, 2, 1))  # from the easiest


@dataclass(frozen=True)
class Sampling:
    """Settings that determine how many statements are drawn, and how.

    `samples` true ones and as many false ones are drawn in each of the `repetitions`; the paper has 1,000 and 25, and
    with the defaults a run is ten times shorter.
    `resampled`: how many of a triple's three parts are drawn again to make it false. With 3 all of them are drawn
    uniformly; with fewer the rest is that of a true triple, so that 1 is hardest.
    `within_category`: replace a part only by one of the same category.
    `ladder`: draw as many false statements at each level of difficulty (`LADDER`) in place of those two choices.
    """

    samples: int = 500
    repetitions: int = 5
    resampled: int = 3
    within_category: bool = False
    seed: int = 0
    ladder: bool = False

    def __str__(self) -> str:
        parts, each = str(self.levels[0]), ""
        if self.ladder:
            parts, each = "3, 2 or 1 of 3 parts, anywhere or within their categories,", " of each level"
        return (
            f"{self.repetitions} repetitions, each of {self.samples:,} true and as many false statements{each}. "
            f"A false one is a fact of which {parts} were drawn again at random, with seed {self.seed}."
        )

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels at which false statements are drawn."""
        return LADDER if self.ladder else (Level(self.resampled, self.within_category),)

    def __post_init__(self) -> None:
        for name, least in (("samples", 2), ("repetitions", 1), ("resampled", 1)):
            if getattr(self, name) < least:
                raise BadInput(f"{name} cannot be {getattr(self, name)}.", f"Give {least} or more.")
        if self.resampled > len(PARTS):
            raise BadInput(f"A triple has three parts, not {self.resampled}.", "Give resampled 1, 2 or 3.")


@dataclass(frozen=True)
class GraphStatement:
    """A statement in words, with a text for each phrasing of its relation.

    `repetitions` has the numbers of those that drew it (from 1), as often as they did. `level`: in a ladder, that of a
    false statement, and "true" for a true one; else empty.
    """

    texts: tuple[str, ...]
    triple: Triple
    true: bool
    repetitions: tuple[int, ...]
    level: str = ""


def draw(graph: Graph, sampling: Sampling) -> tuple[GraphStatement, ...]:
    """Draw statements; return every distinct one once, in the order of the draws.

    Each repetition has its own random generator, so that a run with fewer repetitions draws the first ones of a longer
    run.
    """
    numbers: dict[tuple[str, tuple[str, ...], bool, str], list[int]] = defaultdict(list)
    triples: dict[tuple[str, tuple[str, ...], bool, str], Triple] = {}
    sampler = Sampler(graph, sampling)
    for repetition in range(1, sampling.repetitions + 1):
        for triple, level in sampler.repetition(Random(f"{sampling.seed}:{repetition}")):
            name = str(level or TRUTH_VALUES[True]) if sampling.ladder else ""
            key = (triple.relation, graph.sentences(triple), level is None, name)
            numbers[key].append(repetition)
            triples.setdefault(key, triple)
    return tuple(GraphStatement(key[1], triples[key], key[2], tuple(own), key[3]) for key, own in numbers.items())


@dataclass(frozen=True)
class Sampler:
    """A source of true and false triples from a graph."""

    graph: Graph
    sampling: Sampling

    def repetition(self, random: Random) -> Iterator[tuple[Triple, Level | None]]:
        """Yield a true triple, without a level, and a false one of each level in turn.

        The true ones are all different if there are enough.
        """
        triples, samples = self.graph.triples, self.sampling.samples
        enough = samples <= len(triples)
        for triple in random.sample(triples, samples) if enough else random.choices(triples, k=samples):
            yield triple, None
            for level in self.sampling.levels:
                yield self._false_triple(random, level), level

    def _false_triple(self, random: Random, level: Level) -> Triple:
        """Draw parts of a true triple again until no triple of the graph has the same words."""
        for _ in range(MOST_DRAWS):
            true = random.choice(self.graph.triples)
            parts = random.sample(PARTS, level.resampled)
            triple = Triple(
                *(self._replacement(true, p, random, level.within_category) if p in parts else true[p] for p in PARTS)
            )
            if self._differs(triple, true, parts) and self._true_sentences.isdisjoint(self.graph.sentences(triple)):
                return triple
        raise BadBenchmark(
            f"No false statement was found in {MOST_DRAWS} draws.",
            "The graph is too small or too dense for this way of drawing: resample more parts, or add entities.",
        )

    def _differs(self, triple: Triple, true: Triple, parts: Sequence[int]) -> bool:
        """Return whether all replaced parts differ from the true triple's; with three parts any triple passes."""
        return len(parts) == len(PARTS) or all(triple[part] != true[part] for part in parts)

    def _replacement(self, true: Triple, part: int, random: Random, within_category: bool) -> str:
        """Draw a replacement for a part of a true triple; it may be equal to it."""
        if not within_category:
            return random.choice(self._relations if part == RELATION else self._entities)
        if part == RELATION:
            return random.choice(self._relations_like[true.relation])
        return random.choice(self._members[random.choice(self._categories(true, part))])

    def _categories(self, triple: Triple, part: int) -> tuple[str, ...]:
        """Return the categories of a triple's head or tail: the graph's, else its position in the relation."""
        return self.graph.categories.get(triple[part]) or (f"{part} {triple.relation}",)

    @cached_property
    def _true_sentences(self) -> frozenset[str]:
        """All true statements in words. A false one must differ from them, as different triples may read the same."""
        return frozenset(text for triple in self.graph.triples for text in self.graph.sentences(triple))

    @cached_property
    def _entities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entity for triple in self.graph.triples for entity in (triple.head, triple.tail)))

    @cached_property
    def _relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(triple.relation for triple in self.graph.triples))

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        members: dict[str, dict[str, None]] = defaultdict(dict)
        for triple in self.graph.triples:
            for part in (HEAD, TAIL):
                for category in self._categories(triple, part):
                    members[category][triple[part]] = None
        return {category: tuple(entities) for category, entities in members.items()}

    @cached_property
    def _relations_like(self) -> dict[str, tuple[str, ...]]:
        heads, tails = self._categories_by_relation(HEAD), self._categories_by_relation(TAIL)
        return {
            relation: tuple(
                other for other in self._relations if heads[relation] & heads[other] and tails[relation] & tails[other]
            )
            for relation in self._relations
        }

    def _categories_by_relation(self, part: int) -> dict[str, set[str]]:
        """Return the categories of each relation's heads or tails; an entity without any counts as its own."""
        categories: dict[str, set[str]] = defaultdict(set)
        for triple in self.graph.triples:
            categories[triple.relation].update(self.graph.categories.get(triple[part]) or (triple[part],))
        return categories
