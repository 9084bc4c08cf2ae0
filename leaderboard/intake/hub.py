"""Models that can be submitted: those of the hub, over HTTP, and those of a local folder, with the same form of id."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from probing.errors import ModelNotFound, NoSpace, UnsafeModel, UnsupportedModel
from probing.files.folders import new_file
from probing.files.hub_client import HubClient
from probing.files.model_files import INDEX, wanted, weight_files

JSON_LIMIT = 50 * 10**6  # bytes; the largest weight index of a known model has a tenth of that
JSON_DEPTH = 20


@dataclass(frozen=True)
class Listing:
    """A model as the hub or the local folder describes it; nothing is downloaded for it.

    `files` maps names to sizes in bytes. `folder` is the folder of a local model, None for one of the hub.
    """

    hub_id: str
    commit: str
    files: Mapping[str, int] = field(default_factory=dict)
    folder: Path | None = None
    public: bool = True
    licence: str = ""

    @property
    def gguf(self) -> Path | None:
        """The GGUF file of a local model that has exactly one. GGUF files of the hub are never read."""
        names = [name for name in self.files if name.endswith(".gguf")]
        return self.folder / names[0] if self.folder and len(names) == 1 else None

    @property
    def wanted(self) -> list[str]:
        """The names of the files that a run needs. No other file is ever downloaded."""
        return wanted(self.files)


def find(hub_id: str, commit: str = "") -> Listing:
    """Return the listing of a local model, or else of a model of the hub, at `commit` or as it is now."""
    folder = settings.MODELS / hub_id
    if "/" not in hub_id or ".." in hub_id or not folder.is_dir():
        return _find_on_hub(hub_id, commit)
    listing = _find_local(hub_id, folder)
    if commit not in ("", listing.commit):
        raise ModelNotFound(f"The local files of {hub_id} have changed since they were submitted.", "Submit it again.")
    return listing


def read_json(listing: Listing, name: str) -> dict[str, Any]:
    """Read a JSON object among the model's files; refuse one that is too large or nested too deeply."""
    if listing.files.get(name, 0) > JSON_LIMIT:
        raise UnsafeModel(f"{name} of {listing.hub_id} is larger than {JSON_LIMIT:,} bytes.", "Repair the file.")
    try:
        content = json.loads(_fetch(listing, name).read_bytes())
        _check_depth(content, name)
    except (ValueError, RecursionError) as error:
        raise UnsupportedModel(f"{name} of {listing.hub_id} is not valid JSON.", "Repair the file.") from error
    if not isinstance(content, dict):
        raise UnsupportedModel(f"{name} of {listing.hub_id} is not a JSON object.", "Repair the file.")
    return content


def weight_bytes(listing: Listing) -> int:
    """Return the size of all weights, before any of them is downloaded."""
    if listing.gguf:
        return listing.files[listing.gguf.name]
    names = weight_files(listing.hub_id, listing.files, lambda: read_json(listing, INDEX))
    return sum(listing.files[name] for name in names)


def download(listing: Listing) -> Path:
    """Download what a run needs at the pinned commit; return what `scoring.load` takes, a folder or a GGUF file."""
    if listing.folder:
        return listing.gguf or listing.folder
    settings.HUB_CACHE.mkdir(parents=True, exist_ok=True)
    needed = sum(listing.files[name] for name in listing.wanted)
    if shutil.disk_usage(settings.HUB_CACHE).free < needed + 10**9:
        raise NoSpace(f"The disk has no room for the {needed / 1e9:.1f} GB of {listing.hub_id}.", "Free some space.")
    return _client().download(listing.hub_id, listing.commit, listing.wanted)


def local_ids() -> list[str]:
    """Return the ids of the local models."""
    folders = settings.MODELS.glob("*/*")
    return sorted(f"{f.parent.name}/{f.name}" for f in folders if (f / "config.json").exists() or any(f.glob("*.gguf")))


def _client() -> HubClient:
    return HubClient(settings.HF_ENDPOINT, settings.HF_TOKEN, settings.HUB_CACHE)


def _find_on_hub(hub_id: str, commit: str) -> Listing:
    info = _client().describe(hub_id, commit)
    card = info.card_data.to_dict() if info.card_data else {}
    return Listing(
        hub_id=info.id,
        commit=info.sha or "",
        files={file.rfilename: file.size or 0 for file in info.siblings or []},
        public=not (info.private or info.gated or info.disabled),
        licence=str(card.get("license") or ""),
    )


def _find_local(hub_id: str, folder: Path) -> Listing:
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    digests = _digests(paths)
    content = "".join(f"{path.name} {digests[str(path)]}\n" for path in paths)
    return Listing(
        hub_id=hub_id,
        commit=hashlib.sha256(content.encode()).hexdigest(),
        files={path.name: path.stat().st_size for path in paths},
        folder=folder,
    )


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


def _fetch(listing: Listing, name: str) -> Path:
    """Return the path of one of the model's files, downloaded if it is at the hub."""
    if name not in listing.files:
        raise UnsupportedModel(f"{listing.hub_id} has no {name}.", "Save the model with save_pretrained.")
    if listing.folder:
        return listing.folder / name
    return _client().download_file(listing.hub_id, listing.commit, name)


def _check_depth(content: Any, name: str, depth: int = 0) -> None:
    if depth > JSON_DEPTH:
        raise UnsafeModel(f"{name} is nested more than {JSON_DEPTH} levels deep.", "Repair the file.")
    children = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for child in children:
        _check_depth(child, name, depth + 1)
