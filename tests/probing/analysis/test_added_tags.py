"""Tags that a reader adds to results: how a file is read, and how numbers become groups."""

from pathlib import Path

import pandas as pd
import pytest

from probing.analysis.added_tags import added_columns, read_tags, with_added_tags
from probing.analysis.breakdowns import members
from probing.errors import BadInput


def groups_of(tmp_path: Path, numbers: list[object]) -> list[object]:
    """Write the numbers as those of the items of a relation, and return the group of each."""
    path = tmp_path / "tags.csv"
    pd.DataFrame({"relation": "P1", "index": range(len(numbers)), "number": numbers}).to_csv(path, index=False)
    column = read_tags(path)["number"].astype(object)
    groups: list[object] = column.where(column.notna(), None).tolist()
    return groups


def test_the_worked_example_of_the_documents(tmp_path: Path) -> None:
    groups = groups_of(tmp_path, [0, 0, 0, 0, 3, 5, 8, 20, 50, 400])
    assert groups == ["0"] * 4 + ["3–5"] * 2 + ["8–20"] * 2 + ["50–400"] * 2


@pytest.mark.parametrize(
    ("numbers", "groups"),
    [
        ([7, 7, 7, 7, 7, 7, 7, 7, 8, 1], ["7"] * 8 + ["8", "1"]),
        ([0.5, None, -2, 1000], ["0.5", None, "-2", "1,000"]),
        (
            [-6, -5, -4, -3, -2, -1, 0, 1.5, 2, 3000],
            ["-6–-5"] * 2 + ["-4–-3"] * 2 + ["-2–-1"] * 2 + ["0–1.5"] * 2 + ["2–3,000"] * 2,
        ),
        ([None, None], [None, None]),
        (["often", "", "never", "01"], ["often", None, "never", "01"]),
        ([True, False], ["True", "False"]),
    ],
)
def test_numbers_are_grouped_and_texts_are_groups(tmp_path: Path, numbers: list[object], groups: list[object]) -> None:
    assert groups_of(tmp_path, numbers) == groups


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {"relation": "P1", "template": [0, 1] * 3, "index": [0, 0, 1, 1, 2, 2], "subject": list("aabbcc")}
    )


def test_each_row_gets_the_tag_of_its_item_and_groups_keep_the_order_of_numbers(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "tags.jsonl"
    path.write_text(
        '{"relation": "P1", "index": 1, "size": 9}\n{"relation": "P1", "index": 0, "size": 10}\n'
        '{"relation": "P9", "index": 2, "size": 1}\n'
    )
    joined = with_added_tags(rows, read_tags(path))
    assert joined["size"].astype(object).fillna("").tolist() == ["10", "10", "9", "9", "", ""]
    assert members(joined, "size")["group"].unique().tolist() == ["9", "10"]


def test_tags_of_other_items_are_refused(rows: pd.DataFrame) -> None:
    tags = pd.DataFrame({"relation": "P1", "index": [0], "subject": "a", "size": "big"})
    assert with_added_tags(rows, tags)["size"].count() == 2
    with pytest.raises(BadInput, match="subjects differ"):
        with_added_tags(rows, tags.assign(subject="b"))
    with pytest.raises(BadInput, match="names none of the items"):
        with_added_tags(rows, tags.assign(relation="P2"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "cannot be read as tags"),
        ("a.csv", "relation,size\nP1,3\n", "cannot be read as tags"),
        ("a.parquet", "relation,index,size\n", "cannot be read as tags"),
        ("a.csv", "relation,index,subject\nP1,0,a\n", "no column with a tag"),
        ("a.csv", "relation,index,size\nP1,0,1\nP1,0,2\n", "has an item twice"),
    ],
)
def test_a_file_without_tags_is_refused(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=message):
        read_tags(tmp_path / name)


def test_a_table_in_parquet_is_read_as_well(tmp_path: Path) -> None:
    pd.DataFrame({"relation": ["P1"], "index": [0], "kind": ["river"]}).to_parquet(tmp_path / "tags.parquet")
    assert read_tags(tmp_path / "tags.parquet")["kind"].tolist() == ["river"]


def test_the_columns_of_former_versions_count_as_added() -> None:
    assert "exposure_count" in added_columns({}) and "popularity" in added_columns({"added_tags": []})
    assert "size" in added_columns({"added_tags": {"size": "0" * 64}}) and "size" not in added_columns({})
