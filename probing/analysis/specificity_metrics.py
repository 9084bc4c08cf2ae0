"""Specificity of stored rows (methods 2.2, 2.3) as tidy scores: shares of pairs by relation, and their macro-average.

A share counts the pairs for which it is known: both answers must be single tokens of the model's vocabulary, except for
`specificity_all_pairs` and `specificity_whole_clause`, which are known for every pair. `n` is the number of pairs
counted. The macro-average has a second interval, which covers other relations like these.

Several results stand side by side only on pairs whose answers are single tokens of every model. The first result, for
instance the one with vanilla prompting, is what the others are compared with.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from unicodedata import combining, normalize

import numpy as np
import pandas as pd

from probing.analysis.accuracy import SCORE_COLUMNS, ClusteredRow, ScoreRow, tidy
from probing.analysis.breakdowns import ALL, OVERALL
from probing.analysis.intervals import cluster_interval, mean_interval
from probing.analysis.paired_tests import ResultRows, common_rows
from probing.errors import BadInput

NO_PREFERENCE = 0.5  # the share that guessing gets
RARER = "rarer_answer"
# Each word with the text of a model's own token for it: to an uncased model "Lyon" is "lyon".
TokenTexts = Mapping[str, str]


def specificity_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every metric by relation and overall, where `overall` is the macro-average over relations."""
    scores = [score for metric, hits in pair_hits(rows) for score in share_scores(metric, hits, rows)]
    return tidy([*scores, *_chance_scores(rows["specific"].groupby(rows["relation"], sort=False).count())])


def specificity_baselines(rows: pd.DataFrame) -> pd.DataFrame:
    """Return chance by relation and overall for rows of pairs without answers."""
    return tidy(_chance_scores(rows.groupby("relation", sort=False).size()))


def pair_hits(rows: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Yield each metric with its hits: true, false or, where the pair does not count, missing, for each row."""
    single = rows["specific"].notna()
    yield from factor_hits(rows)
    fine, coarse = (rows[f"{answer}_rank"].between(1, 10) for answer in ("fine", "coarse"))
    yield "acc_at_10_either", (fine | coarse).astype("boolean").where(single)
    yield "acc_at_10_fine", fine.astype("boolean").where(single)
    yield "specificity_all_pairs", rows["correct"].astype("boolean")
    if rows["fine_clause_score"].notna().any():
        yield "specificity_whole_clause", _fine_is_greater(rows, "clause_score")


def factor_hits(rows: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Yield specificity and the two factors that it is set beside, each with its hits."""
    yield "specificity", rows["specific"]
    yield "naturalness", _fine_is_greater(rows, "natural_log_prob")
    yield "relatedness", _fine_is_greater(rows, "cosine").where(rows["specific"].notna())


def _fine_is_greater(rows: pd.DataFrame, value: str) -> pd.Series:
    """Tell whether the fine answer's value is strictly greater; missing where one of the two values is."""
    fine, coarse = rows[f"fine_{value}"], rows[f"coarse_{value}"]
    return (fine > coarse).astype("boolean").where(fine.notna() & coarse.notna())


def share_scores(metric: str, hits: pd.Series, rows: pd.DataFrame) -> Iterator[ScoreRow | ClusteredRow]:
    """Yield one score for each relation, then their macro-average, unknown if a relation has no pair that counts."""
    known = hits.astype("Float64")
    table = known.groupby(rows["relation"], sort=False).agg(["mean", "count"])
    values, counts = table["mean"].to_numpy(float, na_value=np.nan), table["count"].to_numpy(float)
    of_pairs = known.groupby([rows["relation"], rows["index"]], sort=False).mean()
    shares = of_pairs.groupby(level=0, sort=False)
    parts = np.array([shares.count(), shares.mean().fillna(0), shares.var(ddof=0).fillna(0)], dtype=float)
    for place, (group, value, n) in enumerate(zip(table.index, values, counts, strict=True)):
        yield metric, "relation", str(group), value, n, *mean_interval(*parts[:, place : place + 1])
    total = float(counts.sum())
    clustered = cluster_interval(values, np.ones(len(values)), total)
    yield metric, OVERALL, ALL, float(values.mean()), total, *mean_interval(*parts), *clustered


def rarer_answer_scores(rows: pd.DataFrame, counts: Mapping[str, float]) -> pd.DataFrame:
    """Return how often the finer answer is the strictly rarer one (S-TEST's baseline Freq), over all pairs.

    `counts`: how often each answer occurs in a corpus.
    """
    fine, coarse = (rows[f"{answer}_label"].map(counts) for answer in ("answer", "coarse"))
    return tidy(share_scores(RARER, (fine < coarse).astype("boolean"), rows))


def _chance_scores(counts: "pd.Series[int]") -> Iterator[ScoreRow]:
    """Yield the score of a model without a preference, one half in every group, given the pairs of each relation."""
    for group, n in counts.items():
        yield "chance", "relation", str(group), NO_PREFERENCE, float(n), np.nan, np.nan
    yield "chance", OVERALL, ALL, NO_PREFERENCE, float(counts.sum()), np.nan, np.nan


def common_answers(results: ResultRows) -> dict[str, dict[str, str]]:
    """Map each result to the answers that are single tokens of all results' models, with the text of its own token.

    These are words that the rows of results know; `probing.unified` asks the tokenizers for all. A model none of whose
    best tokens has a capital letter is taken for one that also writes its words without accents.
    """
    own = {name: _single_token_answers(rows) for name, rows in results.items()}
    first, *others = own.values()
    shared = [answer for answer in first if all(answer in other for other in others)]
    return {name: {answer: tokens[answer] for answer in shared} for name, tokens in own.items()}


def _single_token_answers(rows: pd.DataFrame) -> dict[str, str]:
    sides = (rows[f"{label}_label"][rows[f"{rank}_rank"] > 0] for label, rank in (("answer", "fine"), ("coarse",) * 2))
    answers = dict.fromkeys(pd.concat(sides))
    is_cased = any(token != token.lower() for best in rows["best"] for token in best)
    return {answer: answer if is_cased else _plain(answer) for answer in answers}


def _plain(text: str) -> str:
    return normalize("NFC", "".join(letter for letter in normalize("NFD", text.lower()) if not combining(letter)))


def common_pairs(results: ResultRows, words: Collection[str]) -> dict[str, pd.DataFrame]:
    """Return the rows of each result about pairs that count in all of them and have both answers in `words`."""
    shared = common_rows(results, "specific")
    kept = {}
    for name, rows in shared.items():
        both_known = rows[["answer_label", "coarse_label"]].isin(list(words)).all(axis=1)
        kept[name] = rows[both_known].reset_index(drop=True)
    if not len(next(iter(kept.values()))):
        raise BadInput("No pair counts in all results.", "Compare models that share words, on the same relations.")
    return kept


def unified_scores(results: ResultRows, token_texts: Mapping[str, TokenTexts]) -> pd.DataFrame:
    """Return specificity, naturalness and relatedness of each result on the common pairs, and Acc@10.

    Acc@10 is how often answers are among the ten best of the words that all models have.
    `token_texts`: the words of each result's model. A pair of which fewer than ten words are stored does not count for
    Acc@10, whether its answer is one of them or not.
    """
    tables = [
        tidy(share_scores(metric, hits, rows)).assign(result=name)
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
    """Tell whether the answer is one of the ten best words; missing where fewer than ten of them are stored.

    Whether a pair counts must not depend on the answer: an answer that is found among fewer words than ten is a hit,
    but one that is not found there could be either, and to count the hits alone would make every model better.
    """
    tokens = frozenset(token_texts.values())

    def is_among_ten(best: Sequence[str], answer: str) -> bool | None:
        ten = [token for token in dict.fromkeys(best) if token in tokens][:10]
        return token_texts[answer] in ten if len(ten) == 10 else None

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
