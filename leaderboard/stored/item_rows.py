"""Single items of a finished run, read from its items.parquet in batches: memory does not grow with the run."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from django.core.files.storage import storages

from leaderboard.models import Run
from probing.errors import ProbingError

BATCH = 2048  # rows
FILE = "items.parquet"
SEARCHED = ("subject", "answer_label", "prediction_label")
PER_OPTION = ("scores", "exact", "best", "log_probs")  # a value for every option or word: only the file itself has them
Row = dict[str, Any]


class ItemsMissing(ProbingError):
    """The run has no stored items: it is not finished, or its figures come from elsewhere."""

    code = "items-missing"


@dataclass(frozen=True)
class ItemFilter:
    """Empty values ask for everything; `tags` maps the name of a tag, or of another column, to the value wanted."""

    correct: bool | None = None
    relation: str = ""
    template: int | None = None
    search: str = ""
    tags: Mapping[str, Any] | None = None

    @property
    def columns(self) -> list[str]:
        """What must be read to decide."""
        asked = {
            "correct": self.correct is not None,
            "relation": bool(self.relation),
            "template": self.template is not None,
            **dict.fromkeys(SEARCHED, bool(self.search)),
        }
        return [name for name, wanted in asked.items() if wanted] + list(self.tags or {})

    def mask(self, batch: pa.RecordBatch) -> list[bool]:
        """Which rows of the batch pass."""
        passed = [True] * batch.num_rows
        for test in self._tests(batch):
            passed = [a and bool(b) for a, b in zip(passed, test, strict=True)]
        return passed

    def _tests(self, batch: pa.RecordBatch) -> Iterator[Sequence[Any]]:
        if self.correct is not None:
            yield pc.equal(batch["correct"], self.correct).to_pylist()
        if self.relation:
            yield pc.equal(batch["relation"], self.relation).to_pylist()
        if self.template is not None:
            yield pc.equal(batch["template"], self.template).to_pylist()
        for tag, wanted in (self.tags or {}).items():
            yield [wanted == value or wanted in _several(value) for value in batch[tag].to_pylist()]
        if self.search:
            yield _any_contains(batch, [name for name in SEARCHED if name in batch.schema.names], self.search)


def _several(value: Any) -> Sequence[str]:
    return value if isinstance(value, list) else ()


def _any_contains(batch: pa.RecordBatch, columns: Sequence[str], text: str) -> list[bool]:
    found = [pc.match_substring(batch[name], text, ignore_case=True).to_pylist() for name in columns]
    return [any(row) for row in zip(*found, strict=True)]


@contextmanager
def opened(run: Run) -> Iterator[BinaryIO]:
    storage, name = storages["artefacts"], f"{run.artefact}/{FILE}"
    if run.state != Run.State.FINISHED or not run.artefact or not storage.exists(name):
        raise ItemsMissing("This run has no items to show.", "Items are stored once a run measured here has finished.")
    with storage.open(name) as file:
        yield file


def names(run: Run) -> list[str]:
    """The columns of the run's items."""
    with opened(run) as file:
        return list(pq.ParquetFile(file).schema_arrow.names)


def ends(run: Run) -> dict[str, set[Any]]:
    """By column its least and its greatest value, and None where one is missing: several where rows differ.

    The file's statistics say so, and no row is read; what they leave open counts as different.
    """
    found: dict[str, set[Any]] = {}
    with opened(run) as file:
        metadata = pq.ParquetFile(file).metadata
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            found.setdefault(column.path_in_schema.split(".")[0], set()).update(_ends(column))
    return found


def _ends(column: pq.ColumnChunkMetaData) -> list[Any]:
    known = column.statistics
    missing = [None] if known and known.null_count else []
    if known and known.has_min_max:
        return [known.min, known.max, *missing]
    return missing if known and known.null_count == column.num_values else [object(), object()]


def find(run: Run, asked: ItemFilter) -> list[int]:
    """Numbers of the rows that pass, in stored order."""
    with opened(run) as file:
        parquet = pq.ParquetFile(file)
        if not asked.columns:
            return list(range(parquet.metadata.num_rows))
        found, start = [], 0
        for batch in parquet.iter_batches(BATCH, columns=asked.columns):
            found += [start + number for number, passed in enumerate(asked.mask(batch)) if passed]
            start += batch.num_rows
        return found


def rows(run: Run, numbers: Sequence[int], columns: Sequence[str] | None = None) -> Iterator[Row]:
    """The rows of those ascending numbers; `columns` None reads all."""
    wanted = iter(numbers)
    number = next(wanted, None)
    with opened(run) as file:
        start = 0
        for batch in pq.ParquetFile(file).iter_batches(BATCH, columns=columns):
            here = []
            while number is not None and number < start + batch.num_rows:
                here.append(number - start)
                number = next(wanted, None)
            yield from batch.take(pa.array(here, pa.int64())).to_pylist()
            start += batch.num_rows
            if number is None:
                return


def item(run: Run, relation: str, template: int, index: int) -> Row | None:
    """One item with all that is stored of it."""
    numbers = find(run, ItemFilter(relation=relation, template=template))
    return next((row for row in rows(run, numbers) if row["index"] == index), None)
