"""A hub over HTTP: what is downloaded, and how its errors are reported."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, HFValidationError, LocalEntryNotFoundError

from probing.errors import BadConfig, Gated, ModelNotFound, ProbingError, SourceUnavailable
from probing.files.hub import HubClient, hub_errors
from tests.hub.local_hub import Hub, serve


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub with one model of two files."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "notes.txt").write_text("not needed")
    with serve() as server:
        server.add("org/name", tmp_path / "model")
        yield server


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> HubClient:
    return HubClient(hub.url, cache=tmp_path / "cache")


def test_a_description_has_the_commit_and_the_sizes_of_the_files(client: HubClient, hub: Hub) -> None:
    info = client.describe("org/name")
    assert info.sha == hub.repositories["org/name"].commit
    assert {file.rfilename: file.size for file in info.siblings or []} == {"config.json": 2, "notes.txt": 10}


def test_only_named_files_of_a_commit_or_the_newest_are_downloaded(client: HubClient, hub: Hub, tmp_path: Path) -> None:
    commit = hub.repositories["org/name"].commit
    folder = client.download("org/name", commit, {"config.json": 2})
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    assert folder.name == commit
    assert folder.is_relative_to(tmp_path / "cache")
    assert client.download("org/name", "", {"config.json": 2}).name == hub.repositories["org/name"].commit


@pytest.mark.parametrize(
    ("start", "stop", "content"), [(0, 10, "not needed"), (4, 8, "need"), (4, 99, "needed"), (50, 60, "")]
)
def test_a_part_of_a_file_is_read(client: HubClient, start: int, stop: int, content: str) -> None:
    assert client.read("org/name", "", "notes.txt", start, stop).decode() == content


def test_an_endless_file_is_read_as_far_as_needed(client: HubClient, hub: Hub) -> None:
    hub.repositories["org/name"].endless = {"notes.txt"}
    assert client.read("org/name", "", "notes.txt", 4, 12) == b"needed\0\0"


def test_a_missing_model_is_reported_with_the_address_of_the_hub(client: HubClient, hub: Hub) -> None:
    with pytest.raises(ModelNotFound, match=f"no public model org/other at {hub.url}"):
        client.describe("org/other")


def test_a_full_disk_is_reported_as_such(client: HubClient, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("probing.files.hub.hf_hub_download", full)
    with pytest.raises(ProbingError) as error:
        client.download("org/name", "", {"config.json": 2})
    assert error.value.code == "no-space"


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (HFValidationError("no id"), ModelNotFound),
        (LocalEntryNotFoundError("offline"), SourceUnavailable),
        (EntryNotFoundError("no file"), BadConfig),
        (ConnectionError("refused"), SourceUnavailable),
    ],
)
def test_an_error_of_the_hub_becomes_a_probing_error(error: Exception, ours: type[ProbingError]) -> None:
    with pytest.raises(ours) as caught, hub_errors("org/name", "http://hub"):
        raise error
    assert type(caught.value) is ours
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("has_token", "words", "step"),
    [
        (False, "there is no token that says who you are", "http://hub/org/name, then log in: hf auth login"),
        (True, "the account of your token may not read it", "Accept its conditions at http://hub/org/name"),
    ],
)
def test_a_gated_model_says_what_to_do_with_and_without_a_token(has_token: bool, words: str, step: str) -> None:
    refusal = httpx2.Response(403, request=httpx2.Request("GET", "http://hub"))
    with pytest.raises(Gated, match=words) as caught, hub_errors("org/name", "http://hub", has_token):
        raise GatedRepoError("gated", response=refusal)
    assert step in caught.value.next_step


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), hub_errors("org/name", "http://hub"):
        raise ZeroDivisionError
