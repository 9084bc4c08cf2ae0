"""Tags that a reader adds to finished results: the columns of a file about the items, which become breakdowns.

Texts are groups as they are. Numbers are put into groups of about equally many items, so that each group has an
interval of about the same width.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from probing.errors import BadInput

KEY = ["relation", "index"]
ADDED_TAGS = "added_tags"  # the key of records with the SHA-256 of each added column
# Version 0.2.0 added columns of these names without noting them in the record.
FORMER_NUMBERS = frozenset({"exposure_count", "sitelinks", "yearly_views"})  # which are no tags
FORMER_COLUMNS = FORMER_NUMBERS | {"exposure", "stated", "popularity", "page_views"}
GROUPS = 5  # of numbers, at most
NEXT_STEP = "Begin it with a line such as: relation,index,frequency, and give each item a line, such as: P36,0,1250."


def read_tags(path: Path) -> pd.DataFrame:
    """Read a table with the columns `relation`, `index` and at least one tag, which may be empty for some items.

    A column `subject` is no tag: it is compared with the subjects of the items. Numbers become ordered groups. Raises
    `BadInput` where the file (.csv, .parquet or .jsonl) has no such table.
    """
    texts = {"relation": str, "subject": str}
    try:
        if path.suffix == ".parquet":
            table = pd.read_parquet(path)
        elif path.suffix == ".jsonl":
            table = pd.read_json(path, lines=True, dtype=texts)
        else:
            table = pd.read_csv(path, dtype=texts)
        table = table.astype({"relation": str, "index": "int64"})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} cannot be read as tags of items ({error}).", NEXT_STEP) from error
    if not tag_names(table):
        raise BadInput(f"{path} has no column with a tag.", NEXT_STEP)
    if table.duplicated(KEY).any():
        raise BadInput(f"{path} has an item twice.", NEXT_STEP)
    return table.assign(**{name: _groups(table[name]) for name in tag_names(table)})


def tag_names(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of `read_tags` that are tags."""
    return [name for name in table.columns if name not in {*KEY, "subject"}]


def _groups(values: pd.Series) -> pd.Series:
    """Return the name of the group of each value, which is empty where there is none."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return values.astype(object).map(str, na_action="ignore")
    numbers = values.astype(float)
    few = numbers.nunique() <= GROUPS
    before = numbers.rank(method="dense" if few else "min") - 1  # equal numbers stay in one group
    places = before * GROUPS // max(1, numbers.nunique() if few else numbers.count())
    ends = numbers.groupby(places).agg(["min", "max"])
    names = [_range(low, high) for low, high in ends.to_numpy().tolist()]
    return pd.Series(pd.Categorical(places.map(dict(zip(ends.index, names, strict=True))), names, ordered=True))


def _range(low: float, high: float) -> str:
    ends = [f"{int(number) if number.is_integer() else number:,}" for number in (low, high)]
    return "–".join(dict.fromkeys(ends))


def added_columns(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns that readers may have added to the rows of a result, by its record."""
    added = record.get(ADDED_TAGS)
    return FORMER_COLUMNS.union(added if isinstance(added, dict) else ())


def with_added_tags(rows: pd.DataFrame, tags: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the tags of a table of `read_tags`; rows of other items than it names get none.

    Raises `BadInput` where the table names none of the items, or another subject for one.
    """
    asked, suffixes = rows[[*KEY, "subject"]], ("", "_named")
    matched = asked.merge(tags, how="left", on=KEY, suffixes=suffixes, indicator="found", validate="m:1")
    found = matched["found"] == "both"
    if not found.any():
        raise BadInput("The file of tags names none of the items of this result.", NEXT_STEP)
    if "subject_named" in matched and (matched["subject_named"] != matched["subject"])[found].any():
        raise BadInput("The tags are those of other items: subjects differ.", NEXT_STEP)
    return rows.assign(**{name: matched[name].array for name in tag_names(tags)})
