"""Stored items: filters on every type of column, missing values, batches, and single rows."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from leaderboard.figures import item_rows
from leaderboard.figures.item_rows import ItemFilter, ItemsMissing
from leaderboard.models import Run

ROWS = pd.DataFrame(
    {
        "relation": ["P30", "P30", "P36", "P36", "P36"],
        "template": [0, 1, 0, 0, 1],
        "index": [0, 0, 0, 1, 1],
        "subject": ["Kenya", "Kenya", "Norway", None, "Ærø"],
        "answer_label": ["Africa", "Africa", "Oslo", "Kyiv", "Marstal"],
        "prediction_label": [None] * 5,  # of no type, as where no item has one
        "correct": pd.array([True, False, None, True, False], dtype="boolean"),
        "domain": [["Arts", "Places"], [], None, ["Places", None], ["Arts"]],
        "head": ["major", None, "minor", "major", "major"],
        "size": [1, 2, 3, 4, 5],
        "empty": pd.array([None] * 5, dtype="str"),
    }
)


@pytest.fixture
def run() -> Run:
    """A finished run with these rows, which is in no database."""
    return stored(ROWS)


def stored(rows: pd.DataFrame) -> Run:
    file = BytesIO()
    rows.to_parquet(file, index=False, row_group_size=3)
    storages["artefacts"].save("runs/1/items.parquet", ContentFile(file.getvalue()))
    return Run(pk=1, state=Run.State.FINISHED, artefact="runs/1")


FILTERS: list[tuple[ItemFilter, list[int]]] = [
    (ItemFilter(), [0, 1, 2, 3, 4]),
    (ItemFilter(correct=True), [0, 3]),
    (ItemFilter(correct=False), [1, 4]),
    (ItemFilter(relation="P36", template=0), [2, 3]),
    (ItemFilter(tags={"domain": "Arts"}), [0, 4]),
    (ItemFilter(tags={"domain": "Places", "head": "major"}), [0, 3]),
    (ItemFilter(tags={"head": "major"}), [0, 3, 4]),
    (ItemFilter(tags={"correct": True}), [0, 3]),
    (ItemFilter(tags={"size": "3"}), []),
    (ItemFilter(tags={"empty": "anything"}), []),
    (ItemFilter(search="AFR"), [0, 1]),
    (ItemFilter(search="ærØ"), [4]),
    (ItemFilter(search="o"), [2]),
    (ItemFilter(search="k", correct=True), [0, 3]),
    (ItemFilter(search=".*"), []),
]


def test_a_filter_finds_the_rows_that_meet_all_its_conditions(run: Run) -> None:
    for conditions, numbers in FILTERS:
        assert list(item_rows.find(run, conditions)) == numbers, conditions


def test_a_search_in_a_run_without_texts_finds_nothing() -> None:
    run = stored(pd.DataFrame({"relation": ["P30"], "template": [0], "index": [0], "subject": [7]}))
    assert item_rows.find(run, ItemFilter(search="7")) == []


def test_rows_are_read_by_their_numbers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for batch in (1, 2, 2048):
        monkeypatch.setattr(item_rows, "BATCH_ROWS", batch)
        for numbers in ([], [0], [4], [0, 2, 3], [0, 1, 2, 3, 4]):
            rows = list(item_rows.rows(run, numbers, ["size"]))
            assert rows == [{"size": number + 1} for number in numbers], batch


def test_one_item_is_read_with_all_its_columns(run: Run) -> None:
    item = item_rows.of_item(run, "P36", 1)[0]
    assert item is not None
    assert (item["answer_label"], item["domain"], set(item)) == ("Kyiv", ["Places", None], set(ROWS))
    assert item_rows.of_item(run, "P36", 7) == {}


def test_the_ends_of_a_column_are_its_least_and_greatest_value_and_none_for_a_missing_one(run: Run) -> None:
    ends = item_rows.ends(run)
    assert ends["relation"] == {"P30", "P36"}
    assert (min(ends["size"]), max(ends["size"])) == (1, 5)
    assert ends["empty"] == {None}
    assert None in ends["head"]


@pytest.mark.parametrize(
    "run",
    [
        Run(pk=1, state=Run.State.SCORING, artefact="runs/1"),
        Run(pk=1, state=Run.State.FINISHED),
        Run(pk=2, state=Run.State.FINISHED, artefact="runs/2"),
    ],
    ids=["unfinished", "published", "without a file"],
)
@pytest.mark.parametrize("read", [item_rows.names, item_rows.ends, lambda run: item_rows.find(run, ItemFilter())])
def test_a_run_without_items_raises_items_missing(run: Run, read: Callable[[Run], Any]) -> None:
    with pytest.raises(ItemsMissing):
        read(run)
