"""A model's files by name and size, their JSON with limits, and links that lead out of the folder."""

import json
from pathlib import Path

import pytest

from probing.errors import BadConfig, UnsafeLink, WrongSizes
from probing.files.listing import JSON_DEPTH, LARGEST, Listing, file_in, folder_listing, parse_json


def model(folder: Path, **files: str) -> Listing:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder_listing(folder)


def test_a_folder_is_listed_with_the_sizes_of_its_files_and_its_json_read_once(tmp_path: Path) -> None:
    (tmp_path / "nested").mkdir()
    listing = model(tmp_path, config__json="{}", notes__txt="text", __hidden="x")
    assert listing.files == {"config.json": 2, "notes.txt": 4}
    assert listing.read("notes.txt", 1, 3) == b"ex"
    with pytest.raises(BadConfig, match=r"has no tokenizer\.json"):
        listing.read("tokenizer.json", 0, 1)
    listing = model(tmp_path, config__json='{"a": 1}')
    assert listing.read_json("config.json") == {"a": 1}
    (tmp_path / "config.json").unlink()
    assert listing.read_json("config.json") == {"a": 1}
    listing = model(tmp_path, config__json="{}")
    with (tmp_path / "config.json").open("r+b") as file:
        file.truncate(10**10)
    with pytest.raises(BadConfig, match="larger than 1,000,000 bytes"):
        listing.read_json("config.json")


@pytest.mark.parametrize("name", LARGEST)
def test_a_file_over_its_limit_is_refused_by_its_size_alone(name: str) -> None:
    listing = Listing("org/name", "c", {name: LARGEST[name] + 1})
    with pytest.raises(BadConfig, match=f"{name} of org/name is larger than"):
        listing.refuse_sizes([name])
    Listing("org/name", "c", {name: LARGEST[name]}).refuse_sizes([name])


@pytest.mark.parametrize("size", [0, -1, None, "12", 1.5, True])
def test_a_size_that_is_none_is_refused(size: object) -> None:
    listing = Listing("org/name", "c", {"model.safetensors": size})  # type: ignore[dict-item]
    with pytest.raises(WrongSizes, match=r"model\.safetensors of org/name"):
        listing.refuse_sizes(["model.safetensors"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not valid JSON"),
        (b"\xff", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"7", "not a JSON object"),
        (json.dumps({"a": [[0] * 2_000_002]}).encode(), "more than 2,000,000 values"),
        (b'{"a":' * (JSON_DEPTH + 2) + b"1" + b"}" * (JSON_DEPTH + 2), "nested more than"),
    ],
)
def test_json_that_no_model_has_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(BadConfig, match=f"^here is {words}|^here has {words}"):
        parse_json("here", content)


def test_links_are_followed_inside_of_the_folder_and_of_the_hub_cache(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--org--name" / "snapshots" / "c0ffee"
    blobs = tmp_path / "models--org--name" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "abc").write_text("{}")
    (snapshot / "config.json").symlink_to("../../blobs/abc")
    (snapshot / "again.json").symlink_to("config.json")
    assert file_in(snapshot, "config.json") == file_in(snapshot, "again.json") == (blobs / "abc").resolve()


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    model(tmp_path / "real", config__json="{}")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert file_in(tmp_path / "linked", "config.json").read_text() == "{}"


@pytest.mark.parametrize("target", ["secret.json", "blobs/abc", "model-2/config.json", "weights.gguf"])
def test_a_link_to_anything_else_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / target).parent.mkdir(exist_ok=True)
    (tmp_path / target).write_text("{}")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").symlink_to(tmp_path / target)
    with pytest.raises(UnsafeLink, match=r"config\.json in .* leads out of the folder"):
        folder_listing(tmp_path / "model").read("config.json", 0, 2)


def test_a_link_to_a_gguf_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "small.gguf").write_bytes(b"GGUF")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.gguf").symlink_to(tmp_path / "package" / "small.gguf")
    assert file_in(tmp_path / "model", "model.gguf").read_bytes() == b"GGUF"
    (tmp_path / "model" / "other.gguf").symlink_to("/etc/hostname")
    with pytest.raises(UnsafeLink):
        file_in(tmp_path / "model", "other.gguf")
