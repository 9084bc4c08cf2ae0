"""Folders that are whole or not there."""

import errno
from pathlib import Path

import pytest

from probing.errors import BadInput, NoSpace
from probing.files import folders
from probing.files.folders import alone, new_file, new_folder, replaced_folder, space


def test_a_folder_that_fails_leaves_nothing_and_another_appears_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "a") as folder:
        (folder / "file").write_text(str(1 / 0))
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "a" / "b") as folder:
        (folder / "file").write_text("x")
        assert not (tmp_path / "a" / "b").exists()
    assert (tmp_path / "a" / "b" / "file").read_text() == "x"


def test_an_empty_folder_may_be_replaced_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with new_folder(tmp_path / "a") as folder:
        (folder / "file").write_text("x")
    with pytest.raises(BadInput, match="exists already"), new_folder(tmp_path / "a"):
        pass
    assert (tmp_path / "a" / "file").read_text() == "x"


def test_a_place_where_no_folder_can_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/a cannot be written.*another place"), new_folder(tmp_path / "file" / "a"):
        pass


@pytest.mark.parametrize("place", ["/dev/null", "/proc/folder/out", "n" * 300])
def test_a_place_where_nothing_can_be_is_refused_at_once(tmp_path: Path, place: str) -> None:
    with pytest.raises(BadInput, match=r"another place"), alone(tmp_path / place):
        pass


def test_a_place_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path / "a"):
        with pytest.raises(BadInput, match="Another process is writing"), alone(tmp_path / "a"):
            pass
        with alone(tmp_path / "b"):
            pass
    with alone(tmp_path / "a"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_another_has_written_meanwhile_is_not_begun_again(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()
    with pytest.raises(BadInput, match="exists already"), alone(tmp_path / "a"):
        pass


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), new_file(target) as path:
        path.write_text("half")
        raise ZeroDivisionError
    assert target.read_text() == "old"
    with new_file(target) as path:
        path.write_text("new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(("name", "fault"), [("missing/scores.csv", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_written_is_called_by_its_own_name(name: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"^{tmp_path / name} cannot be written \({fault}"), new_file(tmp_path / name):
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(tmp_path: Path, number: int) -> None:
    with pytest.raises(NoSpace) as caught, space(tmp_path):
        raise OSError(number, "full")
    assert not caught.value.permanent


def test_other_faults_of_the_system_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), space(tmp_path):
        raise PermissionError(errno.EACCES, "no")


def folder_with(path: Path, **contents: str) -> Path:
    path.mkdir()
    for name, content in contents.items():
        (path / name).write_text(content)
    return path


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_is_replaced_and_its_other_files_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(folders.sys, "platform", "another")
    target = folder_with(tmp_path / "a", changed="old", kept="mine")
    with replaced_folder(target) as folder:
        (folder / "changed").write_text("new")
        assert (target / "changed").read_text() == "old"
    assert {path.name: path.read_text() for path in target.iterdir()} == {"changed": "new", "kept": "mine"}
    assert list(tmp_path.iterdir()) == [target]


def test_a_replacement_that_fails_changes_nothing(tmp_path: Path) -> None:
    target = folder_with(tmp_path / "a", changed="old")
    with pytest.raises(ZeroDivisionError), replaced_folder(target) as folder:
        (folder / "changed").write_text(str(1 / 0))
    assert (target / "changed").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_replacement_that_cannot_be_renamed_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without an exchange in one step, the second of three renamings fails."""
    target = folder_with(tmp_path / "a", changed="old")
    monkeypatch.setattr(folders.sys, "platform", "another")
    rename = Path.rename

    def fails(path: Path, to: Path) -> Path:
        if to == target and not path.name.endswith(".aside"):
            raise OSError(errno.EACCES, "Permission denied")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="Permission denied"), replaced_folder(target) as folder:
        (folder / "changed").write_text("new")
    assert (target / "changed").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
