"""Several specificity results side by side (methods 2.2), only on pairs whose answers are single tokens of every model.

The first result, for instance the one with vanilla prompting, is what the others are compared with.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, tidy
from probing.analysis.comparison import ResultRows, common_rows
from probing.analysis.specificity import factor_hits, share_scores
from probing.errors import BadInput

# Each word with the text of a model's own token for it: to an uncased model "Lyon" is "lyon".
TokenTexts = Mapping[str, str]


def common_pairs(results: ResultRows, words: Collection[str]) -> dict[str, pd.DataFrame]:
    """Return the rows of each result about pairs that count in all of them and have both answers in `words`."""
    shared = common_rows(results, "specific")
    kept = {name: rows[_both_in(rows, words)].reset_index(drop=True) for name, rows in shared.items()}
    if not len(next(iter(kept.values()))):
        raise BadInput("No pair counts in all results.", "Compare models that share words, on the same relations.")
    return kept


def _both_in(rows: pd.DataFrame, words: Collection[str]) -> pd.Series:
    return rows["answer_label"].isin(words) & rows["coarse_label"].isin(words)


def unified_scores(results: ResultRows, token_texts: Mapping[str, TokenTexts]) -> pd.DataFrame:
    """Return specificity, naturalness and relatedness of each result on the common pairs, and Acc@10.

    Acc@10 is how often answers are among the ten best of the words that all models have.
    `token_texts`: the words of each result's model. A pair of which fewer than ten words are stored, none of them an
    answer, does not count for Acc@10.
    """
    tables = [
        tidy(share_scores(metric, hits, rows["relation"])).assign(result=name)
        for name, rows in results.items()
        for metric, hits in _hits(rows, token_texts[name])
    ]
    return pd.concat(tables, ignore_index=True)[["result", *SCORE_COLUMNS]]


def _hits(rows: pd.DataFrame, token_texts: TokenTexts) -> Iterator[tuple[str, pd.Series]]:
    yield from factor_hits(rows)
    fine = _among_ten(rows, rows["answer_label"], token_texts)
    yield "acc_at_10_either", fine | _among_ten(rows, rows["coarse_label"], token_texts)
    yield "acc_at_10_fine", fine


def _among_ten(rows: pd.DataFrame, answers: pd.Series, token_texts: TokenTexts) -> pd.Series:
    """Tell whether the answer is one of the ten best words; missing where too few words are stored to know."""
    tokens = frozenset(token_texts.values())

    def is_among_ten(best: Sequence[str], answer: str) -> bool | None:
        ten = [token for token in dict.fromkeys(best) if token in tokens][:10]
        return True if token_texts[answer] in ten else False if len(ten) == 10 else None

    return pd.Series(list(map(is_among_ten, rows["best"], answers)), index=rows.index, dtype="boolean")


def correlation(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the Pearson correlation of each two results over the relations' specificity (methods 2.3).

    `scores`: a table of `unified_scores`.
    """
    by_relation = scores[(scores["metric"] == "specificity") & (scores["dimension"] == "relation")]
    wide = by_relation.pivot(index="group", columns="result", values="value")
    return wide[list(dict.fromkeys(scores["result"]))].corr()


def mean_correlation(matrix: pd.DataFrame) -> float:
    """Return the mean correlation over all pairs of results."""
    above = np.triu_indices(len(matrix), 1)
    return float(matrix.to_numpy()[above].mean())
