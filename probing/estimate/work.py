"""Estimates of the work that a part takes, by which progress and the time left are computed.

A sample of the part's items is put to a model that only counts, with the tokens of the real model where its tokenizer
is at hand: a script that the tokenizer hardly knows takes several times as many. What matters is how parts compare.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from probing.benchmark import Item
from probing.errors import BadInput
from probing.estimate.counting_model import CountingModel, Tokenize, Tokens
from probing.estimate.load import NOTHING, Load, total
from probing.kinds import Kind
from probing.language_model import LoadedModel, Verb
from probing.plan import Part, Plan

# The size of half a sample: so many items, or as many as make so many statements.
ITEMS = 64
STATEMENTS = 250
# The format of a progress bar, without the unit, which means nothing to users.
BAR = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"


@dataclass(frozen=True)
class WorkEstimate:
    """The load of each verb."""

    loads: Mapping[Verb, Load]

    @property
    def positions(self) -> float:
        return self.load.positions

    @property
    def load(self) -> Load:
        """The load of all verbs together."""
        return total(self.loads.values())

    @property
    def work(self) -> float:
        """What it costs with a usual network, in positions."""
        return self.load.work

    def done(self, statements: Mapping[Verb, float]) -> Load:
        """Return the part of the load that is done when so many statements of each verb are."""
        loads = {verb: load for verb, load in self.loads.items() if load.statements}
        return total(load.times(min(statements.get(verb, 0.0) / load.statements, 1)) for verb, load in loads.items())


class Estimates:
    """The work of all parts of a run, estimated once for all models of one kind with the same tokenizer."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: dict[tuple[Kind, str], dict[Part, WorkEstimate]] = {}

    def of(self, model: LoadedModel) -> Mapping[Part, WorkEstimate]:
        """Return the work of each part, in the order in which they are probed."""
        tokenizer = getattr(getattr(model, "tokenizer", None), "backend_tokenizer", None)
        key = model.card.kind, _digest(tokenizer) if tokenizer else ""
        if key not in self._made:
            tokenize = partial(_tokens, tokenizer) if tokenizer else None
            self._made[key] = {
                part: estimate_work(self._plan, part, model.card.kind, tokenize) for part in self._plan.parts
            }
        return self._made[key]


def _digest(tokenizer: Any) -> str:
    return hashlib.sha256(tokenizer.to_str().encode()).hexdigest()


def _tokens(tokenizer: Any, text: str) -> Tokens:
    """Return the tokens of a text without those that a tokenizer adds to every text."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return Tokens(encoding.ids, encoding.offsets)


def estimate_work(plan: Plan, part: Part, kind: Kind, tokenize: Tokenize | None = None) -> WorkEstimate:
    """Estimate the work of a part on a model of this kind; `tokenize` is as in `CountingModel`.

    Counts a sample of the items in two halves; each item beyond the sample takes what one of the second half added.
    Raises `BadInput` where the probe cannot ask the part, as its prompts are made.
    """
    relation = plan.relation(part)
    items = relation.items

    def ask(counter: CountingModel, some: Sequence[Item]) -> int:
        """Ask some of the items until there are enough statements, and return how many were asked.

        A probe that asks all items before it yields its first row asks all of them.
        """
        count, most = 0, 0.0
        for _ in plan.probe.rows(counter, relation.asking(some), part.template, plan.settings):
            count += 1
            most = most or counter.usage.statements + STATEMENTS
            if counter.usage.statements >= most:
                break
        return count

    counter, sample = CountingModel(kind, tokenize), Random(0).sample(items, min(2 * ITEMS, len(items)))
    try:
        first, half = ask(counter, sample[::2]), dict(counter.loads)
        second = ask(counter, sample[1::2])
    except BadInput:  # few-shot prompting may show more items than a sample has
        counter = CountingModel(kind, tokenize)
        ask(counter, items)
        return WorkEstimate(counter.loads)
    more = (len(items) - first - second) / max(second, 1)
    return WorkEstimate({verb: _grown(half.get(verb, NOTHING), load, more) for verb, load in counter.loads.items()})


def _grown(half: Load, whole: Load, times: float) -> Load:
    """Extrapolate a sample: add `times` times what its second half added to the first."""
    statements, positions = (end + times * (end - start) for start, end in zip(half[:2], whole[:2], strict=True))
    return Load(statements, positions, whole.passes)
