"""How difficult the questions of a benchmark are: how many have which share of right answers, stored with ranks."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.models import Benchmark
from leaderboard.stored.outcomes import counts_of

NONE_RIGHT, ALL_RIGHT = 0, 11  # the numbers of the outermost classes; between them are the tenths, from 1 to 10


class DifficultyClass(NamedTuple):
    """Questions with a similar share of right answers.

    Those that no run ever got right are a class of their own, and so are those that every run always got right.
    """

    number: int
    questions: int

    @property
    def name(self) -> str:
        """Its name on the axis of a chart: the most per cent of right answers."""
        outermost = {NONE_RIGHT: "none", ALL_RIGHT: "all", ALL_RIGHT - 1: "<100"}
        return outermost.get(self.number, str(10 * self.number))

    @property
    def in_words(self) -> str:
        if self.number in (NONE_RIGHT, ALL_RIGHT):
            return "no answer is right" if self.number == NONE_RIGHT else "every answer is right"
        most = 10 * self.number
        return f"more than {most - 10} %, {'less than' if most == 100 else 'up to'} {most} %"


def store_difficulty(benchmark: Benchmark) -> None:
    """Count the questions of each class, over all runs that were measured here and their wordings. Two queries."""
    sizes: Counter[int] = Counter()
    for counts in counts_of(benchmark).values():
        answered, right = (table.sum(axis=0, dtype=np.int64) for table in (counts.answered, counts.right))
        sizes.update(_class_numbers(answered[answered > 0], right[answered > 0]).tolist())
    difficulty = [sizes[number] for number in range(ALL_RIGHT + 1)] if sizes else []
    Benchmark.objects.filter(pk=benchmark.pk).update(difficulty=difficulty)


def _class_numbers(answered: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the class of each question, in whole numbers so that a share of exactly 30 % is in the third tenth."""
    return np.where(right == answered, ALL_RIGHT, -(-10 * right // answered))


def difficulty_classes(benchmark: Benchmark) -> list[DifficultyClass]:
    """Return the stored classes, the most difficult first; none before a model was measured."""
    return [DifficultyClass(number, questions) for number, questions in enumerate(benchmark.difficulty)]
