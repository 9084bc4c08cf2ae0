"""How near wrong answers are to right ones, by the country that they lie in (DLAMA, Table 3's colours, by machine).

Which country a place lies in, and which countries share a border, say the facts of the benchmark itself: those of the
predicates P17 (country), P36 (capital), P1376 (capital of) and P47 (shares border with). Answers that are no places,
such as languages, and places about which there are no such facts are of an unknown country.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import pandas as pd

from probing.benchmark import Benchmark

RIGHT, SAME, NEIGHBOUR, ELSEWHERE, UNKNOWN = NEARNESS = ("right", "same country", "neighbour", "elsewhere", "unknown")
COUNTRY, CAPITAL, CAPITAL_OF, BORDER = "P17", "P36", "P1376", "P47"
OF_COUNTRIES = (CAPITAL, BORDER)  # whose subjects are countries


@dataclass(frozen=True)
class Map:
    """The countries that places lie in, and the neighbours of countries, by id."""

    countries: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    neighbours: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, benchmark: Benchmark) -> "Map":
        """Read the map from the facts of a benchmark that has ids."""
        places = cls()
        for predicate, subject, objects in _facts(benchmark):
            if predicate in OF_COUNTRIES:
                places.countries[subject].add(subject)
            for place in objects:
                if predicate in (COUNTRY, CAPITAL_OF):
                    places.countries[subject].add(place)
                    places.countries[place].add(place)
                elif predicate == CAPITAL:
                    places.countries[place].add(subject)
                elif predicate == BORDER:
                    places.countries[place].add(place)
                    places.neighbours[subject].add(place)
                    places.neighbours[place].add(subject)
        return places

    def nearness(self, predicted: str, right: Collection[str]) -> str:
        """Return how near a predicted answer is to the nearest right one: one of `NEARNESS`."""
        if predicted in right:
            return RIGHT
        own, others = self._countries(right), self._countries([predicted])
        if not own or not others:
            return UNKNOWN
        if own & others:
            return SAME
        around = set().union(*(self.neighbours.get(country, ()) for country in own))
        return NEIGHBOUR if around & others else ELSEWHERE

    def _countries(self, places: Collection[str]) -> set[str]:
        return set().union(*(self.countries.get(place, ()) for place in places))


def _facts(benchmark: Benchmark) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the predicate, the subject's id and the objects' ids of each item that has ids."""
    for relation in benchmark.relations:
        if relation.answer_ids:
            for item in relation.items:
                if item.subject_id and not item.options:
                    yield relation.label, item.subject_id, [relation.answer_ids[answer] for answer in item.answers]


def nearness(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return the shares of `NEARNESS` among the predictions of each relation and language of which a country is known.

    `predictions`: their number. Relations of which no answer has a known country are left out.
    """
    places, items = Map.of(benchmark), benchmark.items_by_key()
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for label, index, prediction in zip(rows["relation"], rows["index"], rows["prediction"], strict=True):
        relation, item = items[label, index]
        if relation.answer_ids and not item.options:
            right = [relation.answer_ids[answer] for answer in item.answers]
            key = (label, str(relation.tags.get("language", "")))
            counts[key][places.nearness(relation.answer_ids[prediction], right)] += 1
    table = [
        (*key, of.total(), *(of[name] / of.total() for name in NEARNESS))
        for key, of in counts.items()
        if of[SAME] + of[NEIGHBOUR] + of[ELSEWHERE]
    ]
    return pd.DataFrame(table, columns=["relation", "language", "predictions", *NEARNESS])
