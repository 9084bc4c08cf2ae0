"""Canaries stand in the files of every benchmark that ships or is curated, and change nothing that is asked."""

import json
import re
from pathlib import Path

import pytest

from probing.catalog import CATALOG, EMBEDDED, known_folder, open_benchmark
from probing.formats.canary import add_canary, canary_of, with_canary, without_canary
from tests.conftest import BearFolder

SHIPPED = [slug for slug, entry in CATALOG.items() if not entry.downloads]


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_benchmark_carries_the_canary_that_its_description_names(slug: str) -> None:
    description = (EMBEDDED / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {slug} \| (\S+) \|$", description, re.MULTILINE)
    assert row is not None
    marked = ["*sampling.json"] if slug == "graph" else ["*.jsonl"]
    files = [path for pattern in marked for path in known_folder(CATALOG[slug]).rglob(pattern)]
    assert {canary_of([path]).rpartition(" ")[2] for path in files} == {row[1]}
    assert canary_of(open_benchmark(slug).files).endswith(row[1])


def test_it_changes_no_version_and_is_the_same_for_the_same_files(bear_folder: BearFolder) -> None:
    folder = bear_folder.write()
    before = open_benchmark(folder)
    assert canary_of(before.files) == ""
    add_canary(folder)
    marked = {path: path.read_bytes() for path in folder.iterdir()}
    after = open_benchmark(folder)
    assert (after, after.digest) == (before, before.digest)
    assert "Canary GUID" in canary_of(after.files)
    add_canary(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == marked


def test_other_files_have_another_one_and_what_is_removed_is_what_was_added() -> None:
    files = {"a.jsonl": b'{"x": 1}\n{"x": 2}\n', "sampling.json": b'{\n  "seed": 0\n}\n', "b.tsv": b"x\ty\n"}
    marked = with_canary(files)
    assert {name: without_canary(content) for name, content in marked.items()} == files
    first, sampling = json.loads(marked["a.jsonl"].splitlines()[0]), json.loads(marked["sampling.json"])
    assert first["canary"] == sampling["canary"]
    assert with_canary(files | {"b.tsv": b"x\tz\n"})["a.jsonl"] != marked["a.jsonl"]


def test_a_file_that_has_something_else_under_this_name_has_no_canary(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"canary": 3}')
    assert canary_of([tmp_path / "a.jsonl"]) == ""
