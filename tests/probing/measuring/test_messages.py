"""Rows of another program: read in tables of the sizes that are expected, and refused where they are others."""

from io import BytesIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probing.measuring import messages
from probing.measuring.messages import UnfitRows, read_tables

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
    monkeypatch.setattr(messages, "BATCH_ROWS", batch_rows)
    tables = list(read_tables(file, counts))
    assert [len(table) for table in tables] == counts
    pd.testing.assert_frame_equal(pa.concat_tables(tables).to_pandas(), FRAME)


@pytest.mark.parametrize("counts", [[], [9], [5, 6]], ids=str)
def test_another_number_of_rows_is_refused_before_any_is_read(file: BytesIO, counts: list[int]) -> None:
    with pytest.raises(UnfitRows, match=f"there are 10 rows for {sum(counts)} items"):
        next(read_tables(file, counts))


def test_a_table_is_read_before_those_that_follow(file: BytesIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "BATCH_ROWS", GROUP_ROWS)
    metadata = pq.read_metadata(file)
    place = metadata.row_group(1).column(0).data_page_offset
    content = bytearray(file.getvalue())
    content[place : place + 20] = b"?" * 20
    tables = read_tables(BytesIO(content), [GROUP_ROWS, 6])
    assert next(tables)["index"].to_pylist() == [0, 1, 2, 3]
    with pytest.raises(UnfitRows, match="not a readable Parquet file"):
        next(tables)


BOMBS = {
    "a text in every row": {"index": range(2000), "subject": ["x" * 100_000] * 2000},
    "texts in a list": {"index": range(20), "answers": [["x" * 100_000] * 100] * 20},
    "equal numbers": {"index": range(20), "scores": [[0.0] * 100_000] * 20},
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_of_large_rows_is_refused_before_it_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "UNPACKED_LIMIT", 10**7)
    content = BytesIO()
    table = pa.table({column: list(cells) for column, cells in BOMBS[name].items()})
    pq.write_table(table, content, compression="zstd")
    assert len(content.getvalue()) < 10**6
    with pytest.raises(UnfitRows, match="larger than rows can be"):
        list(read_tables(content, [len(BOMBS[name]["index"])]))


def test_texts_numbers_and_lists_are_read_with_their_types() -> None:
    table = pa.table(
        {
            "relation": ["P30", "P30", None],
            "large": pa.array(["a", "b", "b"], pa.large_string()),
            "answers": [["a", "b"], [], None],
            "nested": pa.array([[["a"], ["a", None]], [], [[]]], pa.large_list(pa.list_(pa.large_string()))),
            "number": pa.array([1, None, 3], pa.int64()),
            "raw": pa.array([b"\xff", b"", None]),
            "scores": pa.array([[1.5], [2.5, 3.5], []], pa.list_(pa.float32())),
        }
    )
    content = BytesIO()
    pq.write_table(table, content)
    (read,) = read_tables(content, [3])
    assert read.equals(table) and read.schema.types == table.schema.types


def test_what_is_no_parquet_file_is_refused() -> None:
    with pytest.raises(UnfitRows, match="not a readable Parquet file"):
        next(read_tables(BytesIO(b"PAR1"), [1]))
