"""Several specificity results side by side (methods 2.2): only on pairs whose answers are single tokens of every model.

The first result is what the others are compared with: vanilla prompting, for instance.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probing.analysis import comparison
from probing.analysis.specificity import share_lines
from probing.errors import BadInput

COLUMNS = ["result", "metric", "dimension", "group", "value", "n", "low", "high"]

Rows = Mapping[str, pd.DataFrame]
# Each word with the text of a model's own token for it: to an uncased model "Lyon" is "lyon".
Spelled = Mapping[str, str]


def common(results: Rows, words: Collection[str]) -> dict[str, pd.DataFrame]:
    """The rows of each result about pairs that count in all of them and have both answers in `words`."""
    kept = comparison.common(results, "specific")
    kept = {name: table[_both_in(table, words)].reset_index(drop=True) for name, table in kept.items()}
    if not len(next(iter(kept.values()))):
        raise BadInput("No pair counts in all results.", "Compare models that share words, on the same relations.")
    return kept


def _both_in(table: pd.DataFrame, words: Collection[str]) -> pd.Series:
    return table["answer_label"].isin(words) & table["coarse_label"].isin(words)


def shares(results: Rows, spelled: Mapping[str, Spelled]) -> pd.DataFrame:
    """Specificity of each result on the common pairs, and how often they are among the ten best words.

    `spelled`: the words, for each result as its model has them. A pair of which fewer than ten of them are stored, none
    of them an answer, does not count for Acc@10.
    """
    lines: list[list[Any]] = []
    for name, rows in results.items():
        for metric, hits in _hits(rows, spelled[name]):
            lines += ([name, *line] for line in share_lines(metric, hits, rows["relation"]))
    return pd.DataFrame(lines, columns=COLUMNS)


def _hits(rows: pd.DataFrame, spelled: Spelled) -> Iterator[tuple[str, pd.Series]]:
    yield "specificity", rows["specific"]
    fine = _among_ten(rows, rows["answer_label"], spelled)
    yield "acc_at_10_either", fine | _among_ten(rows, rows["coarse_label"], spelled)
    yield "acc_at_10_fine", fine


def _among_ten(rows: pd.DataFrame, answers: pd.Series, spelled: Spelled) -> pd.Series:
    """Whether the answer is one of the ten best of the words; missing where the stored tokens do not tell."""
    tokens = frozenset(spelled.values())

    def told(best: Sequence[str], answer: str) -> bool | None:
        ten = [token for token in dict.fromkeys(best) if token in tokens][:10]
        return True if spelled[answer] in ten else False if len(ten) == 10 else None

    return pd.Series(list(map(told, rows["best"], answers)), index=rows.index, dtype="boolean")


def correlation(table: pd.DataFrame) -> pd.DataFrame:
    """Pearson correlation of each two results over the relations' specificity, from `shares`' table (methods 2.3)."""
    chosen = table[(table["metric"] == "specificity") & (table["dimension"] == "relation")]
    wide = chosen.pivot(index="group", columns="result", values="value")
    return wide[list(dict.fromkeys(table["result"]))].corr()


def mean_correlation(matrix: pd.DataFrame) -> float:
    """The mean over all pairs of results."""
    above = np.triu_indices(len(matrix), 1)
    return float(matrix.to_numpy()[above].mean())
