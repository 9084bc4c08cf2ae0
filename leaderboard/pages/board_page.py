"""/board.parquet : every score of every finished run and every printed figure, for pandas, DuckDB and their like."""

import json
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings
from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe
from filelock import FileLock
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile

from leaderboard.data_version import data_version
from leaderboard.figures.board import ERROR
from leaderboard.models import Printed, Run, Score
from leaderboard.models.printed import printed_rows
from probing.files.folders import new_file

CONTENT_TYPE = "application/vnd.apache.parquet"


@require_safe
def board_view(request: HttpRequest) -> HttpResponseBase:
    """Send the file, or the requested range of it: DuckDB reads only the columns that it needs.

    A file is never changed under its name, which is its ETag.
    """
    path = board_file()
    file = StaticFile(str(path), [("Content-Type", CONTENT_TYPE), ("ETag", f'"{path.stem}"')])
    answer = file.get_response(request.method, request.META)
    headers = {**dict(answer.headers), "Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    response: HttpResponseBase = WhiteNoiseFileResponse(answer.file or (), status=answer.status, headers=headers)
    return response


# The file.


BATCH = 2_000  # scores that are in memory at once, about 50 MB with their texts
# The columns that say what a score is about, with their types and the fields of a run that they hold.
COLUMNS = {
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
    schema = pa.schema([*((name, kind) for name, (kind, _) in COLUMNS.items()), *SCORES.items()])
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        for scores in _scores():
            rows = scores.merge(runs, on="run")
            file.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))
        file.write_table(pa.Table.from_pylist(list(_printed()), schema))


def _printed() -> Iterator[dict[str, Any]]:
    """Yield printed figures, which have no run and no interval; their standard errors are scores of their own."""
    for row in printed_rows(Printed.objects.all()):
        facts = {
            name: json.dumps(row.settings) if name == "settings" else attrgetter(field.replace("__", "."))(row)
            for name, (_, field) in COLUMNS.items()
            if name != "run"
        }
        for figure in row.figures:
            of_figure = {"dimension": figure.dimension, "group": figure.part, "n": figure.n}
            yield {**facts, **of_figure, "metric": figure.metric, "value": figure.value}
            if figure.error is not None:
                yield {**facts, **of_figure, "metric": f"{figure.metric}{ERROR}", "value": figure.error}


def _runs() -> pd.DataFrame:
    finished = Run.objects.filter(state=Run.State.FINISHED).annotate(settings_text=Cast("settings", TextField()))
    rows = finished.values_list(*(field for _, field in COLUMNS.values()))
    return pd.DataFrame(list(rows), columns=list(COLUMNS), dtype=object)


def _scores() -> Iterator[pd.DataFrame]:
    """Yield the scores of all finished runs, some at a time, in a fixed order."""
    scores = Score.objects.filter(run__state=Run.State.FINISHED).order_by("run", "pk")
    rows = scores.values_list("run", *SCORES).iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        yield pd.DataFrame(batch, columns=["run", *SCORES])
