"""Writing of long tables: the same rows in every format, a piece at a time."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.errors import BadInput
from probing.sentences.sentence_files import refuse_bad_target, write_csv, write_tables

TABLES = [
    pd.DataFrame({"text": pd.Series([], dtype="str"), "value": pd.Series([], dtype="float64")}),
    pd.DataFrame({"text": ['a, "b"\nc', "東京"], "value": [1.5, float("nan")]}),
    pd.DataFrame({"text": ["ا"], "value": [1 / 3]}),
]
WHOLE = pd.concat(TABLES, ignore_index=True)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_file_has_the_rows_of_all_tables(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table.{ending}"
    write_tables(iter(TABLES), path)
    read: dict[str, Any] = {
        "csv": pd.read_csv,
        "jsonl": lambda file: pd.read_json(file, lines=True),
        "parquet": pd.read_parquet,
    }
    pd.testing.assert_frame_equal(read[ending](path), WHOLE, check_dtype=False)


def test_a_file_that_cannot_be_finished_is_absent(tmp_path: Path) -> None:
    def broken() -> Iterator[pd.DataFrame]:
        yield TABLES[1]
        raise BadInput("The line is not UTF-8.")

    with pytest.raises(BadInput):
        write_tables(broken(), tmp_path / "table.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_and_an_unknown_ending_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        refuse_bad_target(tmp_path / "table.csv")
    with pytest.raises(BadInput, match=r"table\.xls has no known ending\. Choose from: \.csv, \.jsonl, \.parquet\."):
        refuse_bad_target(tmp_path / "table.xls")


def test_tables_are_taken_one_at_a_time() -> None:
    held: list[int] = []

    def tables() -> Iterator[pd.DataFrame]:
        for _ in range(3):
            held.append(len(file.getvalue()))
            yield TABLES[1]

    file = io.BytesIO()
    write_csv(tables(), file)
    assert held[0] < held[1] < held[2]
