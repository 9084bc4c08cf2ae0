"""A model's files by name and size: which are read, their JSON with limits, links, and the tokens that they name."""

import json
from pathlib import Path

import pytest

from probing.errors import BadConfig, BadInput, BadWeights, UnsafeLink, UnsafeModel, WrongSizes
from probing.files.listing import (
    JSON_DEPTH,
    LARGEST,
    Listing,
    file_in,
    files_to_load,
    folder_listing,
    parse_json,
    refuse_pickles,
    special_tokens_of,
    weight_files,
)
from probing.start_token import KNOWN_LATER, start_in_words


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


def test_only_weights_config_and_tokenizer_are_loaded() -> None:
    names = ["pytorch_model.bin", "model.safetensors", "modeling_x.py", "config.json", "tokenizer.json", "README.md"]
    assert files_to_load(names) == ["config.json", "model.safetensors", "tokenizer.json"]
    shards = ["model-00001-of-00002.safetensors", "model-1-of-2.safetensors"]
    elsewhere = ["../model-1-of-2.safetensors", "x/config.json", "adapter_model.safetensors", "model-1.bin"]
    assert files_to_load([*elsewhere, *shards]) == shards


def test_weights_must_be_safetensors() -> None:
    refuse_pickles("here", ["model.safetensors"])
    refuse_pickles("here", ["model.safetensors.index.json"])
    with pytest.raises(UnsafeModel, match="here has no safetensors"):
        refuse_pickles("here", ["pytorch_model.bin", "adapter_model.safetensors"])


def test_the_weights_are_the_single_file_or_the_shards_of_the_index() -> None:
    shards = [f"model-{number}-of-2.safetensors" for number in (1, 2)]
    names = ["model.safetensors", "model.safetensors.index.json", *shards]
    index = {"weight_map": {"b": names[3], "a": names[2], "c": names[2]}}
    assert weight_files("here", names, lambda: index) == ["model.safetensors"]
    assert weight_files("here", names[1:], lambda: index) == names[2:]
    with pytest.raises(BadWeights, match="here lacks model-2-of-2"):
        weight_files("here", names[1:3], lambda: index)


@pytest.mark.parametrize("name", ["../model-1-of-1.safetensors", "pytorch_model.bin", "/etc/passwd", 7, None])
def test_an_index_that_names_anything_but_a_shard_is_refused(name: object) -> None:
    with pytest.raises(UnsafeModel, match="not one of its shards"):
        weight_files("here", ["model.safetensors.index.json"], lambda: {"weight_map": {"a": name}})


NO_TOKENS = {"bos": "", "eos": "", "chat_template": ""}
CHATML = "{{ '<|im_start|>' + message['role'] }}"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"bos_token": "<s>", "eos_token": {"content": "</s>"}}, {"bos": "<s>", "eos": "</s>"}),
        ({"bos_token": None, "chat_template": CHATML}, {"chat_template": CHATML}),
        ({"chat_template": [{"name": "default", "template": "a"}, 1]}, {"chat_template": "a"}),
        ({"bos_token": 3, "chat_template": {"a": "b"}}, {}),
    ],
)
def test_tokens_are_read_in_each_of_their_forms(tmp_path: Path, config: dict, expected: dict) -> None:
    assert special_tokens_of(model(tmp_path, tokenizer_config__json=json.dumps(config))) == NO_TOKENS | expected


def test_a_chat_template_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    assert CHATML in special_tokens_of(model(tmp_path, chat_template__jinja=CHATML))["chat_template"]


@pytest.mark.parametrize(
    ("start", "tokens", "words"),
    [
        ("auto", ["<s>", "</s>"], "Texts start with <s> (bos)."),
        ("auto", ["", "</s>"], "Texts start with </s> (eos)."),
        ("eos", ["<s>", "</s>"], "Texts start with </s> (eos)."),
        ("auto", [], KNOWN_LATER),
        ("bos", [], KNOWN_LATER),
        ("none", ["<s>"], "No start token, as chosen."),
        ("7", ["<s>"], "Texts start with token 7, as chosen."),
    ],
)
def test_the_start_token_is_told_in_words(start: str, tokens: list[str], words: str) -> None:
    assert start_in_words(start, 100, *tokens) == words


def test_a_start_token_that_marks_roles_is_told() -> None:
    words = start_in_words("auto", None, "<|im_start|>", "<|im_end|>", CHATML)
    assert words.endswith("The chat template writes it before each role; another start token may give other figures.")
    by_name, alone = "{{ bos_token + message['role'] }}", "{{ bos_token }}"
    assert "before each role" in start_in_words("bos", None, "<s>", chat_template=by_name)
    assert "before each role" not in start_in_words("auto", None, "<s>", chat_template=alone)


def test_an_id_beyond_the_vocabulary_is_refused() -> None:
    with pytest.raises(BadInput, match="has no token 100"):
        start_in_words("100", 100)
