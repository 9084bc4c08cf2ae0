"""Estimates of the work that a part takes, by which progress and the time left are computed.

A sample of the part's items is put to a model that only counts. The unit is about one token position; what matters
is how parts compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from probing.benchmark import Benchmark, Item
from probing.errors import BadInput
from probing.estimate.counting_model import CountingModel, VerbLoad
from probing.kinds import Kind
from probing.language_model import Verb
from probing.probes import probe_of
from probing.probes.parts import Part, asked_relation, parts
from probing.settings import Settings

# The size of half a sample: so many items, or as many as make so many statements.
ITEMS = 64
STATEMENTS = 250
# The format of a progress bar, without the unit, which means nothing to users.
BAR = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"


@dataclass(frozen=True)
class WorkEstimate:
    """The work of each verb."""

    loads: Mapping[Verb, VerbLoad]

    @property
    def positions(self) -> float:
        return sum(load.positions for load in self.loads.values())

    def share(self, done: Mapping[Verb, float]) -> float:
        """Return the share of the work that is done when so many statements of each verb are."""
        loads = {verb: load for verb, load in self.loads.items() if load.statements}
        positions = (min(done.get(verb, 0.0) / load.statements, 1) * load.positions for verb, load in loads.items())
        return sum(positions) / max(self.positions, 1)


class Estimates:
    """The work of all parts of a run, estimated once for each kind of model, as it does not depend on the weights."""

    def __init__(self, benchmark: Benchmark, settings: Settings) -> None:
        self._benchmark, self._settings = benchmark, settings
        self._by_kind: dict[Kind, dict[Part, WorkEstimate]] = {}

    def of(self, kind: Kind) -> Mapping[Part, WorkEstimate]:
        """Return the work of each part, in the order in which they are probed."""
        if kind not in self._by_kind:
            covered = parts(self._benchmark, self._settings)
            self._by_kind[kind] = {part: estimate_work(self._benchmark, self._settings, part, kind) for part in covered}
        return self._by_kind[kind]


def estimate_work(benchmark: Benchmark, settings: Settings, part: Part, kind: Kind) -> WorkEstimate:
    """Estimate the work of a part on a model of this kind.

    Counts a sample of the items in two halves; each item beyond the sample takes what one of the second half added.
    Raises `BadInput` where the probe cannot ask the part, as its prompts are made.
    """
    relation = asked_relation(benchmark, settings, part.relation)
    probe, items = probe_of(settings), relation.items

    def ask(counter: CountingModel, some: Sequence[Item]) -> int:
        """Ask some of the items until there are enough statements, and return how many were asked.

        A probe that asks all items before it yields its first row asks all of them.
        """
        count, most = 0, 0.0
        for _ in probe.rows(counter, relation.asking(some), part.template, settings):
            count += 1
            most = most or counter.usage.statements + STATEMENTS
            if counter.usage.statements >= most:
                break
        return count

    counter, sample = CountingModel(kind), Random(0).sample(items, min(2 * ITEMS, len(items)))
    try:
        first, half = ask(counter, sample[::2]), dict(counter.loads)
        second = ask(counter, sample[1::2])
    except BadInput:  # few-shot prompting may show more items than a sample has
        counter = CountingModel(kind)
        ask(counter, items)
        return WorkEstimate(counter.loads)
    more = (len(items) - first - second) / max(second, 1)
    return WorkEstimate({verb: _grown(half.get(verb, VerbLoad()), load, more) for verb, load in counter.loads.items()})


def _grown(half: VerbLoad, whole: VerbLoad, times: float) -> VerbLoad:
    """Extrapolate a sample: add `times` times what its second half added to the first."""
    return VerbLoad(*(end + times * (end - start) for start, end in zip(half, whole, strict=True)))
