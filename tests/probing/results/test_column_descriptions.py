"""Every column of a result is explained: on the page of the documentation, and in the Parquet file itself."""

from pathlib import Path

import pyarrow.parquet as pq

from docs.site.generated import columns_page
from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.exposure import COUNTED_COLUMNS
from probing.benchmark import Benchmark
from probing.probes import PROBES
from probing.results import rows
from probing.results.rows import ITEM_COLUMNS, TAG, TOKEN_COLUMNS
from probing.results.run_json import RECORD_KEYS
from probing.results.token_scores import SCHEMA
from probing.runner import run
from tests.fakes import FakeModel


def test_each_column_of_a_probe_of_scores_and_of_tokens_is_described_and_no_other() -> None:
    missing = {name: probe.columns - ITEM_COLUMNS.keys() for name, probe in PROBES.items()}
    assert {name: columns for name, columns in missing.items() if columns} == {}
    assert ITEM_COLUMNS.keys() == COUNTED_COLUMNS.union(*(probe.columns for probe in PROBES.values()))
    assert list(rows.SCORE_COLUMNS) == SCORE_COLUMNS
    assert list(TOKEN_COLUMNS) == SCHEMA.names


def test_each_key_of_the_record_is_described(benchmark: Benchmark, model: FakeModel) -> None:
    record = run(model, benchmark, progress=False).record
    assert RECORD_KEYS.keys() == record.keys()
    assert all(f"`{name}`" in RECORD_KEYS["model"] for name in record["model"])


def test_the_page_explains_each_column_and_key() -> None:
    page = columns_page()
    tables = (ITEM_COLUMNS, rows.SCORE_COLUMNS, TOKEN_COLUMNS, RECORD_KEYS)
    lines = [f"| `{name}` | {meaning} |" for meanings in tables for name, meaning in meanings.items()]
    assert [line for line in lines if line not in page] == []


def test_the_parquet_file_explains_its_columns(benchmark: Benchmark, model: FakeModel, tmp_path: Path) -> None:
    run(model, benchmark, out=tmp_path / "out", progress=False)
    schema = pq.read_schema(tmp_path / "out" / "items.parquet")
    meanings = {name: schema.field(name).metadata[b"description"].decode() for name in schema.names}
    assert meanings["statement"].startswith("the sentence with what the model answers")
    assert meanings["cardinality"] == TAG
    assert meanings == {name: ITEM_COLUMNS.get(name, TAG) for name in schema.names}
