"""Entropy of right answers (methods 4.4): the more often the same object is right, the easier it is to guess."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import log2

import pandas as pd

from probing.analysis.breakdown import ALL
from probing.benchmark import Benchmark, Relation
from probing.formats.dlama import natural

ENTROPY_COLUMNS = ["culture_pair", "language", "objects", "relation", "culture", "items", "entropy"]


def entropy(objects: Sequence[Collection[str]]) -> float:
    """Return the entropy in bits of the items' objects; `objects` has the ids of each item's valid objects.

    Each item is reduced to the one of its objects that is most frequent over all items, or to the first id of several.
    """
    frequency = Counter(object_id for ids in objects for object_id in ids)
    kept = Counter(min(ids, key=lambda object_id: (-frequency[object_id], natural(object_id))) for ids in objects)
    shares = [count / len(objects) for count in kept.values()]
    return sum(-share * log2(share) for share in shares)


def entropies(benchmark: Benchmark) -> pd.DataFrame:
    """Return one row for each relation and culture: the number of items and the entropy of their objects in bits."""
    rows = [row for relation in benchmark.relations for row in _of_relation(relation)]
    return pd.DataFrame(rows, columns=ENTROPY_COLUMNS)


def totals(by_relation: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of items and the plain means of entropies over the relations of each pair and culture."""
    keys = ["culture_pair", "language", "objects", "culture"]
    columns = {"items": ("items", "sum"), "entropy": ("entropy", "mean")}
    table = by_relation.groupby(keys, sort=False, as_index=False).agg(**columns)
    return table.assign(relation=ALL)[ENTROPY_COLUMNS]


def _of_relation(relation: Relation) -> Iterable[tuple[object, ...]]:
    by_culture: dict[str, list[list[str]]] = {}
    for item in relation.items:
        culture = str(relation.tags_of(item).get("culture", ""))
        by_culture.setdefault(culture, []).append([relation.answer_ids[answer] for answer in item.answers])
    tags = [str(relation.tags.get(name, "")) for name in ENTROPY_COLUMNS[:3]]
    for culture, objects in by_culture.items():
        yield (*tags, relation.label, culture, len(objects), entropy(objects))
