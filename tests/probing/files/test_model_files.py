"""Where a model's files come from, what is checked before a download, and the folder from which a model is loaded."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from huggingface_hub import constants

from probing.errors import ModelNotFound, NoFastTokenizer, NoHead, SourceUnavailable, UnsafeLink, WrongSizes
from probing.files.description import describe
from probing.files.listing import folder_listing
from probing.files.model_files import clean_folder, environment_client, locate
from tests.hub.local_hub import Hub, serve
from tests.tiny_models import set_keys


@pytest.fixture
def hub(gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a copy of the model, and an empty cache."""
    with serve() as server:
        server.add("org/gpt2", copytree(gpt2, tmp_path / "served"))
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server


def test_a_model_of_the_hub_is_downloaded_with_its_chat_template(hub: Hub) -> None:
    (hub.repositories["org/gpt2"].folder / "chat_template.jinja").write_text("{{ messages }}")
    files = locate("org/gpt2")
    assert {"chat_template.jinja", "config.json", "model.safetensors", "tokenizer.json"} <= set(files.names)
    assert files.commit == hub.repositories["org/gpt2"].commit


def test_a_model_that_fails_a_check_is_not_downloaded(hub: Hub) -> None:
    set_keys(hub.repositories["org/gpt2"].folder, "config.json", architectures=["GPT2Model"])
    with pytest.raises(NoHead):
        locate("org/gpt2")
    assert not hub.downloaded("model.safetensors")
    assert locate("org/gpt2", any_head=True).source == "hub"


def test_the_token_of_a_login_is_sent_where_the_environment_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("hf_stored")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert environment_client().token == "hf_stored"
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    assert environment_client().token == "hf_environment"


def test_a_checkpoint_without_a_tokenizer_takes_that_of_the_folder_around_it(gpt2: Path, tmp_path: Path) -> None:
    training = copytree(gpt2, tmp_path / "training")
    checkpoint = copytree(gpt2, training / "checkpoint-500")
    assert locate(str(checkpoint)).tokenizer is None, "it has its own"
    for path in checkpoint.glob("tokenizer*"):
        path.unlink()
    files = locate(str(checkpoint))
    assert files.tokenizer == training.resolve()
    assert files.digests["tokenizer.json"] == locate(str(gpt2)).digests["tokenizer.json"]
    other = copytree(checkpoint, training / "notes")
    assert locate(str(other)).tokenizer is None, "its name is not that of a checkpoint"
    with pytest.raises(NoFastTokenizer) as caught:
        describe(folder_listing(other))
    assert "--tokenizer" in caught.value.next_step


@pytest.mark.parametrize("size", [-1, 0, None, "12", 1.5])
def test_a_hub_that_states_no_usable_sizes_is_refused(hub: Hub, size: object) -> None:
    hub.repositories["org/gpt2"].sizes["model.safetensors"] = size
    with pytest.raises(WrongSizes):
        locate("org/gpt2")
    assert not hub.downloaded("model.safetensors")


def test_a_file_of_another_size_than_stated_is_refused_and_removed(hub: Hub, tmp_path: Path) -> None:
    hub.repositories["org/gpt2"].sizes["tokenizer.json"] = 1000
    with pytest.raises(WrongSizes, match=r"tokenizer\.json has [\d,]+ bytes; the hub said 1,000"):
        locate("org/gpt2")
    assert not list((tmp_path / "cache").rglob("tokenizer.json"))


def test_a_model_that_was_downloaded_before_is_found_without_the_hub(hub: Hub) -> None:
    before = locate("org/gpt2")
    hub.broken = 503
    assert locate("org/gpt2") == before
    with pytest.raises(SourceUnavailable):
        locate("org/other")


def test_a_folder_is_found_and_its_files_are_digested(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("not loaded")
    files = locate(str(tmp_path))
    assert (files.folder, files.source) == (tmp_path, "folder")
    assert files.digests == {"config.json": hashlib.sha256(b"{}").hexdigest()}


def test_a_file_of_a_folder_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ModelNotFound, match=r"Give the folder that it lies in"):
        locate(str(tmp_path / "model.safetensors"))


def test_a_gguf_file_is_found_alone_or_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    for name in (tmp_path, tmp_path / "small.gguf"):
        files = locate(str(name))
        assert (files.source, files.gguf) == ("gguf", "small.gguf")
        assert list(files.digests) == ["small.gguf"]


@pytest.fixture
def levels(hub: Hub, tmp_path: Path) -> Hub:
    """A hub with a model in several levels of quantisation, one of them in two files."""
    names = ["tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf", "tiny.f16.gguf", "tiny-Q2_K-00001-of-00002.gguf", "README.md"]
    for name in names:
        (tmp_path / "levels").mkdir(exist_ok=True)
        (tmp_path / "levels" / name).write_bytes(name.encode())
    hub.add("org/levels", tmp_path / "levels")
    return hub


@pytest.mark.parametrize("name", ["Q8_0", "q8_0", "tiny-Q8_0.gguf"])
def test_of_a_gguf_repository_only_the_named_file_is_downloaded(levels: Hub, name: str) -> None:
    files = locate(f"gguf:org/levels:{name}")
    assert (files.source, files.gguf) == ("gguf", "tiny-Q8_0.gguf")
    assert files.commit == levels.repositories["org/levels"].commit
    assert files.path(files.gguf).read_bytes() == b"tiny-Q8_0.gguf"
    assert {request.rsplit("/")[-1] for request in levels.requests if ".gguf" in request} == {"tiny-Q8_0.gguf"}


def test_a_downloaded_gguf_file_is_found_without_the_hub(levels: Hub) -> None:
    files = locate("gguf:org/levels:Q8_0")
    levels.broken = 503
    assert locate("gguf:org/levels:Q8_0") == files
    with pytest.raises(ModelNotFound, match="has 0 GGUF files whose names end in f16"):
        locate("gguf:org/levels:f16")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gguf:org/levels", "org/levels has 3 GGUF files."),
        ("gguf:org/levels:Q5_0", "org/levels has 0 GGUF files whose names end in Q5_0."),
        ("gguf:org/levels:Q2_K", "org/levels has 0 GGUF files whose names end in Q2_K."),
        ("gguf:org/gpt2:Q4_1", "org/gpt2 has no GGUF file that is a model of its own."),
        ("gguf:org/none:Q4_1", "There is no public model org/none"),
        ("gguf:", "There is no public model"),
    ],
)
def test_a_level_that_is_not_there_is_refused_with_those_that_are(levels: Hub, name: str, sentence: str) -> None:
    with pytest.raises(ModelNotFound, match=sentence) as caught:
        locate(name)
    assert ("tiny-Q4_K_M.gguf, tiny-Q8_0.gguf, tiny.f16.gguf" in caught.value.next_step) == ("levels" in name)


def test_a_hub_that_is_not_there_is_a_passing_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SourceUnavailable, match="does not answer") as caught:
        locate("org/nothing-here")
    assert not caught.value.permanent


@pytest.mark.parametrize(
    ("name", "step"), [("chekpoints", r"Did you mean 'checkpoints'\?"), ("other", "Try again later")]
)
def test_a_name_that_could_be_a_folder_is_answered_with_both_where_the_hub_is_not_there(
    name: str, step: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(SourceUnavailable, match=f"does not answer.* There is no folder {name} here either. {step}"):
        locate(name)


def test_only_checked_files_and_keys_are_there(tmp_path: Path) -> None:
    for name in ("adapter_config.json", "pytorch_model.bin", "evil.py", "tokenizer.model", "tokenizer.json"):
        (tmp_path / name).write_text("content")
    (tmp_path / "config.json").write_text('{"surprise": 1}')
    (tmp_path / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["x.Y"]}, "bos_token": "<s>"}')
    files = locate(str(tmp_path))
    with clean_folder(files, files.listing(), {"model_type": "gpt2"}) as folder:
        assert {path.name for path in folder.iterdir()} == {"config.json", "tokenizer.json", "tokenizer_config.json"}
        assert json.loads((folder / "config.json").read_text()) == {"model_type": "gpt2"}
        assert json.loads((folder / "tokenizer_config.json").read_text()) == {"bos_token": "<s>"}
        assert (folder / "tokenizer.json").read_text() == "content"
    assert not folder.exists()
    assert json.loads((tmp_path / "config.json").read_text()) == {"surprise": 1}


def test_a_link_out_of_the_folder_is_neither_followed_nor_digested(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "model" / "tokenizer.json").symlink_to(tmp_path / "secret")
    files = locate(str(tmp_path / "model"))
    with pytest.raises(UnsafeLink), clean_folder(files, files.listing(), {}):
        pass
    with pytest.raises(UnsafeLink):
        _ = files.digests
