"""Template sensitivity: how much the outcome of an item depends on its wording."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, proportion, tidy
from probing.analysis.breakdowns import ALL, OVERALL, count_items, members
from probing.analysis.option_scores import by_space, space_dimension, space_names
from probing.arrays import Floats

RANGE, FLIPS = "template_range", "template_flips"
LOWEST, HIGHEST = "template_lowest", "template_highest"
COMPONENTS = ("relation", "item", "template", "item_template")
VARIANCE_SHARES = {name: f"variance_share_{name}" for name in COMPONENTS}
TEMPLATE_METRICS = (RANGE, LOWEST, HIGHEST, FLIPS, *VARIANCE_SHARES.values())
WORDING_COLUMNS = ["relation", "template", "accuracy", "items"]
EVEN = 1e-9  # sums of weights that differ by less are equal
# The columns of rows that `wordings` reads; rows of cultures also need those that name their answer space.
OUTCOME_COLUMNS = ("relation", "template", "index", "prediction", "correct")


def template_scores(rows: pd.DataFrame, dimensions: Iterable[str] = ()) -> pd.DataFrame:
    """Return tidy scores of rows with several templates; none if every item was asked with one template only.

    `template_range`: accuracy of the best template minus that of the worst, overall (if all items were asked with each
    of them) and in each relation. `template_lowest`, `template_highest`: accuracy of the worst and of the best template
    overall, in each relation, and in each group of the dimensions. `template_flips`: the share of items that got
    different predictions, with Wilson's interval. `variance_share_*`: the shares of the components of variance,
    overall.
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
        _variance_shares(rows),
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


def variance_components(rows: pd.DataFrame) -> dict[str, float]:
    """Return the variance of each of `COMPONENTS`, which may come out negative where it is close to zero.

    The component of relations is left out where there is one relation only. Nothing is returned where no relation has
    several items and several templates.
    """
    tables = list(_crossed_outcomes(rows))
    if not tables:
        return {}
    item_squares, template_squares, residual_squares = map(sum, zip(*map(_squares, tables), strict=True))
    n, k = (np.array(sizes, dtype=float) for sizes in zip(*(table.shape for table in tables), strict=True))
    if not ((n > 1) & (k > 1)).any():
        return {}
    residual = residual_squares / ((n - 1) * (k - 1)).sum()
    item = (item_squares - (n - 1).sum() * residual) / (k * (n - 1)).sum()
    template = (template_squares - (k - 1).sum() * residual) / (n * (k - 1)).sum()
    within = {"item": float(item), "template": float(template), "item_template": float(residual)}
    if len(tables) == 1:
        return within
    errors = item / n + template / k + residual / (n * k)
    means = np.array([outcomes.mean() for outcomes in tables])
    return {"relation": _between(means, n * k, errors), **within}


def variance_shares(components: Mapping[str, float]) -> dict[str, float]:
    """Return the components as shares of their sum, negative ones as 0; nothing where no outcome varies."""
    positive = {name: max(value, 0.0) for name, value in components.items()}
    total = sum(positive.values())
    return {name: value / total for name, value in positive.items()} if total else {}


def _crossed_outcomes(rows: pd.DataFrame) -> Iterator[Floats]:
    """Yield the outcomes of each relation, shape (items, templates), if each item was asked with each template."""
    for _, part in by_space(rows):
        outcomes = part.pivot(index="index", columns="template", values="correct").to_numpy(dtype=float)
        if not np.isnan(outcomes).any():
            yield outcomes


def _squares(outcomes: Floats) -> tuple[float, float, float]:
    """Return the sums of squares of items, templates and residuals within one relation."""
    n, k = outcomes.shape
    mean, items, templates = outcomes.mean(), outcomes.mean(axis=1), outcomes.mean(axis=0)
    residuals = outcomes - items[:, None] - templates[None, :] + mean
    return k * ((items - mean) ** 2).sum(), n * ((templates - mean) ** 2).sum(), (residuals**2).sum()


def _between(means: Floats, weights: Floats, errors: Floats) -> float:
    """Return the variance of relations, given their means, numbers of rows, and the error variance of each mean."""
    squares = weights @ (means - weights @ means / weights.sum()) ** 2
    coefficients = weights * (1 - weights / weights.sum())
    return float((squares - coefficients @ errors) / coefficients.sum())


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


def _variance_shares(rows: pd.DataFrame) -> pd.DataFrame:
    shares = variance_shares(variance_components(rows))
    items = float(count_items(rows))
    names = VARIANCE_SHARES.items()
    return tidy((name, OVERALL, ALL, shares[of], items, np.nan, np.nan) for of, name in names if of in shares)
