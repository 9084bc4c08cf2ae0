"""Checks of the rows and the record of a result that was measured elsewhere.

What follows from the benchmark (items, answers, tags, columns and their types) is computed here, by the run's own probe
with a model that knows nothing, and must be equal. What the model answered must be finite and agree with its scores.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated, Any, Literal, cast

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from leaderboard.models import Model
from probing.analysis.added_tags import added_columns
from probing.analysis.option_scores import PER_OPTION
from probing.arrays import Floats
from probing.baselines import UniformModel
from probing.benchmark import ROW_KEY, Relation
from probing.errors import BadInput
from probing.kinds import Kind
from probing.language_model import OptionScores, Request, Scoring, fitting
from probing.measuring.messages import UnfitRows, read_tables
from probing.plan import Part, Plan
from probing.probes.probe import VERSION_TAGS
from probing.results.completeness import left_out, no_rows, without

# Columns that probes declare and that do not depend on the model's answers; tags do not either.
FROM_BENCHMARK = frozenset(
    {*ROW_KEY, "id", "subject", "subject_id", "answer", "answers", "answer_label", "coarse_label", "prompting"}
    | {"demonstrations", "true", "repetitions", "words"}
    | VERSION_TAGS
)
ROUNDING = 1e-6  # relative; of scores that are stored in single precision


class Unanswering(UniformModel):
    """A model of a stated kind that answers everything with zeros, so that rows have all columns of that kind.

    Options have several tokens, as the public code of perplexity needs three.
    """

    def __init__(self, kind: Kind) -> None:
        self.card = replace(UniformModel.card, kind=kind)

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for _, options in requests:
            count = len(options)
            yield OptionScores((np.zeros(4),) * count, (slice(0, 1),) * count, np.ones(count, dtype=bool))


@dataclass(frozen=True)
class CheckedParts:
    """The parts of a run that came in one file: their checked rows, a file for each part, and the run's record."""

    folder: Path
    record: Mapping[str, Any]

    def store(self, part: Part, rows: pd.DataFrame) -> None:
        rows.to_parquet(self._path(part), index=False)

    def rows(self, part: Part) -> pd.DataFrame:
        return pd.read_parquet(self._path(part))

    def records(self, covered: Sequence[Part]) -> list[Mapping[str, Any]]:
        return [self.record]

    def _path(self, part: Part) -> Path:
        return self.folder / f"{part.relation}-{part.template}.parquet"


def checked_whole(record: Mapping[str, Any], model: Model, plan: Plan, rows: IO[bytes], folder: Path) -> CheckedParts:
    """Return the rows of a whole run of a model and their record, or raise `RowsRefused` with the reason.

    The rows come in the order of the parts. They are read one part at a time and stored in the folder, with the
    columns, their order and their types of rows that were measured here. Of the record only what a record is known to
    hold is kept.
    """
    whole = CheckedParts(folder, checked_record(record, model, plan))
    counts = [max(part.items - len(left_out(whole.record, part)), 0) for part in plan.parts]
    for part, table in zip(plan.parts, _read(rows, counts), strict=True):
        relation, expected = _expected(part, plan, whole.record)
        own = _without_foreign(table, expected, added_columns(record))
        whole.store(part, _checked_rows(plan, own, relation, expected))
    return whole


def _without_foreign(table: pa.Table, expected: pd.DataFrame, added: Collection[str]) -> pa.Table:
    """Leave out the columns that only other parts have, which are empty in this one, and those that were added."""

    def is_own(name: str) -> bool:
        return name not in added and table.column(name).null_count < table.num_rows

    return table.select([name for name in table.column_names if name in expected or is_own(name)])


def _checked_rows(plan: Plan, table: pa.Table, relation: Relation, expected: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a part as a frame; raise `RowsRefused` where they differ from what the benchmark gives."""
    frame = _conformed(table, pa.Table.from_pandas(expected, preserve_index=False), expected)
    for name in expected.columns:
        fixed = name in FROM_BENCHMARK or name not in plan.probe.columns
        if fixed and _values(frame, name) != _values(expected, name):
            raise RowsRefused.because(f"the column {name!r} differs from the benchmark")
    _check_numbers(frame, expected)
    if {"scores", "prediction"} <= set(frame.columns):
        _check_choices(frame, relation)
    return frame


def _expected(part: Part, plan: Plan, record: Mapping[str, Any]) -> tuple[Relation, pd.DataFrame]:
    """Return the part's relation, and its rows as a model without answers gives them.

    Items that the record names as too long for the model have no row.
    """
    relation, probe = plan.relation(part), plan.probe
    skipped = left_out(record, part)
    rows = probe.rows(Unanswering(record["model"]["kind"]), relation, part.template, plan.settings)
    if not skipped <= {item.index for item in relation.items}:
        raise RowsRefused.because("their record leaves out items that are not theirs")
    kept = [row for row in map(fitting, rows) if row["index"] not in skipped]
    return without(relation, skipped), probe.frame(kept) if kept else no_rows()


def _read(rows: IO[bytes], counts: Sequence[int]) -> Iterator[pa.Table]:
    try:
        yield from read_tables(rows, counts)
    except UnfitRows as reason:
        raise RowsRefused.because(str(reason)) from reason


def _conformed(table: pa.Table, pattern: pa.Table, expected: pd.DataFrame) -> pd.DataFrame:
    """Return the table as a frame with the pattern's columns; raise `RowsRefused` where types or gaps differ."""
    if sorted(table.column_names) != sorted(pattern.column_names):
        raise RowsRefused.because(f"the columns are not {', '.join(pattern.column_names)}"[:500])
    for field in pattern.schema:
        column = table.column(field.name)
        if not _fits(column.type, field.type):
            raise RowsRefused.because(f"the column {field.name!r} holds {column.type} instead of {field.type}")
        if column.null_count and not _may_be_empty(expected[field.name]):
            raise RowsRefused.because(f"the column {field.name!r} has empty cells")
    ordered = table.select(pattern.column_names).replace_schema_metadata(pattern.schema.metadata)
    try:
        return cast(pd.DataFrame, ordered.to_pandas())
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise RowsRefused.because("they cannot be read as a table") from error


def _fits(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Tell whether two types are the same, but for the width of offsets, and where one of them is of no values."""
    if pa.types.is_null(actual) or pa.types.is_null(expected):
        return True
    if _is_text(actual) and _is_text(expected):
        return True
    if _is_list(actual) and _is_list(expected):
        return _fits(actual.value_type, expected.value_type)
    return bool(actual == expected)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _may_be_empty(column: "pd.Series[Any]") -> bool:
    """Tell whether cells of an expected column may be empty: those of nullable types and of floats."""
    nullable = column.dtype.name in ("Int64", "boolean") or column.dtype.kind == "f"
    return nullable or bool(column.isna().any())


def _values(frame: pd.DataFrame, name: str) -> list[Any]:
    return pa.Array.from_pandas(frame[name]).to_pylist()  # type: ignore[no-any-return]


def _check_numbers(frame: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Raise `RowsRefused` unless there is one finite score for each option, and no number is infinite."""
    for name in frame.columns:
        for cell, pattern in zip(frame[name], expected[name], strict=True):
            per_option = name in PER_OPTION and _holds_list(pattern)
            if per_option and not (_holds_list(cell) and len(cell) == len(pattern)):
                raise RowsRefused.because(f"a list of {name!r} has another length than the options")
            if not _finite(cell, missing=name != "scores"):
                raise RowsRefused.because(f"the column {name!r} holds values that are not finite")


def _holds_list(cell: Any) -> bool:
    return isinstance(cell, np.ndarray | list)


def _finite(cell: Any, *, missing: bool) -> bool:
    """Tell whether a cell holds no infinite number, and unless `missing` is allowed, no NaN."""
    values = np.asarray(cell)
    if values.dtype.kind != "f":
        return True
    return not np.isinf(values).any() if missing else bool(np.isfinite(values).all())


def _check_choices(frame: pd.DataFrame, relation: Relation) -> None:
    """Raise `RowsRefused` unless each prediction, its label, its correctness and its rank follow from the scores."""
    for item, row in zip(relation.items, frame.to_dict("records"), strict=True):
        scores: Floats = np.asarray(row["scores"], dtype=float)
        single = np.asarray(row["scores"]).dtype == np.float32
        slack = ROUNDING * max(1.0, float(np.abs(scores).max())) if single else 0.0
        options, prediction = relation.options_of(item), row["prediction"]
        agrees = (
            0 <= prediction < len(options)
            and scores[prediction] >= scores.max() - slack
            and row["prediction_label"] == options[prediction]
            and bool(row["correct"]) == (prediction in item.answers)
            and _rank_agrees(row["rank"], scores, item.answers, slack)
        )
        if not agrees:
            raise RowsRefused.because(f"the prediction of item {item.index} does not follow from its scores")


def _rank_agrees(rank: Any, scores: Floats, answers: tuple[int, ...], slack: float) -> bool:
    """Tell whether the rank of the best right option is missing or follows from the scores, up to rounding."""
    if pd.isna(rank):
        return True
    best = scores[list(answers)].max()
    return bool(1 + (scores > best + slack).sum() <= rank <= (scores >= best - slack).sum())


# Checks of the record that comes with rows: its fields and their types, and whether it agrees with model and plan.


RECORD_LIMIT = 10**6  # bytes of JSON
MOST_PARAMETERS = 10**15
LONGEST_REASON = 200  # why items were not asked
PACKAGES_STATED = {"python", "torch", "transformers", "tokenizers", "safetensors"}


class RowsRefused(BadInput):
    """The rows or the record of a result are not what a measurement gives."""

    @classmethod
    def because(cls, reason: str) -> "RowsRefused":
        return cls(
            f"The result is not what a measurement gives. The rows were refused: {reason}.",
            "Measure it with the version of the library that this site has, and give its files unchanged.",
        )


def _with_zone(text: str) -> str:
    """Return a time as it is; raise `ValueError` unless it states its time zone."""
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time without its zone")
    return text


def _all_stated(packages: dict[str, str]) -> dict[str, str]:
    """Return versions as they are; raise `ValueError` if one is missing that every record has."""
    if not packages.keys() >= PACKAGES_STATED:
        raise ValueError("a version is missing")
    return packages


Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Time = Annotated[str, AfterValidator(_with_zone)]
Versions = Annotated[dict[str, str], AfterValidator(_all_stated)]


class Facts(BaseModel):
    """Some facts of a record, each of the type that pages, exports and comparisons rely on; there may be others."""

    model_config = ConfigDict(strict=True, extra="allow")


class Card(Facts):
    """What a record says of the model. Records of older versions of the library lack some of it."""

    id: str
    kind: Kind
    architecture: str | None = None
    parameters: Annotated[int, Field(ge=0, lt=MOST_PARAMETERS)] | None = None
    commit: str | None = None
    source: str = ""
    files: dict[str, str] = {}
    adapter: str = ""
    revision: str | None = None
    quantisation: str | None = None
    option_only: bool = False


class BenchmarkFacts(Facts):
    """Which version of a benchmark was asked."""

    slug: str
    version: str
    digest: str


class BatchFacts(Facts):
    """What happened while the model was asked."""

    notes: list[str]


class Timing(Facts):
    """For how long the model was loaded and asked."""

    load_seconds: Seconds
    score_seconds: Seconds


class SkippedItems(Facts):
    """Items that were not asked; those of a template that are too long for the model have `indices`, each once."""

    relation: str
    items: Count
    why: Annotated[str, Field(max_length=LONGEST_REASON)]
    template: Count = 0
    indices: list[Count] = []

    @model_validator(mode="after")
    def _as_many_indices_as_items(self) -> "SkippedItems":
        is_complete = "template" in self.model_fields_set and len(set(self.indices)) == len(self.indices) == self.items
        if "indices" in self.model_fields_set and not is_complete:
            raise ValueError("indices that are not those of the items")
        return self


class UnknownNames(Facts):
    """How many options or subjects of a relation the tokenizer does not know."""

    relation: str
    kind: Literal["options", "subjects"]
    names: Count
    unknown: Count
    examples: list[Annotated[str, Field(max_length=LONGEST_REASON)]]

    @model_validator(mode="after")
    def _of_as_many(self) -> "UnknownNames":
        if self.unknown > self.names:
            raise ValueError("more unknown names than there are")
        return self


class Record(Facts):
    """How a part, or a whole run, was measured: what `run.json` holds."""

    model: Card
    benchmark: BenchmarkFacts
    benchmark_notes: list[str]
    probe: str
    settings: dict[str, Any]
    settings_digest: str
    seed: int
    language: str
    packages: Versions
    device: str
    processor: str = ""
    dtype: str
    batch: BatchFacts
    items_skipped: list[SkippedItems]
    unknown_names: list[UnknownNames] = []
    peak_memory: dict[str, Count]
    start: Time
    end: Time
    timing: Timing
    statements: Count
    positions: Count
    padding: Count
    items_done: Count


def checked_card(values: Mapping[str, Any]) -> Card:
    """Return what a record says of the model; raise `RowsRefused` where it is malformed."""
    try:
        return Card.model_validate(values)
    except ValidationError as error:
        raise _malformed("model") from error


def checked_record(values: Mapping[str, Any], model: Model, plan: Plan) -> dict[str, Any]:
    """Return the known fields of the record; raise `RowsRefused` unless it is that of a run of this model."""
    try:
        Record.model_validate(values)
    except ValidationError as error:
        raise _malformed(str(error.errors(include_url=False)[0]["loc"][0])) from error
    card, kind = values["model"], model.kind
    items = sum(part.items - len(left_out(values, part)) for part in plan.parts)
    differing = {
        "adapter": bool(model.adapter_commit) and card.get("adapter") != model.adapter_identity,
        "quantisation": not model.weights_file and (card.get("quantisation") or "") != model.quantisation,
        "kind of model": bool(kind) and card["kind"] != kind,
        "number of items": values["items_done"] != items,
    }
    if names := [name for name, differs in differing.items() if differs]:
        raise RowsRefused.because(f"their record names another {names[0]}")
    return {name: values[name] for name in Record.model_fields}


def _malformed(field: str) -> RowsRefused:
    return RowsRefused.because(f"the field {field!r} of their record is missing or malformed")
