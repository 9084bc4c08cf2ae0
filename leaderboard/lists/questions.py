"""The questions of a benchmark, which all models share: their addresses, their neighbours and their difficulty."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from leaderboard.stored.outcomes import Counts, counts_of
from probing.benchmark import Benchmark as Content
from probing.benchmark import Item, Relation
from probing.errors import BadInput

ID = re.compile(r"(?P<relation>.+)-(?P<index>[0-9]{1,18})", re.DOTALL)
PLACE_TAGS = ("culture_pair", "language")  # by which relations of one name differ
HARDEST, EASIEST, IN_ORDER = "hardest", "easiest", "file"
ORDERS = {HARDEST: "Hardest first", EASIEST: "Easiest first", IN_ORDER: "In the benchmark's order"}


def values_of_tag(relations: Sequence[Relation], tag: str) -> list[str]:
    """Return the values that relations have of a tag, in their order; an empty text stands for those without it."""
    return list(dict.fromkeys(str(relation.tags.get(tag, "")) for relation in relations))


class NoQuestions(BadInput):
    """The benchmark's files are not on this site, so its questions are unknown."""


@dataclass(frozen=True)
class BenchmarkQuestion:
    """An item of a benchmark. `place` counts from 1 within the relation; `before` and `after` are its neighbours."""

    relation: Relation
    item: Item
    place: int
    before: Item | None
    after: Item | None

    @property
    def answers(self) -> list[str]:
        """The right answers."""
        options = self.relation.options_of(self.item)
        return [options[answer] for answer in self.item.answers]


def question_id(relation: Relation, item: Item) -> str:
    """Return the name of a question in addresses, which all languages and versions of the benchmark's files keep."""
    return f"{relation.label}-{item.index}"


def question_url(benchmark: Benchmark, relation: Relation, item: Item) -> str:
    """Return the address of a question's page."""
    return reverse("question", args=[benchmark.name, question_id(relation, item)])


def question_named(benchmark: Benchmark, name: str) -> BenchmarkQuestion:
    """Return the question with this id; raise `BadInput` if there is none."""
    match = ID.fullmatch(name)
    if not match:
        raise BadInput(
            f"{name!r:.80} is no question of {benchmark.title}.", "A question is named by its relation and its number."
        )
    index = int(match["index"])
    relation = read_questions(benchmark).relation_of(match["relation"], index)
    place = next(place for place, item in enumerate(relation.items) if item.index == index)
    before = relation.items[place - 1] if place else None
    after = next(iter(relation.items[place + 1 : place + 2]), None)
    return BenchmarkQuestion(relation, relation.items[place], place + 1, before, after)


def read_questions(benchmark: Benchmark) -> Content:
    """Return the relations and items of a benchmark; raise `NoQuestions` where its files are not here."""
    if not benchmark.path:
        raise NoQuestions(
            f"The questions of {benchmark.title} are not on this site; only published figures are.",
            "Choose a benchmark that is measured here.",
        )
    return benchmarks.read(benchmark)


class RatedQuestion(NamedTuple):
    """A question with the number of answers to it over all runs and templates, and how many are right."""

    relation: Relation
    item: Item
    answered: int
    right: int

    @property
    def share(self) -> float | None:
        return self.right / self.answered if self.answered else None


class Choice(NamedTuple):
    """Which questions a list has, and in which order."""

    search: str = ""
    relation: str = ""
    order: str = HARDEST
    culture_pair: str = ""
    language: str = ""

    def has(self, relation: Relation) -> bool:
        """Tell whether the questions of a relation are among those that are chosen, as far as its name and tags say."""
        return self.relation in ("", relation.label) and all(
            getattr(self, tag) in ("", relation.tags.get(tag)) for tag in PLACE_TAGS
        )


def difficulties(benchmark: Benchmark, choice: Choice) -> list[RatedQuestion]:
    """Return the questions that a reader chose; those without an answer come last. One query."""
    tallies = {label: _tally(counts) for label, counts in counts_of(benchmark).items()}
    word = choice.search.casefold()
    rows = [
        RatedQuestion(relation, item, *tallies.get(relation.label, {}).get(item.index, (0, 0)))
        for relation in read_questions(benchmark).relations
        if choice.has(relation)
        for item in relation.items
        if not word or _has(relation, item, word)
    ]
    return _ordered(rows, choice.order)


def _tally(counts: Counts) -> dict[int, tuple[int, int]]:
    """Map the index of each item to the numbers of all and of right answers."""
    numbers = zip(counts.answered.sum(axis=0).tolist(), counts.right.sum(axis=0).tolist(), strict=True)
    return dict(zip(counts.items.tolist(), numbers, strict=True))


def _has(relation: Relation, item: Item, word: str) -> bool:
    """Tell whether a text of the question contains a word, whose case is folded."""
    options = relation.options_of(item)
    return any(word in text.casefold() for text in (item.subject, item.wording, *(options[a] for a in item.answers)))


def _ordered(rows: list[RatedQuestion], order: str) -> list[RatedQuestion]:
    if order == IN_ORDER:
        return rows
    sign = -1 if order == EASIEST else 1
    return sorted(rows, key=lambda row: (not row.answered, sign * (row.share or 0)))
