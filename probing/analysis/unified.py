"""Several specificity results side by side (methods 2.2): only on pairs whose answers are single tokens of every model.

The first result is what the others are compared with: vanilla prompting, for instance.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from probing.analysis.breakdown import ALL, OVERALL
from probing.analysis.specificity import RESAMPLES, share_lines
from probing.errors import BadInput

KEY = ["relation", "template", "index"]
COLUMNS = ["result", "metric", "dimension", "group", "value", "n", "low", "high"]
DIFFERENCES = ["result", "dimension", "group", "n", "difference", "low", "high", "gained", "lost", "p"]

Rows = Mapping[str, pd.DataFrame]


def common(results: Rows, words: Collection[str] = ()) -> dict[str, pd.DataFrame]:
    """The rows of each result about pairs that count in all of them (and, if given, have both answers in `words`)."""
    tables = {name: rows[rows["specific"].notna()].set_index(KEY).sort_index() for name, rows in results.items()}
    first, *others = (table.index for table in tables.values())
    for index in others:
        first = first.intersection(index)
    kept = {name: table.loc[first.sort_values()].reset_index() for name, table in tables.items()}
    if words:
        kept = {name: table[_both_in(table, words)].reset_index(drop=True) for name, table in kept.items()}
    if not len(next(iter(kept.values()))):
        raise BadInput("No pair counts in all results.", "Compare models that share words, on the same relations.")
    return kept


def _both_in(table: pd.DataFrame, words: Collection[str]) -> pd.Series:
    return table["answer_label"].isin(words) & table["coarse_label"].isin(words)


def shares(results: Rows, words: Collection[str] = ()) -> pd.DataFrame:
    """Specificity of each result on the common pairs and, with `words`, how often they are among the ten best words.

    A pair of which fewer than ten of the `words` are stored, none of them an answer, does not count for Acc@10.
    """
    lines: list[list[Any]] = []
    for name, rows in results.items():
        for metric, hits in _hits(rows, frozenset(words)):
            lines += ([name, *line] for line in share_lines(metric, hits, rows["relation"]))
    return pd.DataFrame(lines, columns=COLUMNS)


def _hits(rows: pd.DataFrame, words: frozenset[str]) -> Iterator[tuple[str, pd.Series]]:
    yield "specificity", rows["specific"]
    if words:
        fine = _among_ten(rows, rows["answer_label"], words)
        yield "acc_at_10_either", fine | _among_ten(rows, rows["coarse_label"], words)
        yield "acc_at_10_fine", fine


def _among_ten(rows: pd.DataFrame, answers: pd.Series, words: frozenset[str]) -> pd.Series:
    """Whether the answer is one of the ten best of the words; missing where the stored words do not tell."""

    def told(best: Sequence[str], answer: str) -> bool | None:
        ten = [word for word in dict.fromkeys(best) if word in words][:10]
        return True if answer in ten else False if len(ten) == 10 else None

    return pd.Series(list(map(told, rows["best"], answers)), index=rows.index, dtype="boolean")


def differences(results: Rows, seed: int = 0) -> pd.DataFrame:
    """Specificity of each further result minus that of the first, by relation and their plain mean.

    `low`, `high`: 95 % percentile interval of a paired bootstrap within relations. `p`: McNemar's exact test for a
    relation; for the mean, the same pairs with their two answers swapped at random.
    """
    (_, first), *others = results.items()
    lines = [line for name, rows in others for line in _against(first, name, rows, np.random.default_rng(seed))]
    return pd.DataFrame(lines, columns=DIFFERENCES)


def _against(
    first: pd.DataFrame, name: str, other: pd.DataFrame, generator: np.random.Generator
) -> Iterator[list[Any]]:
    change = other["specific"].astype(int) - first["specific"].astype(int)
    counts = pd.DataFrame({kind: (change == kind).groupby(first["relation"], sort=False).sum() for kind in (-1, 0, 1)})
    lost, same, gained = counts.to_numpy().T
    n = lost + same + gained
    drawn = np.stack([_resampled(row, generator) for row in counts.to_numpy()])
    for place, group in enumerate(counts.index):
        bounds = np.quantile(drawn[place], [0.025, 0.975])
        p = binomtest(gained[place], gained[place] + lost[place]).pvalue if gained[place] + lost[place] else 1.0
        difference = (gained[place] - lost[place]) / n[place]
        yield [name, "relation", group, n[place], difference, *bounds, gained[place], lost[place], p]
    mean, bounds = float(((gained - lost) / n).mean()), np.quantile(drawn.mean(axis=0), [0.025, 0.975])
    p = _swapped(mean, gained + lost, n, generator)
    yield [name, OVERALL, ALL, n.sum(), mean, *bounds, gained.sum(), lost.sum(), p]


def _resampled(counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Mean changes of a relation whose pairs are drawn again; `counts`: lost, same, gained; shape (resamples,)."""
    n = counts.sum()
    means: NDArray[np.float64] = generator.multinomial(n, counts / n, size=RESAMPLES) @ np.array([-1.0, 0.0, 1.0]) / n
    return means


def _swapped(mean: float, changed: NDArray[np.int64], n: NDArray[np.int64], generator: np.random.Generator) -> float:
    """How often a mean change as large as this comes about where every changed pair had the same chance either way."""
    gained = generator.binomial(changed, 0.5, size=(RESAMPLES, len(changed)))
    means = ((2 * gained - changed) / n).mean(axis=1)
    return float((1 + (np.abs(means) >= abs(mean) - 1e-12).sum()) / (1 + RESAMPLES))


def correlation(table: pd.DataFrame) -> pd.DataFrame:
    """Pearson correlation of each two results over the relations' specificity, from `shares`' table (methods 2.3)."""
    chosen = table[(table["metric"] == "specificity") & (table["dimension"] == "relation")]
    wide = chosen.pivot(index="group", columns="result", values="value")
    return wide[list(dict.fromkeys(table["result"]))].corr()


def mean_correlation(matrix: pd.DataFrame) -> float:
    """The mean over all pairs of results."""
    above = np.triu_indices(len(matrix), 1)
    return float(matrix.to_numpy()[above].mean())
