"""The share of right answers by country, over the items of a run that are about one country."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from leaderboard.figures.outcomes import RunOutcomes, outcomes_of
from leaderboard.figures.questions import read_questions
from leaderboard.models import Benchmark, Run
from leaderboard.ui.world_map import country_code
from probing.analysis.intervals import wilson
from probing.benchmark import Item, Relation
from probing.errors import ProbingError

Countries = Mapping[tuple[str, int], str]  # code by label of the relation and index of the item
LEAST_COUNTRIES = 10  # fewer make no map


class CountryShare(NamedTuple):
    """The share of a country's items that are right, with its 95 % interval; that of another run beside it, if any."""

    code: str
    items: int
    share: float
    other: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.share, self.items)

    @property
    def difference(self) -> float | None:
        return None if self.other is None else self.share - self.other


def countries_of(benchmark: Benchmark, tags: Mapping[str, str] = MappingProxyType({})) -> Countries:
    """Return the country of every item that is about one, in the relations that have these tags.

    It is the item's subject in relations most of whose subjects are countries, and else the right answer in those most
    of whose answers are. Single names that a country shares with something else are thereby not taken for one.
    """
    return {
        (relation.label, item.index): code
        for relation in tagged_relations(benchmark, tags)
        for item, code in _relation_countries(relation)
        if code
    }


def tagged_relations(benchmark: Benchmark, tags: Mapping[str, str]) -> list[Relation]:
    """Return the relations that have these tags; all of them where there are none."""
    relations = read_questions(benchmark).relations
    return [rel for rel in relations if all(rel.tags.get(name) == value for name, value in tags.items())]


def has_map(run: Run) -> bool:
    """Tell whether a run has answers that are right or wrong, on a benchmark with enough countries for a map."""
    if not (run.artefact and run.benchmark.correctness.column):
        return False
    try:
        return are_about_countries(read_questions(run.benchmark).relations)
    except ProbingError:  # the benchmark's files are not here or cannot be read
        return False


def are_about_countries(relations: Iterable[Relation]) -> bool:
    """Tell whether relations name enough countries for a map; those after the last one needed are not looked at."""
    codes: set[str] = set()
    for relation in relations:
        codes.update(code for _, code in _relation_countries(relation) if code)
        if len(codes) >= LEAST_COUNTRIES:
            return True
    return False


def _relation_countries(relation: Relation) -> Iterable[tuple[Item, str]]:
    subjects = [country_code(item.subject) for item in relation.items]
    answers = [_answer_country(relation, item) for item in relation.items]
    for codes in (subjects, answers):
        if 2 * sum(map(bool, codes)) > len(codes):
            return zip(relation.items, codes, strict=True)
    return ()


def _answer_country(relation: Relation, item: Item) -> str:
    """Return the country that all right answers name."""
    options = relation.options_of(item)
    codes = {country_code(options[answer]) for answer in item.answers}
    return codes.pop() if len(codes) == 1 else ""


def country_shares(run: Run, other: Run | None, countries: Countries) -> list[CountryShare]:
    """Return the shares of a run, and of another one where both answered, the country with most items first.

    One query for each run.
    """
    shares = _item_shares(outcomes_of(run), countries)
    others = _item_shares(outcomes_of(other), countries) if other else shares
    by_country: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for key in shares.keys() & others.keys():
        by_country[countries[key]].append((shares[key], others[key]))
    rows = [CountryShare(code, len(pairs), *_means(pairs, other is not None)) for code, pairs in by_country.items()]
    return sorted(rows, key=lambda row: (-row.items, row.code))


def _means(pairs: Sequence[tuple[float, float]], with_other: bool) -> tuple[float, float | None]:
    first, second = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return first, second if with_other else None


def _item_shares(outcomes: Mapping[str, RunOutcomes], countries: Countries) -> dict[tuple[str, int], float]:
    """Return the share of right wordings of each item that has a country and counts."""
    return {
        (relation, index): share
        for relation, of_relation in outcomes.items()
        for index, share in zip(of_relation.items.tolist(), of_relation.shares.tolist(), strict=True)
        if (relation, index) in countries and share == share  # it is not a number where nothing counts
    }
