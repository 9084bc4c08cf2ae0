"""The labels of options, which are stored in a result's Parquet file, so that it can be read without the benchmark."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import pandas as pd

from probing.benchmark import Relation
from probing.errors import BadInput
from probing.plan import Plan


class OptionRange(NamedTuple):
    """The options of the items of a relation from the index `first` to the index `last`."""

    first: int
    last: int
    options: tuple[str, ...]


LABELLED = ["relation", "index", "answer", "answer_label"]
NO_LABELS = (
    "This result was written before the labels of options were stored. "
    "Result.load(folder, benchmark) takes them from the benchmark."
)
# By the relation's label, in the order of the items.
OptionRanges = Mapping[str, Sequence[OptionRange]]


def option_ranges(plan: Plan) -> OptionRanges:
    """Return the options of a run's items; a single option, which is compared with nothing, is left out."""
    ranges: dict[str, list[OptionRange]] = {}
    for relation in plan.benchmark.relations:
        if own := [*_ranges(relation)]:
            ranges.setdefault(relation.label, []).extend(own)
    return ranges


def _ranges(relation: Relation) -> Iterator[OptionRange]:
    items = sorted(relation.items, key=lambda item: item.index)
    for options, sharing in groupby(items, relation.options_of):
        indices = [item.index for item in sharing]
        if len(options) > 1:
            yield OptionRange(indices[0], indices[-1], options)


def labels_of(ranges: OptionRanges, relation: str, index: int | None) -> tuple[str, ...]:
    """Return the options of an item, or those that all items of the relation share if no item is named.

    Raises `BadInput` where there is no such relation or item, or where the items have different options.
    """
    if not ranges:
        raise BadInput(NO_LABELS)
    if relation not in ranges:
        raise BadInput(f"The result has no options of relation {relation!r}.", f"Choose from: {', '.join(ranges)}.")
    own = [part for part in ranges[relation] if index is None or part.first <= index <= part.last]
    if not own:
        raise BadInput(f"Relation {relation} has no item {index}.", "Choose one of the column index.")
    if len({part.options for part in own}) > 1:
        raise BadInput(f"The items of {relation} have different options.", "Name one: option_labels(relation, index).")
    return own[0].options


def refuse_other_labels(rows: pd.DataFrame, ranges: OptionRanges) -> None:
    """Raise `BadInput` where a row's right answer has another label than these options."""
    if "answer_label" not in rows:
        return
    for relation, index, answer, label in zip(*(rows[name] for name in LABELLED), strict=True):
        if relation in ranges and labels_of(ranges, relation, index)[answer] != label:
            raise BadInput(
                f"The benchmark does not fit: the answer to item {index} of {relation} is not {label!r:.80}.",
                "Give the benchmark that was asked.",
            )


def ranges_as_json(ranges: OptionRanges) -> str:
    """Return the text that is stored: by relation, objects with the fields of `OptionRange`."""
    plain = {relation: [part._asdict() for part in parts] for relation, parts in ranges.items()}
    return json.dumps(plain, ensure_ascii=False)


def ranges_from_json(text: str | bytes) -> OptionRanges:
    return {
        relation: [OptionRange(part["first"], part["last"], tuple(part["options"])) for part in parts]
        for relation, parts in json.loads(text).items()
    }
