"""How much work the parts of a run are, how much of it is done, and how long the rest takes.

The work of a part is about the number of token positions that it takes. It is counted before the part is measured, so
it need not be exact: what matters is how parts compare. The time left is the work left divided by the pace of the run
so far, so that nothing has to be known of the machine.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probing.baselines import UniformModel
from probing.benchmark import Item
from probing.errors import BadInput
from probing.kinds import Kind
from probing.language_model import (
    FEWEST_OPTIONS,
    FEWEST_STATEMENTS,
    BlankDistribution,
    Continuation,
    KnownModel,
    ModelCard,
    OptionScores,
    Request,
    Scoring,
    Usage,
    Verb,
)
from probing.plan import Part, Plan
from probing.template import Prompt, Statement

# The items of a part that are looked at: so many, or as many as make so many statements. They stand for the rest.
ITEMS, STATEMENTS = 64, 500
# The bytes of UTF-8 that a token has where the tokenizer is not known. Bytes rather than letters, as most tokenizers
# need more tokens for the letters of a script that takes more bytes for each.
TOKEN_BYTES = 4
# A run that decides early scores about so large a power of the number of options to their ends, as models did on BEAR.
POSSIBLE = 0.75
TEXTS_CUT = 4096  # texts whose length is remembered: the options of a relation are those of every item
# The log-probabilities of every answer while work is counted: enough tokens for all that a probe computes from them.
TOKENS = np.zeros(8)
BLANK = "_"
# The stretches of time whose median is the pace. With more of them they are so short that parts which decide early and
# parts which decide late stand for the whole run; one stretch alone would be the mean, which a single stall changes.
STRETCHES = 5
MOST_REMEMBERED = 400  # steps of a run; beyond that, neighbours are joined

Length = Callable[[str], float]


@dataclass(frozen=True)
class WorkEstimate:
    """The expected work of a part: for each verb the number of statements, and the token positions that they take."""

    statements: Mapping[Verb, float]
    positions: Mapping[Verb, float]

    @property
    def work(self) -> float:
        return sum(self.positions.values())

    def share(self, statements: Mapping[Verb, float]) -> float:
        """Return the share of the work that is done when so many statements of each verb are."""
        expected = self.statements.items()
        done = sum(self.positions[verb] * min(statements.get(verb, 0.0) / number, 1) for verb, number in expected)
        return done / max(self.work, 1.0)


class Estimates:
    """The work of all parts of a run, estimated once for all models of one kind with the same tokenizer."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: dict[tuple[Kind, int], dict[Part, WorkEstimate]] = {}

    def of(self, model: KnownModel) -> Mapping[Part, WorkEstimate]:
        """Return the work of each part, in the order in which they are probed."""
        kind = model.card.kind
        tokenizer: Any = getattr(getattr(model, "tokenizer", None), "backend_tokenizer", None)
        key = kind, hash(tokenizer.to_str() if tokenizer else "")
        if key not in self._made:
            length = partial(_number_of_tokens, tokenizer) if tokenizer else usual_length
            self._made[key] = {part: estimate_work(self._plan, part, kind, length) for part in self._plan.parts}
        return self._made[key]


def _number_of_tokens(tokenizer: Any, text: str) -> float:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def usual_length(text: str) -> float:
    """Return about how many tokens a text has for a usual tokenizer."""
    return len(text.encode()) / TOKEN_BYTES


def estimate_work(plan: Plan, part: Part, kind: Kind, length: Length = usual_length) -> WorkEstimate:
    """Estimate the work of a part on a model of this kind, from a sample of the part's items.

    `length`: the number of a text's tokens. Raises `BadInput` where the probe cannot ask the part, as its prompts are
    made.
    """
    relation = plan.relation(part)
    items = relation.items

    def ask(some: Sequence[Item]) -> tuple[_Counter, int]:
        """Ask some of the items until there are enough statements, and return how many were asked.

        A probe that asks all items before it yields its first row asks all of them.
        """
        counter, count, most = _Counter(kind, length, len(items)), 0, 0.0
        for _ in plan.probe.rows(counter, relation.asking(some), part.template, plan.settings):
            count += 1
            most = most or counter.usage.statements + STATEMENTS
            if counter.usage.statements >= most:
                break
        return counter, count

    try:
        counter, count = ask(Random(0).sample(items, min(ITEMS, len(items))))
    except BadInput:  # few-shot prompting may show more items than a sample has
        counter, count = ask(items)
    times = len(items) / max(count, 1)
    return WorkEstimate(
        {verb: times * statements for verb, statements in counter.usage.by_verb.items()},
        {verb: times * positions for verb, positions in counter.positions.items()},
    )


class _Counter(UniformModel):
    """A model without a network, to which a text is the same whatever it starts with, and which adds up positions.

    `items`: how many the part has in all.
    """

    def __init__(self, kind: Kind, length: Length, items: int) -> None:
        self._items = items
        self._length = lru_cache(TEXTS_CUT)(length)
        self.card = ModelCard(id="", kind=kind, architecture="", parameters=0)
        self.usage = Usage()
        self.positions: defaultdict[Verb, float] = defaultdict(float)

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for prompt, options in requests:
            count = len(options)
            if count:
                self._add("score", count, self._scored([prompt.fill(option, BLANK) for option in options], scoring))
            yield OptionScores((TOKENS,) * count, (slice(0, 1),) * count, np.ones(count, bool))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for prompt, options in requests:
            self._add("fill", 1, self._length(prompt.fill(BLANK, BLANK).text))
            single = np.array([self._length(f" {option}") < 2 for option in options])
            yield BlankDistribution((), np.zeros(0), np.where(single, 0.0, np.nan), single.astype(np.int64))

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            read = text if isinstance(text, str) else text.fill(BLANK, BLANK).text
            self._add("generate", 1, self._length(system + read) + tokens)
            yield Continuation("")

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        for text in texts:
            self._add("embed", 1, self._length(text))
            yield np.ones(1, np.float32)

    def _add(self, verb: Verb, statements: int, positions: float) -> None:
        self.usage.add(verb, statements)
        self.positions[verb] += positions

    def _scored(self, statements: Sequence[Statement], scoring: Scoring) -> float:
        """Return the positions of one prompt with each of its options.

        A model that reads from left to right reads once what stands before the options. A masked model reads the whole
        statement for each token that it hides, or once for all options of a length if it hides them as a whole.
        """
        first, only_answer = statements[0], scoring.span == "answer"
        before = self._length(first.context + first.text[: first.start])
        after = self._length(first.text[first.end :])
        options = [1 + self._length(one.text[one.start : one.end]) for one in statements]
        if self.card.kind == "encoder-decoder":
            return before + after + sum(options)
        if self.card.kind == "causal":
            rest = sum(options) + (0 if only_answer else after * len(options))
            enough = len(options) >= FEWEST_OPTIONS and self._items * len(options) >= FEWEST_STATEMENTS
            decides = scoring.decide and enough
            return before + (rest * len(options) ** (POSSIBLE - 1) if decides else rest)
        if only_answer and scoring.pll == "whole_answer":
            return sum(before + option + after for option in {*map(round, options)})
        wholes = [before + option + after for option in options]
        return sum(whole * hidden for whole, hidden in zip(wholes, options if only_answer else wholes, strict=True))


class PartsProgress:
    """Adds up the progress of parts, of which `work` is expected.

    `advance` is called with the work that was done since the last call, `show` with the relations that are being asked,
    as text.
    """

    def __init__(
        self,
        work: Mapping[Part, WorkEstimate],
        advance: Callable[[float], None],
        show: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._work, self._advance, self._show = work, advance, show
        self._shares: dict[Part, float] = {}  # of the parts that are being probed
        self._too_long = 0

    def begin(self, part: Part) -> None:
        self._shares[part] = 0.0
        relations = ", ".join(dict.fromkeys(part.relation for part in self._shares))
        self._show(f"{relations}, {self._too_long} too long" if self._too_long else relations)

    def move(self, part: Part, share: float) -> None:
        """Note which share of a part is done."""
        before, self._shares[part] = self._shares[part], share
        self._advance(self._work[part].work * (share - before))

    def end(self, part: Part, too_long: int) -> None:
        """Note that a part is stored, without so many items that are too long for the model."""
        self.move(part, 1.0)
        del self._shares[part]
        self._too_long += too_long


def median_pace(steps: Sequence[tuple[float, float]]) -> float | None:
    """Return the work per second that a run has had so far; None before any work.

    `steps`: in their order, each an amount of work and the seconds that it took.
    """
    shortest = sum(seconds for _, seconds in steps) / STRETCHES
    paces, work, seconds = [], 0.0, 0.0
    for step_work, step_seconds in steps:
        work, seconds = work + step_work, seconds + step_seconds
        if work and seconds and seconds >= shortest:
            paces.append(work / seconds)
            work = seconds = 0.0
    return median(paces) if paces else None


class Pace:
    """The pace of the work of one process, told as it is done."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, float]] = []

    def add(self, work: float, seconds: float) -> None:
        self._steps.append((work, seconds))
        if len(self._steps) > MOST_REMEMBERED:
            rest = self._steps[-1:] if len(self._steps) % 2 else []
            pairs = zip(self._steps[::2], self._steps[1::2], strict=False)
            self._steps = [(one[0] + two[0], one[1] + two[1]) for one, two in pairs] + rest

    @property
    def rate(self) -> float | None:
        """The work per second, None before any work is done."""
        return median_pace(self._steps)
