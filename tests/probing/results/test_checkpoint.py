"""The finished parts of an unfinished run: read again, never mixed, and nothing of others touched."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probing.errors import BadInput
from probing.plan import Part
from probing.results.checkpoint import Partial

PART = Part("P30", 0, 2)
RECORD = {"end": "today", "batch": {"notes": ["halved"]}}


def begin(tmp_path: Path, model: str = "a", resume: bool = True) -> Partial:
    return Partial.open(tmp_path / "out", {"model": model}, resume=resume)


@pytest.fixture
def partial(tmp_path: Path) -> Partial:
    """With one part."""
    begun = begin(tmp_path)
    begun.store(PART, pd.DataFrame({"index": [0, 1]}), RECORD)
    return begun


def test_the_same_run_goes_on_from_its_parts_or_without_resumption_anew(partial: Partial, tmp_path: Path) -> None:
    again = begin(tmp_path)
    assert again.has(PART)
    assert again.rows(PART)["index"].to_list() == [0, 1]
    assert again.record(PART) == RECORD
    assert not begin(tmp_path, resume=False).has(PART)


@pytest.mark.parametrize("resume", [True, False])
def test_the_parts_of_another_run_are_kept(partial: Partial, tmp_path: Path, resume: bool) -> None:
    with pytest.raises(BadInput, match="parts of a different run"):
        begin(tmp_path, model="b", resume=resume)
    assert partial.has(PART)


def test_another_run_without_a_part_is_in_nobody_s_way(tmp_path: Path) -> None:
    begin(tmp_path)
    other = begin(tmp_path, model="b")
    other.store(PART, pd.DataFrame({"index": [0]}), RECORD)
    assert begin(tmp_path, model="b").has(PART)


@pytest.mark.parametrize("resume", [True, False])
def test_a_folder_that_is_no_run_s_is_kept(tmp_path: Path, resume: bool) -> None:
    precious = tmp_path / "out.partial" / "notes.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    with pytest.raises(BadInput, match=r"out.partial exists already"):
        begin(tmp_path, resume=resume)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"identity": '])
def test_a_record_that_cannot_be_read_is_named(partial: Partial, tmp_path: Path, content: str) -> None:
    (partial.folder / "run.json").write_text(content)
    with pytest.raises(BadInput, match=r"out.partial cannot be read. Remove it"):
        begin(tmp_path)


@pytest.mark.parametrize(("suffix", "read"), [("parquet", Partial.rows), ("json", Partial.record)])
def test_a_part_that_cannot_be_read_is_named_and_asked_again_once_removed(
    partial: Partial, suffix: str, read: Callable[[Partial, Part], object]
) -> None:
    path = partial.folder / f"P30-0.{suffix}"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(BadInput, match=rf"P30-0.{suffix} cannot be read. Remove it"):
        read(partial, PART)
    path.unlink()
    assert not partial.has(PART)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"record": 1}'])
def test_a_part_s_record_must_be_one(partial: Partial, content: str) -> None:
    (partial.folder / "P30-0.json").write_text(content)
    with pytest.raises(BadInput, match=r"P30-0.json cannot be read. Remove it"):
        partial.record(PART)
