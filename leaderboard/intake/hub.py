"""Where models come from: the hub over HTTP, and a folder of local models offered as if they were on it."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from huggingface_hub import HfApi, hf_hub_download, snapshot_download

from probing.errors import ModelNotFound, NoSpace, UnsafeModel, UnsupportedModel
from probing.files.folders import new_file, space
from probing.files.model_files import SHARD, hub_errors, wanted

TIMEOUT = 10  # seconds until the hub counts as not answering
JSON_LIMIT = 50 * 10**6  # bytes; the largest weight index of a known model has a tenth of it
JSON_DEPTH = 20


@dataclass(frozen=True)
class Listing:
    """A model as its source describes it, nothing downloaded: `files` maps names to sizes in bytes."""

    hub_id: str
    commit: str
    files: Mapping[str, int] = field(default_factory=dict)
    folder: Path | None = None  # of a local model
    public: bool = True
    licence: str = ""

    @property
    def gguf(self) -> Path | None:
        """The one GGUF file of a local model; GGUF from the hub is never touched."""
        names = [name for name in self.files if name.endswith(".gguf")]
        return self.folder / names[0] if self.folder and len(names) == 1 else None

    @property
    def wanted(self) -> list[str]:
        """The files that a run needs; nothing else is ever downloaded."""
        return wanted(self.files)


def find(hub_id: str, commit: str = "") -> Listing:
    """The model of that id, as it is now or at `commit`: local if that folder has it, else from the hub."""
    folder = settings.MODELS / hub_id
    if "/" not in hub_id or ".." in hub_id or not folder.is_dir():
        return _find_on_hub(hub_id, commit)
    listing = _find_local(hub_id, folder)
    if commit not in ("", listing.commit):
        raise ModelNotFound(f"The local files of {hub_id} have changed since they were submitted.", "Submit it again.")
    return listing


def read_json(listing: Listing, name: str) -> dict[str, Any]:
    """A JSON object among the model's files, of bounded size and depth."""
    if listing.files.get(name, 0) > JSON_LIMIT:
        raise UnsafeModel(f"{name} of {listing.hub_id} is larger than {JSON_LIMIT:,} bytes.")
    try:
        content = json.loads(_fetch(listing, name).read_bytes())
        _check_depth(content, name)
    except (ValueError, RecursionError) as error:
        raise UnsupportedModel(f"{name} of {listing.hub_id} is not valid JSON.", "Repair the file.") from error
    if not isinstance(content, dict):
        raise UnsupportedModel(f"{name} of {listing.hub_id} is not a JSON object.", "Repair the file.")
    return content


def weight_bytes(listing: Listing) -> int:
    """Size of all weights, known before any of them is downloaded."""
    if listing.gguf:
        return listing.files[listing.gguf.name]
    if "model.safetensors" in listing.files:
        return listing.files["model.safetensors"]
    names = read_json(listing, "model.safetensors.index.json").get("weight_map")
    if not isinstance(names, dict) or not names:
        raise UnsupportedModel(f"The weight index of {listing.hub_id} names no files.", "Save the model again.")
    for name in names.values():
        if not isinstance(name, str) or not SHARD.fullmatch(name):
            raise UnsafeModel(
                f"The weight index of {listing.hub_id} names {name!r}, which is no shard of it.",
                "Shards are named like model-00001-of-00002.safetensors and lie beside the index.",
            )
        if name not in listing.files:
            raise UnsupportedModel(f"{listing.hub_id} lacks {name}, which its index names.", "Upload the file.")
    return sum(listing.files[name] for name in set(names.values()))


def download(listing: Listing) -> Path:
    """What `scoring.load` takes: a folder with the wanted files at the pinned commit, or a GGUF file."""
    if listing.folder:
        return listing.gguf or listing.folder
    settings.HUB_CACHE.mkdir(parents=True, exist_ok=True)
    needed = sum(listing.files[name] for name in listing.wanted)
    if shutil.disk_usage(settings.HUB_CACHE).free < needed + 10**9:
        raise NoSpace(f"The disk has no room for the {needed / 1e9:.1f} GB of {listing.hub_id}.", "Free some space.")
    with hub_errors(listing.hub_id, settings.HF_ENDPOINT), space(settings.HUB_CACHE):
        path = snapshot_download(
            listing.hub_id,
            revision=listing.commit,
            allow_patterns=listing.wanted,
            cache_dir=settings.HUB_CACHE,
            endpoint=settings.HF_ENDPOINT,
            token=settings.HF_TOKEN or False,
            etag_timeout=TIMEOUT,
        )
    return Path(path)


def local_ids() -> list[str]:
    """The local models, as org/name."""
    folders = settings.MODELS.glob("*/*")
    return sorted(f"{f.parent.name}/{f.name}" for f in folders if (f / "config.json").exists() or any(f.glob("*.gguf")))


def _find_on_hub(hub_id: str, commit: str) -> Listing:
    api = HfApi(endpoint=settings.HF_ENDPOINT, token=settings.HF_TOKEN or False)
    with hub_errors(hub_id, settings.HF_ENDPOINT):
        info = api.model_info(hub_id, revision=commit or None, files_metadata=True, timeout=TIMEOUT)
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
    """SHA-256 of each file, remembered in the data folder until its size or time of change differs."""
    memory = settings.DATA / "digests.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    found = {}
    for path in paths:
        state = [path.stat().st_size, path.stat().st_mtime_ns]
        old = known.get(str(path))
        if not old or old[:2] != state:
            with path.open("rb") as file:
                old = [*state, hashlib.file_digest(file, "sha256").hexdigest()]
        found[str(path)] = old
    if any(known.get(path) != entry for path, entry in found.items()):
        with new_file(memory) as new:
            new.write_text(json.dumps({**known, **found}))
    return {path: entry[2] for path, entry in found.items()}


def _fetch(listing: Listing, name: str) -> Path:
    if name not in listing.files:
        raise UnsupportedModel(f"{listing.hub_id} has no {name}.", "Save the model with save_pretrained.")
    if listing.folder:
        return listing.folder / name
    with hub_errors(listing.hub_id, settings.HF_ENDPOINT):
        path = hf_hub_download(
            listing.hub_id,
            name,
            revision=listing.commit,
            cache_dir=settings.HUB_CACHE,
            endpoint=settings.HF_ENDPOINT,
            token=settings.HF_TOKEN or False,
            etag_timeout=TIMEOUT,
        )
    return Path(path)


def _check_depth(content: Any, name: str, depth: int = 0) -> None:
    if depth > JSON_DEPTH:
        raise UnsafeModel(f"{name} is nested more than {JSON_DEPTH} levels deep.")
    children = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for child in children:
        _check_depth(child, name, depth + 1)
