"""Access to a model hub over HTTP. Errors of the hub become `ProbingError`s."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, ModelInfo, get_session, hf_hub_download, hf_hub_url, snapshot_download
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
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from probing.errors import BadConfig, Gated, ModelNotFound, SourceUnavailable, WrongSizes
from probing.files.folders import space
from probing.files.network import AGAIN, allowance

TIMEOUT = 10  # seconds until the hub counts as not answering
LARGEST_DESCRIPTION = 10 * 10**6  # bytes of the hub's description of a model
SLOWEST = 500_000  # bytes per second; a whole download may take this long, and a minute more
ENVELOPE = 1_000_000  # bytes of headers and of repeated parts that a download may take beside the files


@dataclass(frozen=True)
class HubClient:
    """A hub: its address, a token for it if there is one, and the folder in which downloaded files are kept.

    Without a folder, huggingface_hub keeps them in the user's cache. A `commit` of "" means the newest one.
    Every method raises `SourceUnavailable`, or its subclass `SlowDownload`, if the hub does not answer in time.
    """

    endpoint: str
    token: str = ""
    cache: Path | None = None

    def _errors(self, hub_id: str) -> AbstractContextManager[None]:
        return hub_errors(hub_id, self.endpoint, bool(self.token))

    def describe(self, hub_id: str, commit: str = "") -> ModelInfo:
        """Return the hub's description of a model, with the sizes of its files."""
        with self._errors(hub_id), allowance(TIMEOUT, LARGEST_DESCRIPTION):
            api = HfApi(endpoint=self.endpoint, token=self.token or False)
            try:
                info = api.model_info(hub_id, revision=commit or None, files_metadata=True, timeout=TIMEOUT)
                names = [info.id, info.sha or "", *(file.rfilename for file in info.siblings or [])]
                if not all(isinstance(name, str) for name in names):
                    raise ValueError("names that are no texts")
                return info
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                if isinstance(error, HFValidationError):
                    raise
                raise SourceUnavailable(f"{self.endpoint} does not answer as a hub does.", AGAIN) from error

    def revisions(self, hub_id: str) -> list[str]:
        """Return the names of a model's branches and tags, each once and in order."""
        with self._errors(hub_id), allowance(TIMEOUT, LARGEST_DESCRIPTION):
            refs = HfApi(endpoint=self.endpoint, token=self.token or False).list_repo_refs(hub_id)
            names = {ref.name for ref in (*refs.branches, *refs.tags)}
        return sorted(name for name in names if isinstance(name, str))

    def read(self, hub_id: str, commit: str, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop` of a file, fewer if the file ends before."""
        url = hf_hub_url(hub_id, name, revision=commit or None, endpoint=self.endpoint)
        headers = build_hf_headers(token=self.token or False) | {"Range": f"bytes={start}-{stop - 1}"}
        limits = allowance(TIMEOUT + stop / SLOWEST, stop + ENVELOPE)
        with self._errors(hub_id), limits, get_session().stream("GET", url, headers=headers) as answer:
            if answer.status_code == 416:  # the file ends before `start`
                return b""
            hf_raise_for_status(answer)
            skipped = 0 if answer.status_code == 206 else start  # a hub may send the whole file instead
            content = bytearray()
            for chunk in answer.iter_raw():
                content += chunk
                if len(content) >= skipped + stop - start:
                    break
            return bytes(content[skipped : skipped + stop - start])

    def download(self, hub_id: str, commit: str, sizes: Mapping[str, int]) -> Path:
        """Download files of a model; return the folder that holds them.

        `sizes`: the names of the files and their sizes in bytes. Raises `WrongSizes` if a file has another size.
        """
        total = sum(sizes.values())
        limits = allowance(60 + total / SLOWEST, total + total // 10 + ENVELOPE)
        paths = []
        with self._errors(hub_id), space(self.cache or Path.home()), limits:
            for name, size in sizes.items():
                path = Path(
                    hf_hub_download(
                        hub_id,
                        name,
                        revision=commit or None,
                        cache_dir=self.cache,
                        endpoint=self.endpoint,
                        token=self.token or False,
                        etag_timeout=TIMEOUT,
                    )
                )
                _compare_size(path, size)
                paths.append(path)
        return paths[0].parent

    def remember_newest(self, folder: Path) -> None:
        """Note in the hub cache that a downloaded folder was the model's newest commit, as `cached` looks for it."""
        references = folder.parent.parent / "refs"
        references.mkdir(exist_ok=True)
        (references / "main").write_text(folder.name)

    def cached(self, hub_id: str, commit: str) -> Path | None:
        """Return the folder of a model that was downloaded earlier, or None."""
        try:
            return Path(snapshot_download(hub_id, revision=commit or None, cache_dir=self.cache, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError):
            return None


def _compare_size(path: Path, size: int) -> None:
    """Remove a downloaded file and raise `WrongSizes` if it is not as large as the hub has said."""
    actual = path.stat().st_size
    if actual != size:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise WrongSizes(
            f"{path.name} has {actual:,} bytes; the hub said {size:,}.", "Try again, or give a folder of your own."
        )


@contextmanager
def hub_errors(hub_id: str, endpoint: str, has_token: bool = False) -> Iterator[None]:
    """Turn errors of the hub into `ProbingError`s; only a hub that does not answer is worth another try."""
    try:
        yield
    except GatedRepoError as error:
        raise _gated(hub_id, endpoint, has_token) from error
    except (RepositoryNotFoundError, RevisionNotFoundError, DisabledRepoError, HFValidationError) as error:
        raise ModelNotFound(
            f"There is no public model {hub_id} at {endpoint}, and no such file or folder here.",
            "Check the spelling: org/name, a folder, or a file that ends in .gguf.",
        ) from error
    except LocalEntryNotFoundError as error:
        raise _unavailable(endpoint) from error
    except EntryNotFoundError as error:
        raise BadConfig(f"A file of {hub_id} is missing at the hub.", "Check the repository.") from error
    except (HfHubHTTPError, HTTPError, ConnectionError) as error:
        raise _unavailable(endpoint) from error


def _gated(hub_id: str, endpoint: str, has_token: bool) -> Gated:
    page = f"{endpoint}/{hub_id}"
    if has_token:
        problem = f"{hub_id} is gated, and the account of your token may not read it."
        return Gated(problem, f"Accept its conditions at {page}, and wait until access is granted.")
    problem = f"{hub_id} is gated: its files need an agreement, and there is no token that says who you are."
    return Gated(problem, f"Accept its conditions at {page}, then log in: hf auth login, or set HF_TOKEN.")


def _unavailable(endpoint: str) -> SourceUnavailable:
    return SourceUnavailable(f"The hub at {endpoint} does not answer.", AGAIN)
