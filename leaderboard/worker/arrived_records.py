"""Checks of the record that comes with rows: its fields and their types, and whether it names the run's model."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import compress
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from leaderboard.models import Run, RunPart
from leaderboard.serving.json_bodies import parse_object
from probing.errors import ProbingError
from probing.kinds import Kind
from probing.results.skipped_items import left_out

RECORD_LIMIT = 10**6  # bytes of JSON
MOST_PARAMETERS = 10**15
LONGEST_REASON = 200  # why items were not asked
PACKAGES_STATED = {"python", "torch", "transformers", "tokenizers", "safetensors"}


class RowsRefused(ProbingError):
    """The rows or the record of a part are not what a measurement of it gives."""

    code = "rows-refused"

    @classmethod
    def because(cls, reason: str) -> "RowsRefused":
        return cls(f"The rows of this part were refused: {reason}.", "Update the worker, or report it.")


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
    dtype: str
    batch: BatchFacts
    items_skipped: list[SkippedItems]
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


def checked_record(parts: Sequence[RunPart], text: str) -> dict[str, Any]:
    """Return the known fields of the record; raise `RowsRefused` unless it is the record of these parts of a run."""
    if len(text) > RECORD_LIMIT:
        raise RowsRefused.because("their record is larger than a megabyte")
    try:
        values = parse_object(text)
        Record.model_validate(values)
    except ValidationError as error:
        raise _malformed(str(error.errors(include_url=False)[0]["loc"][0])) from error
    except ValueError as error:
        raise RowsRefused.because(f"their record {error}") from error
    differing = compress(*zip(*_identities(values, parts), strict=True))
    if name := next(differing, ""):
        raise RowsRefused.because(f"their record names another {name}")
    return {name: values[name] for name in Record.model_fields}


def _malformed(field: str) -> RowsRefused:
    return RowsRefused.because(f"the field {field!r} of their record is missing or malformed")


def _identities(record: Mapping[str, Any], parts: Sequence[RunPart]) -> list[tuple[str, bool]]:
    """Return what a record may differ in from the run that the parts belong to, and whether it does."""
    run: Run = parts[0].run
    items = sum(part.items - len(left_out(record, part.covered)) for part in parts)
    card, kind = record["model"], run.model.kind
    return [
        ("model", card.get("id") != run.model.hub_id or card.get("commit") != run.model.commit),
        ("adapter", bool(run.model.adapter_commit) and card.get("adapter") != run.model.adapter_identity),
        ("quantisation", not run.model.weights_file and (card.get("quantisation") or "") != run.model.quantisation),
        ("kind of model", bool(kind) and card["kind"] != kind),
        ("benchmark", record["benchmark"].get("digest") != run.benchmark.digest),
        ("digest of settings", record["settings_digest"] != run.settings_digest),
        ("number of items", record["items_done"] != items),
    ]
