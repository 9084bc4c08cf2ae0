"""True and false statements from a knowledge graph (methods 3.2): seeded, and the same for every model."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from probing.errors import BadBenchmark, BadInput
from probing.statements.graph import Graph, Triple

ATTEMPTS = 1000  # draws for one false triple before the graph is taken to have none
HEAD, RELATION, TAIL = range(3)
PARTS = (HEAD, RELATION, TAIL)


@dataclass(frozen=True)
class Sampling:
    """How often which sentences are drawn.

    `samples` true and as many false ones for each of the `repetitions`; the paper has 1,000 and 25, the defaults make
    a run ten times shorter.
    `resampled`: how many of a triple's three parts are drawn anew to make it false. With 3 all of them are drawn
    uniformly; with fewer the rest is that of a true triple, so that 1 is hardest.
    `within_category`: only put in what is of the same category as the part that it replaces.
    """

    samples: int = 500
    repetitions: int = 5
    resampled: int = 3
    within_category: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("samples", 2), ("repetitions", 1), ("resampled", 1)):
            if getattr(self, name) < least:
                raise BadInput(f"{name} cannot be {getattr(self, name)}.", f"Give {least} or more.")
        if self.resampled > len(PARTS):
            raise BadInput(f"A triple has three parts, not {self.resampled}.", "Give resampled 1, 2 or 3.")


@dataclass(frozen=True)
class Sentence:
    """A statement from the graph; `repetitions` names those that drew it (from 1), as often as they did."""

    text: str
    triple: Triple
    true: bool
    repetitions: tuple[int, ...]


def draw(graph: Graph, sampling: Sampling) -> tuple[Sentence, ...]:
    """Every distinct sentence once, in the order in which they were drawn.

    Each repetition has its own generator: fewer repetitions are the beginning of more.
    """
    found: dict[tuple[str, str, bool], list[int]] = defaultdict(list)
    triples: dict[tuple[str, str, bool], Triple] = {}
    deck = Deck(graph, sampling)
    for repetition in range(1, sampling.repetitions + 1):
        for triple, true in deck.repetition(Random(f"{sampling.seed}:{repetition}")):
            key = (triple.relation, graph.sentence(triple), true)
            found[key].append(repetition)
            triples.setdefault(key, triple)
    return tuple(Sentence(key[1], triples[key], key[2], tuple(drawn)) for key, drawn in found.items())


@dataclass(frozen=True)
class Deck:
    """What can be drawn from a graph, in a fixed order."""

    graph: Graph
    sampling: Sampling

    def repetition(self, random: Random) -> Iterator[tuple[Triple, bool]]:
        """A true triple and a false one in turn. The true ones differ if there are enough."""
        triples, samples = self.graph.triples, self.sampling.samples
        enough = samples <= len(triples)
        for triple in random.sample(triples, samples) if enough else random.choices(triples, k=samples):
            yield triple, True
            yield self._false_triple(random), False

    def _false_triple(self, random: Random) -> Triple:
        """Parts of a true triple drawn anew until it says what no triple of the graph says."""
        for _ in range(ATTEMPTS):
            true = random.choice(self.graph.triples)
            anew = random.sample(PARTS, self.sampling.resampled)
            triple = Triple(*(self._anew(true, p, random) if p in anew else true[p] for p in PARTS))
            if self._differs(triple, true, anew) and self.graph.sentence(triple) not in self._true_sentences:
                return triple
        raise BadBenchmark(
            f"No false statement was found in {ATTEMPTS} draws.",
            "The graph is too small or too dense for this way of drawing: resample more parts, or add entities.",
        )

    def _differs(self, triple: Triple, true: Triple, anew: Sequence[int]) -> bool:
        """Whether what was drawn anew is new; with all three parts nothing of the true triple matters."""
        return len(anew) == len(PARTS) or all(triple[part] != true[part] for part in anew)

    def _anew(self, true: Triple, part: int, random: Random) -> str:
        """What stands in for a part of a true triple; it may be the same."""
        if not self.sampling.within_category:
            return random.choice(self._relations if part == RELATION else self._entities)
        if part == RELATION:
            return random.choice(self._relations_like[true.relation])
        return random.choice(self._members[random.choice(self._categories(true, part))])

    def _categories(self, triple: Triple, part: int) -> tuple[str, ...]:
        """The categories of a triple's head or tail: the graph's, else the position in which it stands."""
        return self.graph.categories.get(triple[part]) or (f"{part} {triple.relation}",)

    @cached_property
    def _true_sentences(self) -> frozenset[str]:
        """Several triples may say the same in words, so it is words that must not be true."""
        return frozenset(map(self.graph.sentence, self.graph.triples))

    @cached_property
    def _entities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entity for triple in self.graph.triples for entity in (triple.head, triple.tail)))

    @cached_property
    def _relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(triple.relation for triple in self.graph.triples))

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        """The entities of each category."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for triple in self.graph.triples:
            for part in (HEAD, TAIL):
                for category in self._categories(triple, part):
                    found[category][triple[part]] = None
        return {category: tuple(entities) for category, entities in found.items()}

    @cached_property
    def _relations_like(self) -> dict[str, tuple[str, ...]]:
        """For each relation those whose heads are of its heads' categories, and whose tails of its tails'."""
        kinds = {part: self._kinds(part) for part in (HEAD, TAIL)}
        return {
            one: tuple(o for o in self._relations if all(kinds[p][one] & kinds[p][o] for p in (HEAD, TAIL)))
            for one in self._relations
        }

    def _kinds(self, part: int) -> dict[str, set[str]]:
        """What stands at one end of each relation: categories, or the entities themselves where there are none."""
        found: dict[str, set[str]] = defaultdict(set)
        for triple in self.graph.triples:
            found[triple.relation].update(self.graph.categories.get(triple[part]) or (triple[part],))
        return found
