"""What is scored: template 0 of three relations, as in BEAR where its files are at hand."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.language_model import Request
from probing.template import prompt

BEAR_RELATIONS = ("P30", "P36", "P19")
STARTER_RELATIONS = ("country_continent", "country_capital", "novel_author")


@dataclass(frozen=True)
class Question:
    """One item as both libraries take it: a template, a subject, the options and the right one."""

    template: str
    subject: str
    options: tuple[str, ...]
    answer: int

    @property
    def asked(self) -> Request:
        return prompt(self.template, self.subject), self.options

    @property
    def true_statement(self) -> Request:
        """The item with its right answer as the only option."""
        return prompt(self.template, self.subject), self.options[self.answer : self.answer + 1]


@dataclass(frozen=True)
class Work:
    """The questions of some relations of a benchmark."""

    benchmark: str
    relations: tuple[str, ...]
    questions: tuple[Question, ...]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def statements(self) -> int:
        return sum(len(question.options) for question in self)


def bear() -> Benchmark | None:
    """BEAR from the folder that CLOZEBOARD_TEST_DATA names, if it is there."""
    folder = os.environ.get("CLOZEBOARD_TEST_DATA")
    return open_benchmark(Path(folder) / "bear") if folder else None


def work(items: int | None = None) -> Work:
    """The first items (all, if not said) of three relations: BEAR's, or the starter benchmark's where BEAR is not."""
    found = bear()
    if found:
        return select(found, BEAR_RELATIONS, items)
    return select(open_benchmark("starter"), STARTER_RELATIONS, items)


def window(statements: int) -> Work:
    """The first questions of the whole benchmark, as many as stay within so many statements."""
    found = bear() or open_benchmark("starter")
    everything = select(found, [relation.id for relation in found.relations])
    total = accumulate(len(question.options) for question in everything)
    questions = tuple(q for q, count in zip(everything, total, strict=True) if count <= statements)
    return replace(everything, questions=questions)


def select(benchmark: Benchmark, relations: Sequence[str], items: int | None = None) -> Work:
    chosen = benchmark.select(relations, items)
    questions = tuple(question(relation, item) for relation in chosen.relations for item in relation.items)
    return Work(benchmark.slug, tuple(relation.id for relation in chosen.relations), questions)


def question(relation: Relation, item: Item) -> Question:
    return Question(relation.templates[0], item.subject, relation.answer_space, item.answers[0])
