"""How varied the right answers are (methods 4.4): the more one object prevails, the less a guess must know."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import log2

import pandas as pd

from probing.benchmark import Benchmark, Relation
from probing.formats.dlama import natural

COLUMNS = ["culture_pair", "language", "objects", "relation", "culture", "items", "entropy"]
ALL = "all"


def entropy(objects: Sequence[Collection[str]]) -> float:
    """In bits; each item's objects are reduced to the one that is most frequent among all items' (or the first id)."""
    frequency = Counter(object_ for several in objects for object_ in several)
    kept = Counter(min(several, key=lambda one: (-frequency[one], natural(one))) for several in objects)
    shares = [count / len(objects) for count in kept.values()]
    return sum(-share * log2(share) for share in shares)


def entropies(benchmark: Benchmark) -> pd.DataFrame:
    """One line per relation and culture: number of items and entropy of their objects, in bits."""
    rows = [row for relation in benchmark.relations for row in _of_relation(relation)]
    return pd.DataFrame(rows, columns=COLUMNS)


def totals(found: pd.DataFrame) -> pd.DataFrame:
    """The same over all relations of a pair and culture: items added up, the plain mean of the entropies."""
    keys = ["culture_pair", "language", "objects", "culture"]
    whole = found.groupby(keys, sort=False, as_index=False).agg(items=("items", "sum"), entropy=("entropy", "mean"))
    return whole.assign(relation=ALL)[COLUMNS]


def _of_relation(relation: Relation) -> Iterable[tuple[object, ...]]:
    by_culture: dict[str, list[list[str]]] = {}
    for item in relation.items:
        culture = str(relation.tags_of(item).get("culture", ""))
        by_culture.setdefault(culture, []).append([relation.answer_ids[answer] for answer in item.answers])
    tags = [str(relation.tags.get(name, "")) for name in COLUMNS[:3]]
    for culture, objects in by_culture.items():
        yield (*tags, relation.label, culture, len(objects), entropy(objects))
