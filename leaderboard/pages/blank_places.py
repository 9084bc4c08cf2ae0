"""A run's figure by the place of the blank in the sentence: behind everything, between words, or before the subject.

A causal model reads from left to right. Where the blank comes before the subject it has not read what it is asked
about when it reaches the blank, so that this is another test than a sentence that ends with the blank.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, RunOutcomes, outcomes_of
from leaderboard.models import Run
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import in_words, read_relations
from leaderboard.ui import cells
from leaderboard.ui.sections import Section
from leaderboard.ui.tables import Column, Table
from probing.analysis.intervals import mean_of_shares, wilson
from probing.arrays import Floats
from probing.benchmark import Item, Relation
from probing.kinds import KINDS
from probing.probes.choices import slotted
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

LAST, INSIDE, FIRST = "last", "inside", "first"
TITLES: Mapping[str, str] = {LAST: "blank last", INSIDE: "blank inside", FIRST: "blank before the subject"}
ANOTHER_TEST = (
    "A causal model reads from left to right: where the blank comes before the subject, it has not read what it is "
    "asked about when it reaches the blank. That is another test than a sentence which ends with the blank."
)
ONLY_FIRST = "In all sentences the blank comes before the subject, which a causal model reads only after the blank."


class PlaceFigure(NamedTuple):
    """The share of right answers to the sentences with the blank in one place, with its 95 % interval.

    `n`: how many questions were asked in such a sentence. `example`: one of these sentences.
    """

    place: str
    value: float
    n: int
    low: float
    high: float
    example: str

    @property
    def title(self) -> str:
        return TITLES[self.place]


class _Answers(NamedTuple):
    """The shares of right answers to the questions of one relation in sentences with the blank in one place."""

    place: str
    shares: Floats
    example: str


def place_of_blank(template: str) -> str:
    """Return where the blank of a sentence with slots stands; nothing for a sentence without a blank."""
    if ANSWER_SLOT not in template:
        return ""
    before, _, after = template.partition(ANSWER_SLOT)
    if SUBJECT_SLOT in after or not any(map(str.isalnum, before)):
        return FIRST
    return INSIDE if any(map(str.isalnum, after)) else LAST


def by_place(run: Run, pair: PairInLanguage | None = None) -> list[PlaceFigure]:
    """Return the figures of the places that the run's sentences have, in the order of `TITLES`.

    `pair`: the items that they are about, where not all. It needs the files of the benchmark, and answers that are
    right or wrong. One query.
    """
    outcomes = outcomes_of(run)
    relations = [relation for relation in read_relations(run.benchmark) if pair is None or pair.has(relation)]
    by_name: dict[str, list[_Answers]] = {}
    for relation in relations:
        if relation.label in outcomes:
            for answers in _answers(relation, outcomes[relation.label]):
                by_name.setdefault(answers.place, []).append(answers)
    macro = run.benchmark.correctness.macro
    return [_figure(place, by_name[place], macro) for place in TITLES if place in by_name]


def _answers(relation: Relation, outcomes: RunOutcomes) -> Iterator[_Answers]:
    """Yield the shares of right answers by place: of each question over its sentences with the blank there."""
    indices = np.array([item.index for item in relation.items], dtype=np.int64)
    columns = np.searchsorted(outcomes.items, indices).clip(max=len(outcomes.items) - 1)
    is_stored = outcomes.items[columns] == indices
    asked = [item for item, stored in zip(relation.items, is_stored, strict=True) if stored]
    values = outcomes.values[:, columns[is_stored]]
    texts = _texts(relation, asked, len(values))
    places = np.array([[place_of_blank(text) for text in row] for row in texts])
    for place in TITLES:
        counted = np.broadcast_to(places == place, values.shape) & (values != NOT_COUNTED)
        numbers = counted.sum(axis=0)
        if numbers.any():
            shares = ((values == RIGHT) & counted).sum(axis=0)[numbers > 0] / numbers[numbers > 0]
            row, column = np.argwhere(counted)[0]
            yield _Answers(place, shares, in_words(texts[row][min(column, len(texts[row]) - 1)]))


def _texts(relation: Relation, items: Sequence[Item], templates: int) -> list[list[str]]:
    """Return the sentences of each template: one for all items, or one for each where items have their own."""
    numbers, has_template = range(templates), range(len(relation.templates))
    if any(item.wording for item in items):
        return [
            [slotted(relation, item, number) if item.wording or number in has_template else "" for item in items]
            for number in numbers
        ]
    return [[relation.templates[number] if number in has_template else ""] for number in numbers]


def _figure(place: str, answers: Sequence[_Answers], macro: bool) -> PlaceFigure:
    sizes = np.array([len(of_relation.shares) for of_relation in answers], dtype=float)
    n = int(sizes.sum())
    if macro:
        means = np.array([of_relation.shares.mean() for of_relation in answers])
        return PlaceFigure(place, float(means.mean()), n, *mean_of_shares(means, sizes), answers[0].example)
    value = float(np.concatenate([of_relation.shares for of_relation in answers]).mean())
    return PlaceFigure(place, value, n, *wilson(value, n), answers[0].example)


def place_section(run: Run, places: Sequence[PlaceFigure]) -> list[Section]:
    """Return the section with the figures by place; nothing where all sentences have the blank in the same place."""
    if len(places) < 2:
        return []
    table = Table(
        name="places",
        caption="Right answers by the place of the blank",
        columns=[
            Column("place", "Sentences with the", lambda row: cells.text(row.title), align="head"),
            Column("value", "Right", lambda row: cells.score(row.value, row.low, row.high), align="score"),
            Column("low", "", lambda row: cells.number(row.low), shown=False),
            Column("high", "", lambda row: cells.number(row.high), shown=False),
            Column("n", "Questions", lambda row: cells.number(row.n), align="number"),
            Column("example", "For example", lambda row: cells.text(row.example), align="wide"),
        ],
        rows=places,
        sortable=False,
    )
    return [Section("places", "By the place of the blank", table, note="" if _reads_right(run) else ANOTHER_TEST)]


def cautions(run: Run, places: Sequence[PlaceFigure]) -> list[str]:
    """Return what a reader of the figure must know of a causal model whose sentences all begin with the answer."""
    only_first = [figure.place for figure in places] == [FIRST]
    return [ONLY_FIRST] if only_first and not _reads_right(run) else []


def _reads_right(run: Run) -> bool:
    """Tell whether the model reads the text to the right of a blank; of an unknown kind it is taken to."""
    return all(facts.reads_right for kind, facts in KINDS.items() if kind == run.model.kind)
