"""Access to a model hub over HTTP. Errors of the hub become `ProbingError`s."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, ModelInfo, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from probing.errors import ModelNotFound, SourceUnavailable, UnsupportedModel
from probing.files.folders import space

TIMEOUT = 10  # seconds until the hub counts as not answering


@dataclass(frozen=True)
class HubClient:
    """A hub: its address, a token for it if there is one, and the folder in which downloaded files are kept.

    Without a folder, huggingface_hub keeps them in the user's cache. A `commit` of "" means the newest one.
    """

    endpoint: str
    token: str = ""
    cache: Path | None = None

    def describe(self, hub_id: str, commit: str = "") -> ModelInfo:
        """Return the hub's description of a model, with the sizes of its files."""
        with hub_errors(hub_id, self.endpoint):
            api = HfApi(endpoint=self.endpoint, token=self.token or False)
            return api.model_info(hub_id, revision=commit or None, files_metadata=True, timeout=TIMEOUT)

    def download(self, hub_id: str, commit: str, patterns: Sequence[str]) -> Path:
        """Download the files of a model that match one of the patterns; return the folder that holds them."""
        with hub_errors(hub_id, self.endpoint), space(self.cache or Path.home()):
            folder = snapshot_download(
                hub_id,
                revision=commit or None,
                allow_patterns=list(patterns),
                cache_dir=self.cache,
                endpoint=self.endpoint,
                token=self.token or False,
                etag_timeout=TIMEOUT,
            )
        return Path(folder)

    def download_file(self, hub_id: str, commit: str, name: str) -> Path:
        """Download one file of a model; return where it is."""
        with hub_errors(hub_id, self.endpoint), space(self.cache or Path.home()):
            path = hf_hub_download(
                hub_id,
                name,
                revision=commit or None,
                cache_dir=self.cache,
                endpoint=self.endpoint,
                token=self.token or False,
                etag_timeout=TIMEOUT,
            )
        return Path(path)


@contextmanager
def hub_errors(hub_id: str, endpoint: str) -> Iterator[None]:
    """Turn errors of the hub into `ProbingError`s; only a hub that does not answer is worth another try."""
    try:
        yield
    except GatedRepoError as error:
        raise UnsupportedModel(
            f"{hub_id} is gated: its files need an agreement.", "Choose a model that anyone can download."
        ) from error
    except (RepositoryNotFoundError, RevisionNotFoundError, DisabledRepoError, HFValidationError) as error:
        raise ModelNotFound(
            f"There is no public model {hub_id} at {endpoint}, and no such file or folder here.",
            "Check the spelling: org/name, a folder, or a file that ends in .gguf.",
        ) from error
    except LocalEntryNotFoundError as error:
        raise _unavailable(endpoint) from error
    except EntryNotFoundError as error:
        raise UnsupportedModel(f"A file of {hub_id} is missing at the hub.", "Check the repository.") from error
    except (HfHubHTTPError, HTTPError, ConnectionError) as error:
        raise _unavailable(endpoint) from error


def _unavailable(endpoint: str) -> SourceUnavailable:
    return SourceUnavailable(f"The hub at {endpoint} does not answer.", "Try again later, or give a folder.")
