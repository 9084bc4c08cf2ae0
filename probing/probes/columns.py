"""The columns that the rows of every probe share."""

from typing import TypedDict


class RowColumns(TypedDict):
    """Columns of every row. `index` is the item's line in its relation's file.

    A probe declares its further columns in a subclass. Any column that is not declared is a tag.
    """

    relation: str
    template: int
    index: int
    subject: str
    subject_id: str


# Tags that repeat the relation or are equal in every row of a run, so that nobody breaks scores down by them.
VERSION_TAGS = frozenset({"predicate", "objects"})
