"""The rows of a result: the file items.parquet, the labels of options in it, and results that keep no rows.

The file is written a piece at a time. It holds the labels of options, so that it can be read without the benchmark, and
a description of each column, from which a page of the documentation is made. Of a result without rows
(`--keep none`) the scores are all that is stored, and what needs rows is refused.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probing.benchmark import Relation
from probing.errors import BadInput
from probing.plan import Plan

ITEMS = "items.parquet"
OPTIONS = b"clozeboard.options"  # the key of the options in the metadata of items.parquet
GROUP_ROWS = 8192  # rows of a row group of the items: to read some rows, a reader reads only their groups
GROUP_BYTES = 2**23  # rows with many options make smaller groups, as a group is in memory while it is written
ROWS_KEPT = "rows_kept"  # the key of run.json, which only results without rows have
NO_ROWS = "This result was measured without keeping its rows: there are scores, and nothing about single items."


class RowSchema:
    """The columns of rows that come in several tables: those of all tables joined to one."""

    def __init__(self) -> None:
        self._first_rows: list[pa.Table] = []
        self._schemas: list[pa.Schema] = []

    def add(self, rows: pd.DataFrame) -> None:
        # A view of the first row would keep all rows in memory, and so would its lists.
        self._first_rows.append(pa.Table.from_pandas(rows.take([0]), preserve_index=False))
        self._schemas.append(pa.Schema.from_pandas(rows, preserve_index=False).remove_metadata())

    def joined(self) -> pa.Schema:
        """Return the schema that the joined tables have.

        The type of a column of lists or of mixed values depends on all of its cells, that of any other on its dtype.
        """
        whole = join(row.to_pandas() for row in self._first_rows)
        schema = pa.Schema.from_pandas(whole, preserve_index=False)
        types = pa.unify_schemas(self._schemas, promote_options="permissive")
        fields = [types.field(field.name) if whole[field.name].dtype == object else field for field in schema]
        return pa.schema(fields, schema.metadata)


def join(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, in the order given."""
    tables = list(frames)
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


# The options of the items of a relation from a first to a last index; by the relation's label, in the order of items.
OptionRange = tuple[int, int, tuple[str, ...]]
OptionRanges = Mapping[str, Sequence[OptionRange]]


def write_rows(path: Path, frames: Iterable[pd.DataFrame], schema: pa.Schema, options: OptionRanges) -> None:
    """Write rows that come in several tables, each of which may lack some columns of the schema.

    The file also has descriptions of the columns, and the labels of the options.
    """
    columns = [column.with_metadata({"description": ITEM_COLUMNS.get(column.name, TAG)}) for column in schema]
    described = pa.schema(columns, {**schema.metadata, OPTIONS: ranges_as_json(options).encode()})
    tables = (_table(frame, schema).cast(described) for frame in frames)
    with pq.ParquetWriter(path, described) as writer:
        for group in _groups(tables):
            writer.write_table(group, row_group_size=GROUP_ROWS)


def _table(rows: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    empty = dict.fromkeys(name for name in schema.names if name not in rows.columns)
    return pa.Table.from_pandas(rows.assign(**empty), schema, preserve_index=False)


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield all rows in groups of `GROUP_ROWS`, or of fewer where these have more than about `GROUP_BYTES`."""
    waiting: list[pa.Table] = []
    for table in tables:
        for piece in _pieces(table):
            waiting.append(piece)
            rows = sum(map(len, waiting))
            if rows >= GROUP_ROWS or sum(part.nbytes for part in waiting) >= GROUP_BYTES:
                joined = pa.concat_tables(waiting)
                yield joined.slice(0, GROUP_ROWS)
                waiting = [joined.slice(GROUP_ROWS)] if rows > GROUP_ROWS else []
    if waiting:
        yield pa.concat_tables(waiting)


def _pieces(table: pa.Table) -> Iterator[pa.Table]:
    rows = max(min(GROUP_ROWS, GROUP_BYTES * len(table) // max(table.nbytes, 1)), 1)
    yield from (table.slice(start, rows) for start in range(0, len(table), rows))


def option_ranges(plan: Plan) -> OptionRanges:
    """Return the options of a run's items; a single option, which is compared with nothing, is left out."""
    ranges: dict[str, list[OptionRange]] = {}
    for relation in plan.benchmark.relations:
        if own := [*_ranges(relation)]:
            ranges.setdefault(relation.label, []).extend(own)
    return ranges


def _ranges(relation: Relation) -> Iterator[OptionRange]:
    items = sorted(relation.items, key=lambda item: item.index)
    for options, sharing in groupby(items, relation.options_of):
        indices = [item.index for item in sharing]
        if len(options) > 1:
            yield indices[0], indices[-1], options


def labels_of(ranges: OptionRanges, relation: str, index: int | None) -> tuple[str, ...]:
    """Return the options of an item, or those that all items of the relation share if no item is named.

    Raises `BadInput` where there is no such relation or item, or where the items have different options.
    """
    if not ranges:
        raise BadInput("The result has no labels of options.", "Load it from its folder, or measure it again.")
    if relation not in ranges:
        raise BadInput(f"The result has no options of relation {relation!r}.", f"Choose from: {', '.join(ranges)}.")
    own = [options for first, last, options in ranges[relation] if index is None or first <= index <= last]
    if not own:
        raise BadInput(f"Relation {relation} has no item {index}.", "Choose one of the column index.")
    if len(set(own)) > 1:
        raise BadInput(f"The items of {relation} have different options.", "Name one: option_labels(relation, index).")
    return own[0]


def ranges_as_json(ranges: OptionRanges) -> str:
    """Return the text that is stored: by relation, an object for each range."""
    plain = {
        relation: [{"first": first, "last": last, "options": options} for first, last, options in parts]
        for relation, parts in ranges.items()
    }
    return json.dumps(plain, ensure_ascii=False)


def ranges_from_json(text: str | bytes) -> OptionRanges:
    return {
        relation: [(part["first"], part["last"], tuple(part["options"])) for part in parts]
        for relation, parts in json.loads(text).items()
    }


def keeps_rows(record: Mapping[str, Any]) -> bool:
    """Tell from its record whether a result has its rows."""
    return bool(record.get(ROWS_KEPT, True))


def refuse_without_rows(record: Mapping[str, Any], purpose: str) -> None:
    """Raise `BadInput` for a result without rows; `purpose`: what they are needed for, such as "A comparison"."""
    if not keeps_rows(record):
        raise BadInput(
            f"{purpose} needs rows, and this result was measured without keeping them (--keep none).",
            "Measure it again without --keep none.",
        )


ITEM_COLUMNS: Mapping[str, str] = {
    "relation": "the relation's id; of relations in several versions, their common predicate",
    "template": "the number of the template, from 0",
    "index": "the item's line in its relation's file, from 0",
    "id": "a stable name of the item, where its benchmark has one",
    "subject": "the subject of the item",
    "subject_id": "the subject's id in the benchmark, for example at Wikidata",
    "answer": "the first right option, as an index into the options of the item",
    "answers": "all right options, as indices into the options of the item",
    "answer_label": "the label of `answer`",
    "prediction": "the option with the best score, as an index into the options of the item",
    "prediction_label": "what the model answers: the label of `prediction`, the best word at the blank, or a response",
    "correct": "whether the answer counts as right; empty where the item could not be put to the model",
    "correct_normalised": "the same if case and compatible forms of characters are ignored; of open questions, "
    "whose answers have aliases, in whole words",
    "correct_exact": "whether the response is nothing but the label of a right answer",
    "rank": "the place of the best right answer, from 1; empty where it is not known",
    "margin": "the best score of a right option less that of a wrong one; empty where it is not known",
    "scores": "the score of each option, in the order of the options: a log-probability, or a cosine",
    "exact": "for each option, whether its score is exact; otherwise it is an upper bound",
    "tokens": "for each option, the number of tokens that are scored; of a sentence, the number of its tokens",
    "generic": "for each option, its share of probability with subjects that say nothing",
    "statement": (
        "the sentence with what the model answers (`prediction_label`) at the blank, not with the right answer; "
        "where there are no options, the sentence with its blank, or the question"
    ),
    "prompt": "all that the model read, with its start token, examples and chat template, and [Y] where options stand",
    "prediction_cultures": "the cultures in which the predicted option is a valid object",
    "prediction_statement": "as `prediction`, by the score of the whole statement",
    "rank_statement": "as `rank`, by the score of the whole statement",
    "correct_statement": "as `correct`, by the score of the whole statement",
    "predicate": "the predicate of the relation at Wikidata",
    "objects": "which objects are valid: `augmented` ones include those of superclasses, `raw` ones do not",
    "method": "how the answer was found: `top` among the best tokens, or `near` the beginning of a continuation",
    "one_token": "whether the answer is one token of the model's vocabulary; empty if no tokens were ranked",
    "alias_rank": "as `rank`, of the answer or the best of its other names",
    "predictions": "the most probable tokens at the blank, the best first",
    "log_probs": "the log-probabilities of `predictions`",
    "continuation": "how the model continues the sentence",
    "true": "whether the statement is true",
    "repetitions": "the repetitions that drew the statement, from 1",
    "log_prob": "the log-probability of the sentence",
    "words": "the number of words of the sentence",
    "perplexity": "the perplexity of the sentence",
    "prompting": "how the question is put: vanilla, few-shot, shared-few-shot or cascade",
    "specific": "whether the finer answer is more probable; empty if one of the two is not a single token",
    "best": "the most probable words at the blank",
    "demonstrations": "the indices of the items that stand before this one with their answers",
    "coarse_label": "the label of the coarser answer; `answer_label` is the finer one",
    "fine_log_prob": "the log-probability of the finer answer at the blank; empty if it is not a single token",
    "coarse_log_prob": "the same of the coarser answer",
    "fine_rank": "the rank of the finer answer among the whole vocabulary, from 1; 0 if it is not a single token",
    "coarse_rank": "the same of the coarser answer",
    "fine_natural_log_prob": "as `fine_log_prob`, with the subject hidden",
    "coarse_natural_log_prob": "the same of the coarser answer",
    "fine_cosine": "the cosine of the vectors of the subject and the finer answer",
    "coarse_cosine": "the same of the coarser answer",
    "fine_clause_score": "the score of the clause that follows the finer answer, in cascades with causal models",
    "coarse_clause_score": "the same of the coarser answer",
}
TAG = "a tag, by which scores are broken down: of the benchmark, or added; a list if the item has several values"
SCORE_COLUMNS: Mapping[str, str] = {
    "metric": "the name of the metric, such as `accuracy`",
    "dimension": "what the items are grouped by: `overall`, `template`, `relation` or a tag",
    "group": "the group within the dimension; `all` overall",
    "value": "the value of the metric for the group",
    "n": "the number of items; a fraction where an item belongs to several groups",
    "low": "the lower end of the 95 % interval for other items of the same relations; empty where there is none",
    "high": "its upper end",
    "cluster_low": "the lower end of the 95 % interval for other relations like these; empty where there is none",
    "cluster_high": "its upper end",
}
TOKEN_COLUMNS: Mapping[str, str] = {
    "relation": "as in items.parquet, with `template` and `index` the key of the row there",
    "template": "as in items.parquet",
    "index": "as in items.parquet",
    "option": "the place of the option among the options of the item, from 0",
    "position": "the place of the token among the scored tokens of the statement with this option, from 0",
    "token": "the text of the token",
    "role": "what the token belongs to: `subject`, `answer`, `template` or another `blank`",
    "log_prob": "the log-probability of the token",
}
