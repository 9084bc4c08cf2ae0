"""Models that can be submitted: those of the hub, over HTTP, and those of a local folder, with the same form of id."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from leaderboard.intake import model_cache
from probing.errors import ModelNotFound
from probing.files import adapters, model_files
from probing.files.description import weights_of
from probing.files.folders import new_file
from probing.files.hub_client import HubClient
from probing.files.listing import Listing, file_in, folder_listing, hub_listing


def find(hub_id: str, commit: str = "") -> Listing:
    """Return the listing of a local model, or else of a model of the hub, at `commit` or as it is now."""
    if not is_local(hub_id):
        return hub_listing(_client(), hub_id, commit)
    listing = _find_local(hub_id, settings.MODELS / hub_id)
    if commit not in ("", listing.commit):
        raise ModelNotFound(f"The local files of {hub_id} have changed since they were submitted.", "Submit it again.")
    return listing


def find_adapter(name: str, commit: str = "") -> Listing:
    """Return the listing of a LoRA adapter, at `commit` or at the revision in its name, `org/name@revision`."""
    hub_id, _, revision = name.partition("@")
    return find(hub_id, commit or revision)


def is_local(hub_id: str) -> bool:
    """Tell whether the operator has put a model of this id into the folder of local models."""
    return "/" in hub_id and ".." not in hub_id and (settings.MODELS / hub_id).is_dir()


def weight_bytes(listing: Listing) -> int:
    """Return the size of all weights, before any of them is downloaded."""
    if listing.gguf:
        return listing.files[listing.gguf.name]
    return sum(listing.files[name] for name in weights_of(listing))


def download(listing: Listing) -> Path:
    """Check a model and download what a run needs at the pinned commit.

    Returns what `scoring.load` takes, a folder or a GGUF file with its links followed.
    """
    if listing.folder:
        return file_in(listing.folder, listing.gguf.name) if listing.gguf else listing.folder
    model_cache.make_room(listing)
    folder = model_files.download(listing)
    model_cache.note_use(folder)
    return folder


def download_adapter(listing: Listing) -> Path:
    """Check a LoRA adapter and download its two files at the pinned commit; return their folder."""
    return listing.folder or adapters.download_adapter(listing)


def local_ids() -> list[str]:
    """Return the ids of the local models."""
    folders = settings.MODELS.glob("*/*")
    return sorted(f"{f.parent.name}/{f.name}" for f in folders if (f / "config.json").exists() or any(f.glob("*.gguf")))


def _client() -> HubClient:
    return HubClient(settings.HF_ENDPOINT, settings.HF_TOKEN, settings.HUB_CACHE)


def _find_local(hub_id: str, folder: Path) -> Listing:
    listing = folder_listing(folder, hub_id)
    digests = _digests([folder / name for name in listing.files])
    content = "".join(f"{name} {digests[str(folder / name)]}\n" for name in listing.files)
    return replace(listing, commit=hashlib.sha256(content.encode()).hexdigest())


def _digests(paths: list[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path.

    The digests are kept in the data folder; a file is read again only if its size or modification time has changed.
    """
    store = settings.DATA / "digests.json"
    stored = json.loads(store.read_text()) if store.exists() else {}
    current = {}
    for path in paths:
        state = [path.stat().st_size, path.stat().st_mtime_ns]
        entry = stored.get(str(path))
        if not entry or entry[:2] != state:
            with path.open("rb") as file:
                entry = [*state, hashlib.file_digest(file, "sha256").hexdigest()]
        current[str(path)] = entry
    if any(stored.get(path) != entry for path, entry in current.items()):
        with new_file(store) as new:
            new.write_text(json.dumps({**stored, **current}))
    return {path: entry[2] for path, entry in current.items()}
