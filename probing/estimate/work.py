"""How much work a part will be, told before it is done, so that the time left is known: by asking a meter a sample.

The unit is about one token position; what matters is how parts compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from probing.benchmark import Benchmark, Item
from probing.errors import BadInput
from probing.estimate.counting_model import CountingModel, VerbLoad
from probing.language_model import Kind, Verb
from probing.probes import probe_of
from probing.settings import Part, Settings

# Half a sample is so many items, or fewer where these make so many statements.
ITEMS = 64
STATEMENTS = 250
# How a bar shows it: the unit would tell nobody anything.
BAR = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"


@dataclass(frozen=True)
class WorkEstimate:
    """What is asked of each verb."""

    loads: Mapping[Verb, VerbLoad]

    @property
    def positions(self) -> float:
        return sum(load.positions for load in self.loads.values())

    def share(self, done: Mapping[Verb, float]) -> float:
        """How much of it is done when so many statements of each verb are."""
        known = {verb: load for verb, load in self.loads.items() if load.statements}
        parts = (min(done.get(verb, 0.0) / load.statements, 1) * load.positions for verb, load in known.items())
        return sum(parts) / max(self.positions, 1)


def estimate_work(benchmark: Benchmark, settings: Settings, part: Part, kind: Kind) -> WorkEstimate:
    """What a part will take on a model of this kind: a sample, and for each further item what the half of it added.

    Raises what asking raises: the part's prompts are made.
    """
    relation = benchmark.select([part.relation], settings.limit)[part.relation]
    probe, items = probe_of(settings), relation.items

    def ask(meter: CountingModel, some: Sequence[Item]) -> int:
        """How many of the items were asked; all of them by a probe that asks before it gives its first row."""
        count, most = 0, 0.0
        for _ in probe.rows(meter, replace(relation, items=tuple(some)), part.template, settings):
            count += 1
            most = most or meter.usage.statements + STATEMENTS
            if meter.usage.statements >= most:
                break
        return count

    meter, sample = CountingModel(kind), Random(0).sample(items, min(2 * ITEMS, len(items)))
    try:
        asked, half = ask(meter, sample[::2]), dict(meter.loads)
        added = ask(meter, sample[1::2])
    except BadInput:  # few-shot prompting may show more items than a sample has
        meter = CountingModel(kind)
        ask(meter, items)
        return WorkEstimate(meter.loads)
    more = (len(items) - asked - added) / max(added, 1)
    return WorkEstimate({verb: _growing(half.get(verb, VerbLoad()), load, more) for verb, load in meter.loads.items()})


def _growing(half: VerbLoad, whole: VerbLoad, times: float) -> VerbLoad:
    """The whole and so many times what its second half added."""
    return VerbLoad(*(end + times * (end - start) for start, end in zip(half, whole, strict=True)))
