"""Lists of bare triples, as T-REx in the form of DLAMA's authors, LAMA and mLAMA have them."""

from pathlib import Path

import pytest

from probing.errors import BadBenchmark
from probing.formats.lama import holds_triples, read_triples


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("place", ["", "TREx"])
def test_each_line_is_a_triple_of_its_lists_predicate(tmp_path: Path, place: str) -> None:
    write(
        tmp_path / place / "P36.jsonl",
        '{"sub_uri": "Q142", "obj_uri": "Q90"}',
        "",
        '{"sub_uri": "Q79", "obj_uri": ["Q85"]}',
    )
    write(tmp_path / place / "templates.jsonl", "{}")
    assert holds_triples(tmp_path)
    triples = [("P36", "Q142", frozenset({"Q90"})), ("P36", "Q79", frozenset({"Q85"}))]
    assert list(read_triples(tmp_path)) == triples


def test_other_folders_hold_no_triples(tmp_path: Path) -> None:
    assert not holds_triples(tmp_path)
    write(tmp_path / "P36.jsonl", '{"sub_id": "Q142", "obj_id": "Q90"}')
    assert not holds_triples(tmp_path)


def test_a_fault_is_named_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "P36.jsonl", '{"sub_uri": "Q142", "obj_uri": "Q90"}', '{"sub_uri": "Q142"}')
    with pytest.raises(BadBenchmark, match=r"P36\.jsonl, line 2: the field 'obj_uri' is missing"):
        list(read_triples(tmp_path))
