"""Template sensitivity: how much the outcome of an item depends on its wording."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, proportion, tidy
from probing.analysis.breakdowns import ALL, OVERALL, count_items, members
from probing.analysis.option_scores import space_dimension, space_names
from probing.arrays import Floats

RANGE, FLIPS = "template_range", "template_flips"
LOWEST, HIGHEST = "template_lowest", "template_highest"
TEMPLATE_METRICS = (RANGE, LOWEST, HIGHEST, FLIPS)
WORDING_COLUMNS = ["relation", "template", "accuracy", "items"]
EVEN = 1e-9  # sums of weights that differ by less are equal
# The columns of rows that `wordings` reads; rows of cultures also need those that name their answer space.
OUTCOME_COLUMNS = ("relation", "template", "index", "prediction", "correct")


def template_scores(rows: pd.DataFrame, dimensions: Iterable[str] = ()) -> pd.DataFrame:
    """Return tidy scores of rows with several templates; none if every item was asked with one template only.

    `template_range`: accuracy of the best template minus that of the worst, overall (if all items were asked with each
    of them) and in each relation. `template_lowest`, `template_highest`: accuracy of the worst and of the best template
    overall, in each relation, and in each group of the dimensions. `template_flips`: the share of items that got
    different predictions, with Wilson's interval.
    """
    is_repeated = rows.groupby(["relation", "index"])["template"].transform("size") > 1
    repeated_rows = rows.loc[is_repeated, list(OUTCOME_COLUMNS)]
    if repeated_rows.empty:
        return pd.DataFrame(columns=SCORE_COLUMNS)
    dimension = space_dimension(rows.columns)
    repeated_rows = repeated_rows.assign(**{dimension: space_names(rows)})
    tables = [
        _ranges(rows, dimension),
        *(_ends(rows, name) for name in dict.fromkeys((OVERALL, "relation", *dimensions))),
        *(proportion(repeated_rows, FLIPS, _flips(repeated_rows), name) for name in (OVERALL, dimension)),
    ]
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def by_wording(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each relation with each of its templates: columns `WORDING_COLUMNS`, in stored order."""
    groups = rows.groupby([space_names(rows).rename("relation"), "template"], sort=False)["correct"]
    return groups.agg(accuracy="mean", items="size").reset_index()[WORDING_COLUMNS]


def wordings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each relation with several templates, the one whose templates differ most first.

    Columns: `relation`, `items`, the accuracy with each template under the template's number, `range` and `flips`.
    """
    table = by_wording(rows)
    wide = table.pivot(index="relation", columns="template", values="accuracy")
    wide.columns = wide.columns.map(str)
    wide = wide[wide.notna().sum(axis=1) > 1]
    flips = _flips(rows).groupby(space_names(rows)).mean()
    items = table.groupby("relation")["items"].max()
    sensitivity = wide.assign(range=wide.max(axis=1) - wide.min(axis=1), flips=flips)
    sensitivity.insert(0, "items", items)
    return sensitivity.sort_values("range", ascending=False, kind="stable").reset_index()


def _flips(rows: pd.DataFrame) -> pd.Series:
    """Tell for each row whether its item got different predictions with different templates."""
    return rows.groupby(["relation", "index"])["prediction"].transform("nunique") > 1


def _ranges(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    table = by_wording(rows)
    by_relation = table.groupby("relation")
    several = by_relation["template"].transform("size") > 1
    even = by_relation["items"].transform("nunique") == 1  # an item may be too long for the model with one template
    relations = table[several & even].groupby("relation", sort=False)
    ranges = pd.DataFrame(
        {"value": relations["accuracy"].max() - relations["accuracy"].min(), "n": relations["items"].max()}
    )
    scores = ranges.rename_axis("group").reset_index().assign(metric=RANGE, dimension=dimension)
    return pd.concat([_overall_range(rows), scores]).reindex(columns=SCORE_COLUMNS)


def _overall_range(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the range of the templates' accuracies, or nothing unless every item was asked with each of them."""
    accuracies = rows.groupby("template")["correct"].mean()
    items = count_items(rows)
    if len(rows) < items * len(accuracies):
        return pd.DataFrame(columns=SCORE_COLUMNS)
    return tidy([(RANGE, OVERALL, ALL, accuracies.max() - accuracies.min(), float(items), np.nan, np.nan)])


def _ends(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return the lowest and the highest accuracy that a template has in each group.

    Groups with a single template, or with an item that was not asked with each of them, have none.
    """
    table = members(rows, dimension)
    codes, groups = pd.factorize(table["group"])
    templates, numbers = pd.factorize(rows["template"])
    member, weights, shape = table["row"].to_numpy(), table["weight"].to_numpy(), (len(groups), len(numbers))
    cells = codes * len(numbers) + templates[member]

    def sums(values: Floats) -> Floats:
        return np.bincount(cells, values, len(groups) * len(numbers)).reshape(shape).astype(float)

    items, right = sums(weights), sums(weights * rows["correct"].to_numpy(dtype=float)[member])
    asked = items > 0
    spread = items.max(axis=1) - items.min(axis=1, where=asked, initial=np.inf)
    alike = (spread < EVEN) & (asked.sum(axis=1) > 1)
    shares = np.divide(right, items, out=np.full(shape, np.nan), where=asked)[alike]
    scores = {
        "metric": np.repeat([LOWEST, HIGHEST], len(shares)),
        "dimension": dimension,
        "group": np.tile(groups[alike].astype(str), 2),
        "value": np.concatenate([np.nanmin(shares, axis=1), np.nanmax(shares, axis=1)]),
        "n": np.tile(items.sum(axis=1).round(9)[alike], 2),
    }
    return pd.DataFrame(scores).reindex(columns=SCORE_COLUMNS)
