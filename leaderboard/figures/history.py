"""The public record: the log of changes, frozen tables, and the whole board as one file."""

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from filelock import FileLock

from leaderboard.data_version import data_version
from leaderboard.figures import artefacts
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark, Change, Run, Score, Snapshot
from leaderboard.ui.labels import number_of
from probing.errors import BadInput
from probing.files.folders import new_file

# The public log of changes: every result that was added, scored again or withdrawn, with the reason.


def record(kind: Change.Kind, run: Run, text: str = "") -> None:
    """Add a change of a run's result to the log, within the transaction that makes the change."""
    Change.objects.create(kind=kind, benchmark=run.benchmark.name, model=run.model.title, run=run.pk, text=text)


def record_version(benchmark: Benchmark) -> None:
    """Add a new version of a benchmark to the log."""
    items = number_of(benchmark.items, benchmark.noun)
    relations = number_of(benchmark.relations, "relation")
    text = f"Version {benchmark.version}, {items} in {relations}."
    Change.objects.create(kind=Change.Kind.VERSION, benchmark=benchmark.name, text=text)


def withdraw(runs: QuerySet[Run], reason: str) -> None:
    """Delete runs with their files, record the finished ones as withdrawn, and rank the other runs again."""
    benchmarks = list(Benchmark.objects.filter(runs__in=runs).distinct())
    with transaction.atomic():
        withdrawn = list(runs.select_related("model", "benchmark"))
        for run in withdrawn:
            if run.state == Run.State.FINISHED:
                record(Change.Kind.WITHDRAWN, run, reason)
        folders = [folder for run in withdrawn for folder in artefacts.folders_of(run)]
        runs.delete()
        transaction.on_commit(partial(artefacts.remove_folders, folders))
    for benchmark in benchmarks:
        refresh_standings(benchmark)


# Snapshots: tables of the site, frozen in a document whose digest is the snapshot's address.
#
# The document has no time in it, so that the same data give the same bytes, whenever and however often they are frozen.


SNAPSHOT_FORMAT = 1
LARGEST = 20_000_000  # bytes of a document; a table of 1,000 models and 100 columns has 1 MB
COMPRESSION = 6  # of compression


class FrozenTable(NamedTuple):
    """A table as its CSV had it: the address of its page, the names of its columns, and the texts of its cells."""

    title: str
    address: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def store(title: str, tables: Sequence[FrozenTable]) -> Snapshot:
    """Store the tables, or return the snapshot that has the same document already.

    Raises `BadInput` if the tables are too large.
    """
    document = document_of(tables)
    if len(document) > LARGEST:
        raise BadInput(
            f"The tables have {len(document):,} bytes, and a snapshot at most {LARGEST:,}.", "Choose more filters."
        )
    fields = {"title": title[:200], "document": gzip.compress(document, COMPRESSION, mtime=0), "length": len(document)}
    return Snapshot.objects.get_or_create(digest=hashlib.sha256(document).hexdigest(), defaults=fields)[0]


def document_of(tables: Sequence[FrozenTable]) -> bytes:
    """Return the document of some tables: JSON with sorted keys, without spaces, in UTF-8."""
    content = {"format": SNAPSHOT_FORMAT, "tables": [table._asdict() for table in tables]}
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def read_document(snapshot: Snapshot) -> bytes:
    """Return the bytes whose SHA-256 is the digest of the snapshot."""
    return gzip.decompress(snapshot.document)


def read_tables(snapshot: Snapshot) -> list[FrozenTable]:
    """Return the tables of a snapshot."""
    return [FrozenTable(**table) for table in json.loads(read_document(snapshot))["tables"]]


# The whole board as one Parquet file: every score of every finished run, with its provenance.


BATCH = 2_000  # scores that are in memory at once, about 50 MB with their texts
# The columns that say what a score is about, with their types and the fields of a run that they hold.
FACTS = {
    "run": (pa.int64(), "pk"),
    "model": (pa.string(), "model__hub_id"),
    "commit": (pa.string(), "model__commit"),
    "revision": (pa.string(), "model__revision"),
    "step": (pa.int64(), "model__step"),
    "tokens": (pa.int64(), "model__tokens"),
    "weights_file": (pa.string(), "model__weights_file"),
    "adapter_commit": (pa.string(), "model__adapter_commit"),
    "kind": (pa.string(), "model__kind"),
    "parameters": (pa.int64(), "model__parameters"),
    "benchmark": (pa.string(), "benchmark__slug"),
    "version": (pa.string(), "benchmark__version"),
    "probe": (pa.string(), "benchmark__probe"),
    "settings": (pa.string(), "settings_text"),
    "items_left_out": (pa.int64(), "items_left_out"),
    "provenance": (pa.string(), "provenance"),
    "reference": (pa.string(), "reference"),
    "finished": (pa.timestamp("us", "UTC"), "finished"),
}
SCORES = {
    **dict.fromkeys(("metric", "dimension", "group"), pa.string()),
    **dict.fromkeys(("value", "n", "low", "high", "cluster_low", "cluster_high"), pa.float64()),
}


def board_file() -> Path:
    """Return the file with the scores as they are now. It is made if the data have changed since it was last made."""
    folder = Path(settings.DATA) / "board"
    folder.mkdir(parents=True, exist_ok=True)
    path = _path(folder)
    if not path.exists():
        with FileLock(folder / "lock"), transaction.atomic():
            path = _path(folder)
            if not path.exists():
                with new_file(path) as unfinished:
                    _write(unfinished)
                for older in set(folder.glob("*.parquet")) - {path}:
                    older.unlink(missing_ok=True)
    return path


def _path(folder: Path) -> Path:
    """Return where the file of the present version of the data is kept; nothing is kept where that is unknown."""
    return folder / f"{data_version() or uuid4().hex}.parquet"


def _write(path: Path) -> None:
    runs = _runs()
    schema = pa.schema([*((name, kind) for name, (kind, _) in FACTS.items()), *SCORES.items()])
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for scores in _scores():
            rows = scores.merge(runs, on="run")
            file.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))


def _runs() -> pd.DataFrame:
    """Return all finished runs with the columns of `FACTS`."""
    finished = Run.objects.filter(state=Run.State.FINISHED).annotate(settings_text=Cast("settings", TextField()))
    rows = finished.values_list(*(field for _, field in FACTS.values()))
    return pd.DataFrame(list(rows), columns=list(FACTS), dtype=object)


def _scores() -> Iterator[pd.DataFrame]:
    """Yield the scores of all finished runs, some at a time, in a fixed order."""
    scores = Score.objects.filter(run__state=Run.State.FINISHED).order_by("run", "pk")
    rows = scores.values_list("run", *SCORES).iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        yield pd.DataFrame(batch, columns=["run", *SCORES])
