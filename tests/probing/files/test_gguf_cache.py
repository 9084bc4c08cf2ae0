"""Kept networks of GGUF files: whole, private, unchanged and bounded in size, or not used at all."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from probing.errors import BadInput
from probing.files import gguf_cache
from probing.files.folders import alone
from probing.files.gguf_cache import GIGABYTES, IN_USE, GgufCache, key_of

SIZE = 1000


def write(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"w" * SIZE)


def write_until_the_disk_is_full(folder: Path) -> None:
    write(folder)
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def cache(tmp_path: Path) -> GgufCache:
    return GgufCache(tmp_path / "gguf", room=10 * SIZE)


def kept(cache: GgufCache, *keys: str) -> list[str]:
    return [key for key in keys if cache.find(key)]


def unused_since(cache: GgufCache, key: str, seconds: float) -> None:
    folder = cache.folder / key
    last_use = folder.stat().st_mtime - seconds
    os.utime(folder, (last_use, last_use))


def test_what_is_kept_is_found_again_and_only_its_user_can_read_or_write_it(cache: GgufCache) -> None:
    assert cache.find("key") is None
    cache.keep("key", SIZE, write)
    folder = cache.find("key")
    assert folder and (folder / "model.safetensors").read_bytes() == b"w" * SIZE
    cache.keep("key", SIZE, write)
    assert [path.stat().st_mode & 0o777 for path in (cache.folder, cache.folder / "key")] == [0o700, 0o700]


@pytest.mark.parametrize("opened", ["", "key"], ids=["cache", "network"])
def test_a_folder_that_others_can_write_to_is_not_used(cache: GgufCache, opened: str) -> None:
    cache.keep("key", SIZE, write)
    (cache.folder / opened).chmod(0o777)
    assert cache.find("key") is None


def test_a_link_to_a_folder_is_not_used(cache: GgufCache) -> None:
    cache.keep("key", SIZE, write)
    (cache.folder / "other").symlink_to(cache.folder / "key")
    assert kept(cache, "key", "other") == ["key"]


def change(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"x" * SIZE)


def add_a_file(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{}")


def lose_a_file(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def link_a_file(folder: Path) -> None:
    outside = folder.parent.parent / "outside"
    (folder / "model.safetensors").rename(outside)
    (folder / "model.safetensors").symlink_to(outside)


def damage_the_digests(folder: Path) -> None:
    (folder / "digests.json").write_text("[")


@pytest.mark.parametrize("damage", [change, add_a_file, lose_a_file, link_a_file, damage_the_digests])
def test_a_changed_network_is_not_used_and_is_replaced(cache: GgufCache, damage: Callable[[Path], None]) -> None:
    cache.keep("key", SIZE, write)
    damage(cache.folder / "key")
    assert cache.find("key") is None
    cache.keep("key", SIZE, write)
    assert cache.find("key")


def test_a_full_disk_is_no_error_and_leaves_nothing(cache: GgufCache) -> None:
    cache.keep("key", SIZE, write_until_the_disk_is_full)
    assert list(cache.folder.iterdir()) == []


def test_nothing_is_written_where_the_disk_would_be_full(cache: GgufCache, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(gguf_cache.SPARE_DISK + SIZE))
    cache.keep("key", SIZE, write)
    assert cache.find("key") is None


def test_while_another_process_keeps_something_nothing_is_kept(cache: GgufCache) -> None:
    cache.keep("earlier", SIZE, write)
    with alone(cache.folder / "writing", may_exist=True):
        cache.keep("key", SIZE, write)
        assert kept(cache, "earlier", "key") == ["earlier"]


def test_a_place_that_cannot_be_a_folder_and_a_network_larger_than_the_cache_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = GgufCache(tmp_path / "file" / "gguf", room=10 * SIZE)
    cache.keep("key", SIZE, write)
    assert cache.find("key") is None
    cache = GgufCache(tmp_path / "gguf", room=SIZE - 1)
    cache.keep("key", SIZE, write)
    assert not cache.folder.exists()


def test_what_was_used_longest_ago_is_removed_first(tmp_path: Path) -> None:
    cache = GgufCache(tmp_path / "gguf", room=3.9 * SIZE)
    for key in ("a", "b", "c"):
        cache.keep(key, SIZE, write)
    for key, hours in (("a", 2), ("b", 4), ("c", 3)):
        unused_since(cache, key, hours * 3600)
    cache.keep("d", SIZE, write)
    assert kept(cache, "a", "b", "c", "d") == ["a", "c", "d"]


def test_what_was_used_lately_is_not_removed(tmp_path: Path) -> None:
    cache = GgufCache(tmp_path / "gguf", room=1.5 * SIZE)
    cache.keep("old", SIZE, write)
    unused_since(cache, "old", 2 * IN_USE)
    assert cache.find("old")  # which is a use
    cache.keep("new", SIZE, write)
    assert kept(cache, "old", "new") == ["old"]


def test_what_a_killed_process_has_left_is_removed(cache: GgufCache) -> None:
    cache.keep("key", SIZE, write)
    (cache.folder / ".other.abcdef").mkdir()
    cache.keep("new", SIZE, write)
    assert sorted(path.name for path in cache.folder.iterdir()) == ["key", "new"]


def test_with_no_room_nothing_is_kept_or_used(
    cache: GgufCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(GIGABYTES, "1")
    usual = GgufCache.of_user()
    usual.keep("key", SIZE, write)
    monkeypatch.setenv(GIGABYTES, "0")
    off = GgufCache.of_user()
    off.keep("other", SIZE, write)
    assert (kept(usual, "key", "other"), kept(off, "key", "other")) == (["key"], [])
    assert usual.folder == tmp_path / "clozeboard" / "gguf"
    monkeypatch.setenv(GIGABYTES, "many")
    with pytest.raises(BadInput, match=r"CLOZEBOARD_GGUF_CACHE_GB is 'many'"):
        GgufCache.of_user()


def test_the_key_depends_on_the_file_the_number_format_and_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {key_of("a" * 64, "float32"), key_of("b" * 64, "float32"), key_of("a" * 64, "bfloat16")}
    assert len(keys) == 3
    monkeypatch.setattr(gguf_cache, "version", lambda name: "0")
    assert key_of("a" * 64, "float32") not in keys
