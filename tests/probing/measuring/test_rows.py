"""Rows of another program: read in tables of the sizes that are expected, and refused where they are others."""

from io import BytesIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probing.measuring import rows
from probing.measuring.rows import UnfitRows, read_tables

FRAME = pd.DataFrame({"index": range(10), "scores": [[float(number)] * (number % 3) for number in range(10)]})
GROUP_ROWS = 4


@pytest.fixture
def file() -> BytesIO:
    content = BytesIO()
    FRAME.to_parquet(content, index=False, row_group_size=GROUP_ROWS)
    return content


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
@pytest.mark.parametrize("counts", [[10], [3, 7], [1, 0, 5, 4], [2, 2, 2, 2, 2, 0]], ids=str)
def test_the_tables_have_all_rows_in_their_order(
    file: BytesIO, counts: list[int], batch_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "BATCH_ROWS", batch_rows)
    tables = list(read_tables(file, counts))
    assert [len(table) for table in tables] == counts
    pd.testing.assert_frame_equal(pa.concat_tables(tables).to_pandas(), FRAME)


@pytest.mark.parametrize("counts", [[], [9], [5, 6]], ids=str)
def test_another_number_of_rows_is_refused_before_any_is_read(file: BytesIO, counts: list[int]) -> None:
    with pytest.raises(UnfitRows, match=f"there are 10 rows for {sum(counts)} items"):
        next(read_tables(file, counts))


def test_a_table_is_read_before_those_that_follow(file: BytesIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BATCH_ROWS", GROUP_ROWS)
    metadata = pq.read_metadata(file)
    place = metadata.row_group(1).column(0).data_page_offset
    content = bytearray(file.getvalue())
    content[place : place + 20] = b"?" * 20
    tables = read_tables(BytesIO(content), [GROUP_ROWS, 6])
    assert next(tables)["index"].to_pylist() == [0, 1, 2, 3]
    with pytest.raises(UnfitRows, match="not a readable Parquet file"):
        next(tables)


def test_what_is_no_parquet_file_is_refused() -> None:
    with pytest.raises(UnfitRows, match="not a readable Parquet file"):
        next(read_tables(BytesIO(b"PAR1"), [1]))
