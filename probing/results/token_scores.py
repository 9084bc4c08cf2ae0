"""The scores of single tokens in files of their own: written part by part, joined, read, and turned into accuracies.

From them follows which option a model would have chosen by its answer alone, and by the answer and what follows it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.analysis.accuracy import mean, proportion
from probing.analysis.breakdowns import OVERALL
from probing.arrays import Ints
from probing.benchmark import ROW_KEY
from probing.errors import BadInput, TooLong
from probing.files.folders import new_file
from probing.probes.choices import ItemTokens
from probing.probes.probe import Row

TOKENS_FILE = "tokens.parquet"
# Networks compute log-probabilities in single precision, so that nothing is lost by storing them in it.
SCHEMA = pa.schema(
    [
        ("relation", pa.string()),
        ("template", pa.int32()),
        ("index", pa.int32()),
        ("option", pa.int32()),
        ("position", pa.int32()),
        ("token", pa.string()),
        ("role", pa.string()),
        ("log_prob", pa.float32()),
    ]
)
# Tokens that are held in memory before they are written: a piece has whole items, and at least this many tokens.
TOKENS_PER_PIECE = 2**16
CONDITIONAL, ANSWER_ONLY = "conditional", "answer only"
SCORED_BY = "scored_by"  # the dimension, whose groups are the two scores
CHANGED = "prediction_changed"  # the metric: share of predictions that are other ones than by the run's own rule


def write_tokens(target: Path, answers: Iterable[tuple[Row, ItemTokens] | TooLong]) -> list[Row | TooLong]:
    """Write the tokens of all items of a part as they come, and return the rows; the file is whole or absent.

    The error that an item is too long is returned in place of its row.
    """
    rows: list[Row | TooLong] = []
    waiting: list[pa.Table] = []
    with new_file(target) as path, pq.ParquetWriter(path, SCHEMA) as writer:
        for answer in answers:
            if isinstance(answer, TooLong):
                rows.append(answer)
                continue
            row, tokens = answer
            rows.append(row)
            waiting.append(_table(row, tokens))
            if sum(map(len, waiting)) >= TOKENS_PER_PIECE:
                writer.write_table(pa.concat_tables(waiting))
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return rows


def _table(row: Row, tokens: ItemTokens) -> pa.Table:
    key = {name: np.full(len(tokens["option"]), row[name]) for name in ROW_KEY}
    return pa.Table.from_pydict({**key, **tokens}, SCHEMA)


def join_tokens(parts: Sequence[Path], target: Path) -> None:
    """Write the tokens of all parts into one file, a piece at a time."""
    with pq.ParquetWriter(target, SCHEMA) as writer:
        for path in parts:
            for piece in _pieces(path):
                writer.write_table(piece)


def read_tokens(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the tokens of a result a piece at a time; an item is never cut in two."""
    return (piece.to_pandas() for piece in _pieces(path))


def _pieces(path: Path) -> Iterator[pa.Table]:
    try:
        file = pq.ParquetFile(path)
        if file.schema_arrow.names != SCHEMA.names:
            raise ValueError(f"its columns are not {', '.join(SCHEMA.names)}")
        for number in range(file.num_row_groups):
            yield file.read_row_group(number)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", "Restore it from a copy or run again.") from error


def conditional_scores(tokens: pd.DataFrame) -> pd.DataFrame:
    """Return the two scores of each option: the columns of `ROW_KEY`, `option`, "conditional" and "answer only".

    `tokens`: those of whole items, in their order (tokens.parquet). An option that the tokenizer leaves nothing of has
    the score -inf.
    """
    begin = np.flatnonzero(tokens["position"] == 0)
    log_probs, own = tokens["log_prob"].to_numpy(float), (tokens["role"] == "answer").to_numpy()
    count: Ints = np.cumsum(own)
    before: Ints = np.repeat(count[begin] - own[begin], np.diff([*begin, len(tokens)]))
    selected = {CONDITIONAL: count > before, ANSWER_ONLY: own}
    scores = tokens.iloc[begin][[*ROW_KEY, "option"]].reset_index(drop=True)
    for name, chosen in selected.items():
        sums = np.add.reduceat(np.where(chosen, log_probs, 0.0), begin)
        scores[name] = np.where(np.logical_or.reduceat(own, begin), sums, -np.inf)
    return scores


def conditional_accuracy(rows: pd.DataFrame, pieces: Iterable[pd.DataFrame], metric: str) -> pd.DataFrame:
    """Return the `metric` and the share of changed predictions by either score, as tidy scores.

    `rows`: those of a result. `pieces`: their tokens, a piece at a time.
    """
    best = pd.concat([_best_options(conditional_scores(piece)) for piece in pieces if len(piece)])
    in_order = best.loc[pd.MultiIndex.from_frame(rows[ROW_KEY])]
    answers, own = rows["answers"].tolist(), rows["prediction"].to_numpy()
    tables = []
    for name in in_order:
        predictions = in_order[name].to_numpy()
        correct = pd.Series([option in right for option, right in zip(predictions, answers, strict=True)], dtype=bool)
        changed = pd.Series(predictions != own)
        shares = [proportion(rows, metric, correct, OVERALL), mean(rows, CHANGED, changed, OVERALL)]
        tables += [share.assign(dimension=SCORED_BY, group=str(name)) for share in shares]
    return pd.concat(tables, ignore_index=True)


def _best_options(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the best option of each item, the first of equals, by either score; indexed by the columns `ROW_KEY`."""
    items = scores.groupby(ROW_KEY, sort=False)
    best = {name: scores["option"].loc[items[name].idxmax()].to_numpy() for name in (CONDITIONAL, ANSWER_ONLY)}
    return pd.DataFrame(best, index=items.size().index)
