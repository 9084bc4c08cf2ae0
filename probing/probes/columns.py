"""The columns that the rows of all probes share."""

from typing import Any, TypedDict

from probing.benchmark import Item, Relation


class RowColumns(TypedDict):
    """Columns of every row. `index` is the item's line in its relation's file.

    A probe declares its further columns in a subclass. Any column that is not declared is a tag.
    """

    relation: str
    template: int
    index: int
    subject: str
    subject_id: str


# Tags that repeat the relation or are equal in every row of a run, so that scores are not broken down by them.
VERSION_TAGS = frozenset({"predicate", "objects"})


def item_cells(item: Item) -> dict[str, Any]:
    """Return the number of an item, its subject and its right answers as columns of its row."""
    return {
        "index": item.index,
        "subject": item.subject,
        "subject_id": item.subject_id,
        "answer": item.answers[0],
        "answers": list(item.answers),
    }


def tag_cells(relation: Relation, item: Item) -> dict[str, Any]:
    """Return the tags of an item as columns of its row; a tag with several values is a list."""
    tags = relation.tags_of(item).items()
    return {tag: list(value) if isinstance(value, tuple) else value for tag, value in tags}
