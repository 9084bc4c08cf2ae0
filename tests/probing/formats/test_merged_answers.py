"""The user's file of answers that count as one."""

from pathlib import Path

import pytest

from probing.errors import BadInput
from probing.formats.dlama import common_name, read_merged


def test_ids_and_labels_have_a_common_name_whatever_their_case(tmp_path: Path) -> None:
    path = tmp_path / "faiths.toml"
    path.write_text('Islam = ["Q432", "Muslim"]\n"Greek faith" = ["Q1"]\n')
    merged = read_merged(path)
    assert [common_name(merged, *answers) for answers in (("Q432",), ("", "MUSLIM "), ("islam",), ("Q2", "x"))] == [
        "Islam",
        "Islam",
        "Islam",
        None,
    ]
    assert common_name(merged, "Q1") == "Greek faith"


def test_an_editors_mark_in_front_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "faiths.toml").write_text('Islam = ["Q432"]\n', encoding="utf-8-sig")
    assert common_name(read_merged(tmp_path / "faiths.toml"), "Q432") == "Islam"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Islam = [", "is not TOML"),
        ('Islam = "Q432"', "Islam is no list of texts"),
        ("Islam = [432]", "Islam is no list of texts"),
        ("Islam = []", "Islam is no list of texts"),
        ('Islam = ["Q1"]\nFaith = ["q1"]', "'q1' counts as Islam and as Faith"),
        ("\udcff", "is not TOML"),
    ],
)
def test_a_fault_is_named_with_what_to_write(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "faiths.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=fault):
        read_merged(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be read.*Write lines such as"):
        read_merged(tmp_path / "none.toml")
