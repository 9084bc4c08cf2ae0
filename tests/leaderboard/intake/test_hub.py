"""What the site reads of a model at the hub or in a local folder, and the models that are kept on the disk."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from gguf import GGUFWriter
from pytest_django.fixtures import Settings

from leaderboard.intake import hub
from leaderboard.intake.disk import remove_abandoned, remove_abandoned_downloads, temporary_files
from leaderboard.intake.hub import (
    full_ids,
    gguf_config,
    listed_revisions,
    parse_name,
    refuse_revision,
    suggestions,
)
from leaderboard.models import Benchmark, Model, Run
from probing.errors import BadInput, BadWeights, ModelNotFound, NoSpace, SourceUnavailable
from probing.files.listing import files_to_load
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def local(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


def test_a_model_is_listed_without_a_download(local_hub: Hub) -> None:
    listing = hub.find("org/causal")
    assert (listing.hub_id, listing.public, listing.licence) == ("org/causal", True, "mit")
    assert listing.commit == local_hub.repositories["org/causal"].commit
    assert listing.files["model.safetensors"] > 100_000
    assert len(local_hub.requests) == 1


def test_a_hub_that_is_not_there_does_not_answer() -> None:
    with pytest.raises(SourceUnavailable, match="does not answer"):
        hub.find("org/causal")


def test_a_hub_that_stops_answering_between_two_requests_is_reported_as_unavailable(local_hub: Hub) -> None:
    listing = hub.find("org/causal")
    local_hub.broken = 404
    with pytest.raises(SourceUnavailable):
        listing.read_json("config.json")


def test_only_the_files_that_a_run_needs_are_downloaded(
    local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny_models["org/causal"], tmp_path / "more")
    local(folder, README__md="x", modeling__py="import os", pytorch_model__bin="pickle")
    local_hub.add("org/more", folder)
    path = hub.download(hub.find("org/more"))
    assert {file.name for file in path.iterdir()} == {
        "config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert (path / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


def test_a_commit_that_is_gone_is_not_found(local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    local_hub.add("org/moving", shutil.copytree(tiny_models["org/causal"], tmp_path / "moving"))
    commit = hub.find("org/moving").commit
    (tmp_path / "moving" / "config.json").write_text("{}")
    with pytest.raises(ModelNotFound):
        hub.find("org/moving", commit)


@pytest.mark.django_db
def test_a_full_disk_is_reported_before_the_download(local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = hub.find("org/causal")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 0))
    with pytest.raises(NoSpace, match="no room"):
        hub.download(listing)
    assert not local_hub.downloaded("model.safetensors")


def test_the_size_is_the_sum_of_the_shards_that_the_index_names(data: Path) -> None:
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    index = json.dumps({"weight_map": dict(enumerate([*names, names[0]]))})
    folder = local(data / "models/org/two", **{"model.safetensors.index__json": index})
    for name in names:
        (folder / name).write_bytes(bytes(1000))
    assert hub.weight_bytes(hub.find("org/two")) == 2000


def test_local_models_come_before_the_hub_and_are_pinned_by_their_content(local_hub: Hub, data: Path) -> None:
    folder = local(data / "models/org/causal", config__json="{}")
    first = hub.find("org/causal")
    assert first.folder == folder
    assert local_hub.requests == []
    local(folder, config__json='{"a": 1}')
    assert hub.find("org/causal").commit != first.commit
    with pytest.raises(ModelNotFound, match="changed since"):
        hub.find("org/causal", first.commit)


def test_a_local_model_is_read_once_for_its_digest(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local(data / "models/org/name", config__json="{}")
    commit = hub.find("org/name").commit
    monkeypatch.setattr("hashlib.file_digest", None)
    assert hub.find("org/name").commit == commit


def test_local_models_are_listed_by_their_ids(data: Path) -> None:
    local(data / "models/b/folder", config__json="{}")
    local(data / "models/a/file", **{"m__gguf": ""})
    local(data / "models/a/empty")
    assert hub.local_ids() == ["a/file", "b/folder"]


def test_a_gguf_file_is_taken_from_a_local_folder_only(local_hub: Hub, data: Path, tmp_path: Path) -> None:
    local(data / "models/org/local", **{"m__gguf": "GGUF"})
    local_hub.add("org/remote", local(tmp_path / "remote", **{"m__gguf": "GGUF"}))
    assert hub.download(hub.find("org/local")).name == "m.gguf"
    assert hub.find("org/remote").gguf is None
    assert files_to_load(hub.find("org/remote").files) == []


def test_a_gguf_file_states_its_number_format(smollm2: Path) -> None:
    config = gguf_config(smollm2, "")
    assert (config["model_type"], config["quantisation"], config["parameters"]) == ("llama", "Q4_1", 134_515_008)
    tokens = config["special_tokens"]
    assert (config["tokenizer"], tokens["bos"], tokens["eos"]) == (True, "<|im_start|>", "<|im_end|>")


@pytest.mark.parametrize("length", [4, 30, 120, 5000])
def test_a_gguf_file_that_ends_early_is_refused(length: int, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(gguf_file(tmp_path)[:length])
    with pytest.raises(BadWeights, match=r"x\.gguf is not a valid GGUF file"):
        gguf_config(tmp_path / "x.gguf", str(length))


@pytest.mark.parametrize("lie", [b"\xff" * 8, (2**40).to_bytes(8, "little")])
def test_lengths_that_a_gguf_file_lies_about_take_no_memory(lie: bytes, tmp_path: Path) -> None:
    content = gguf_file(tmp_path)
    for key, skipped in ((b"tokenizer.ggml.tokens", 8), (b"tokenizer.ggml.token_type", 8), (b"general.name", 4)):
        place = content.index(key) + len(key) + skipped
        (tmp_path / "x.gguf").write_bytes(content[:place] + lie + content[place + 8 :])
        with pytest.raises(BadWeights):
            gguf_config(tmp_path / "x.gguf", f"{key!r} {lie!r}")


def gguf_file(folder: Path) -> bytes:
    """A small GGUF file with all that the checks read."""
    writer = GGUFWriter(folder / "small.gguf", "llama")
    writer.add_name("Small")
    writer.add_token_list([f"token {number}" for number in range(500)])
    writer.add_token_types([1] * 500)
    writer.add_bos_token_id(1)
    writer.add_tensor("weight", np.zeros((4, 8), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return (folder / "small.gguf").read_bytes()


def test_the_token_is_used_only_if_there_is_one(local_hub: Hub, settings: Settings) -> None:
    settings.HF_TOKEN = "hf_secret"
    assert hub.find("org/masked").hub_id == "org/masked"


def test_ids_and_addresses_name_a_model_and_perhaps_a_revision() -> None:
    names = {
        " org/name ": ("org/name", ""),
        "gpt2": ("gpt2", ""),
        "https://huggingface.co/org/name": ("org/name", ""),
        "http://hf.co/org/name/": ("org/name", ""),
        "huggingface.co/org/name?library=transformers": ("org/name", ""),
        "https://huggingface.co/gpt2": ("gpt2", ""),
        "https://huggingface.co/gpt2/tree/v1": ("gpt2", "v1"),
        "https://huggingface.co/org/name/tree/main": ("org/name", ""),
        "https://huggingface.co/org/name/tree/v1.0": ("org/name", "v1.0"),
        "https://huggingface.co/org/name/blob/refs%2Fpr%2F1/README.md": ("org/name", "refs/pr/1"),
        "https://huggingface.co/org/name/discussions/3": ("org/name", ""),
        "https://example.org/org/name": ("https://example.org/org/name", ""),
        "[]": ("[]", ""),
    }
    assert {text: parse_name(text) for text in names} == names


def test_the_address_of_a_data_set_is_refused() -> None:
    with pytest.raises(BadInput, match="This is the address of one of the datasets"):
        parse_name("https://huggingface.co/datasets/org/name")


@pytest.mark.parametrize("revision", ["a b", "../x", "-x", "x" * 101])
def test_what_is_no_revision_is_refused(revision: str) -> None:
    with pytest.raises(BadInput, match="is not a revision"):
        refuse_revision(revision)


def test_a_revision_that_is_named_twice_is_asked_once() -> None:
    assert listed_revisions("main, v1\nmain") == ["main", "v1"]


def test_a_short_name_stands_for_the_models_of_that_name(db: None) -> None:
    make.model("openai-community/gpt2"), make.model("org/gpt2-large")
    make.model("openai-community/gpt2", commit="", source=Model.Source.PUBLISHED)
    assert full_ids("GPT2") == ["openai-community/gpt2"]
    assert full_ids("org/gpt2") == full_ids("") == []
    assert suggestions() == ["openai-community/gpt2", "org/gpt2-large"]


@pytest.fixture
def commits(local_hub: Hub, tiny_models: dict[str, Path], tmp_path: Path) -> list[str]:
    """The commits of six checkpoints of one training, whose weights differ."""
    made = []
    for step in range(6):
        folder = shutil.copytree(tiny_models["org/causal"], tmp_path / f"step{step}")
        weights = bytearray((folder / "model.safetensors").read_bytes())
        weights[-1] = step + 1
        (folder / "model.safetensors").write_bytes(weights)
        made.append(local_hub.repositories["org/causal"].add_revision(f"step{step}", folder).commit)
    return made


def downloaded(settings: Settings) -> set[str]:
    return {path.name for path in settings.HUB_CACHE.glob("models--org--causal/snapshots/*")}


def blobs(settings: Settings) -> int:
    return sum(path.stat().st_size for path in settings.HUB_CACHE.glob("models--*/blobs/*"))


def download(commit: str, moment: int) -> Path:
    """Download a commit that is used last at this moment."""
    folder = hub.download(hub.find("org/causal", commit))
    os.utime(folder, (moment, moment))
    return folder


def test_a_series_takes_no_more_than_the_limit_and_the_oldest_go_first(commits: list[str], settings: Settings) -> None:
    first, *_, last = commits
    download(first, 0)
    settings.HUB_CACHE_LIMIT = int(3.5 * blobs(settings))
    for moment, commit in enumerate(commits, start=1):
        folder = download(commit, moment)
        assert {"config.json", "model.safetensors"} <= {path.name for path in folder.iterdir()}
        assert blobs(settings) <= settings.HUB_CACHE_LIMIT
    assert first not in downloaded(settings)
    assert last in downloaded(settings)


def test_what_is_being_measured_or_was_used_lately_stays(
    commits: list[str], small: Benchmark, settings: Settings
) -> None:
    measured, used, older, new = commits[:4]
    make.run(make.model("org/causal", commit=measured), small, Run.State.SCORING)
    download(measured, 0)
    size = blobs(settings)
    for moment, commit in enumerate((used, older), start=1):
        download(commit, moment)
    download(used, 9)
    settings.HUB_CACHE_LIMIT = blobs(settings) + size // 2  # the files that all share count for a new one as well
    download(new, 10)
    assert downloaded(settings) == {measured, used, new}


def test_a_full_disk_makes_room_and_only_then_refuses(
    commits: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HUB_CACHE_LIMIT = 0
    old, new = commits[:2]
    download(old, 0)
    size = blobs(settings)

    def free() -> int:
        return 10**9 + size - blobs(settings)

    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, free()))
    download(new, 1)
    assert downloaded(settings) == {new}
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, 10**9))
    hub.download(hub.find("org/causal", new))  # it is there already
    with pytest.raises(NoSpace, match="no room"):
        hub.download(hub.find("org/causal", old))


def test_temporary_files_are_removed_with_their_folder(data: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files() as folder:
        file = Path(tempfile.mkdtemp()) / "file"
        file.write_text("text")
        assert folder in file.parents
        remove_abandoned()
        assert file.exists()
    assert not folder.exists()
    assert tempfile.gettempdir() == before


def test_the_folder_of_a_killed_process_is_removed(data: Path) -> None:
    program = (
        "import os, tempfile\nimport django\ndjango.setup()\n"
        "from leaderboard.intake.disk import temporary_files\n"
        "with temporary_files():\n    tempfile.mkstemp()\n    os._exit(9)\n"
    )
    site = {"CLOZEBOARD_DATA": str(data), "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "DEBUG": "1"}
    subprocess.run([sys.executable, "-c", program], env=site | {"PYTHONPATH": ":".join(sys.path)})
    folders = [path for path in (data / "scratch").iterdir() if path.is_dir()]
    assert len(folders) == 1
    remove_abandoned()
    assert not folders[0].exists()


def test_the_half_of_a_download_is_removed_unless_the_download_goes_on(settings: Settings) -> None:
    blobs = settings.HUB_CACHE / "models--org--name" / "blobs"
    locks = settings.HUB_CACHE / ".locks" / "models--org--name"
    for folder in (blobs, locks):
        folder.mkdir(parents=True)
    for name in ("a0.12345678.incomplete", "b1.12345678.incomplete", "c2"):
        (blobs / name).write_text("half")
    with FileLock(locks / "b1.lock"):
        remove_abandoned_downloads()
    assert sorted(path.name for path in blobs.iterdir()) == ["b1.12345678.incomplete", "c2"]
