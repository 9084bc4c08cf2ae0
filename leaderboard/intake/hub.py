"""Models that can be submitted: those of the hub and of a local folder, their names and the headers of their files."""

import hashlib
import json
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from django.conf import settings
from gguf import GGUFReader, GGUFValueType, LlamaFileType

from leaderboard.intake import disk
from leaderboard.models import Model
from probing.errors import BadInput, BadWeights, ModelNotFound
from probing.files import adapters, model_files
from probing.files.description import weights_of
from probing.files.folders import new_file
from probing.files.hub import HubClient
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
    disk.make_room(listing)
    folder = model_files.download(listing)
    os.utime(folder)  # by which `disk.make_room` knows what was used lately
    return folder


def download_adapter(listing: Listing) -> Path:
    """Check a LoRA adapter and download its two files at the pinned commit; return their folder."""
    return listing.folder or adapters.download_adapter(listing)


def local_ids() -> list[str]:
    """A folder with a config or a GGUF file is a model."""
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


# The header of a GGUF file, read without its weights and without a NumPy array for each of its tokens.


GGUF_LENGTH = struct.Struct("<Q")  # of an array, and of a text
GGUF_TOKENS = "tokenizer.ggml.tokens"
GGUF_FAULTS = (ValueError, LookupError, OSError, ArithmeticError, struct.error)  # that broken files lead to


class HeaderReader(GGUFReader):  # type: ignore[misc]  # the package gguf has no types here
    """The reader of the package gguf, which takes a hundredth of a second for a vocabulary and not seconds."""

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[GGUFValueType]]:
        if raw_type != GGUFValueType.ARRAY or self.byte_order != "I":
            parts: tuple[int, list[Any], list[int], list[GGUFValueType]] = super()._get_field_parts(orig_offs, raw_type)
            return parts
        buffer = memoryview(self.data)
        item, count = struct.unpack_from("<IQ", buffer, orig_offs)
        types = [GGUFValueType.ARRAY, GGUFValueType(item)]
        begin = orig_offs + 12
        if types[1] == GGUFValueType.STRING:
            texts, end = _texts(buffer, begin, count)
            return end - orig_offs, texts, list(range(count)), types
        if types[1] == GGUFValueType.ARRAY:
            raise ValueError("an array of arrays")
        end = begin + count * np.dtype(self.gguf_scalar_to_np[types[1]]).itemsize
        if end > len(buffer):
            raise ValueError("an array that is longer than its file")
        return end - orig_offs, [], [], types  # nobody asks for the numbers


def _texts(buffer: memoryview, begin: int, count: int) -> tuple[list[memoryview], int]:
    """Return so many texts from a place on, and the place of their end."""
    texts = []
    for _ in range(count):
        (size,) = GGUF_LENGTH.unpack_from(buffer, begin)
        begin += GGUF_LENGTH.size + size
        if begin > len(buffer):
            raise ValueError("a text that is longer than its file")
        texts.append(buffer[begin - size : begin])
    return texts, begin


@contextmanager
def gguf_header(path: Path) -> Iterator[GGUFReader]:
    """Yield a reader of the header; raise `BadWeights` if the file is broken, also where that shows in the block."""
    try:
        yield HeaderReader(path)
    except GGUF_FAULTS as error:
        raise BadWeights(f"{path.name} is not a valid GGUF file.", "Copy it again.") from error


def text_of(reader: GGUFReader, key: str, index: int | None = None) -> str:
    """Return a text, or one of an array of texts; empty if the header lacks it."""
    field = reader.get_field(key)
    if field is None or (index is not None and not 0 <= index < len(field.data)):
        return ""
    return str(field.contents() if index is None else field.contents(index))


def number_of(reader: GGUFReader, key: str) -> int | None:
    """Return a number, None if the header lacks it."""
    field = reader.get_field(key)
    return int(field.contents()) if field else None


@lru_cache(maxsize=32)
def gguf_config(path: Path, commit: str) -> dict[str, Any]:
    """Return what the checks need from the header of a GGUF file. Several checks ask, so it is cached."""
    with gguf_header(path) as reader:
        return {
            "model_type": text_of(reader, "general.architecture"),
            "special_tokens": {
                **{name: _special_token(reader, name) for name in ("bos", "eos")},
                "chat_template": text_of(reader, "tokenizer.chat_template"),
            },
            "tokenizer": bool(reader.get_field(GGUF_TOKENS)),
            "parameters": sum(int(tensor.n_elements) for tensor in reader.tensors),
            "quantisation": _quantisation(number_of(reader, "general.file_type")),
        }


def _quantisation(file_type: int | None) -> str:
    """Return the number format that a file states for most of its weights, such as Q4_1; empty if it states none."""
    try:
        return str(LlamaFileType(file_type).name).partition("_")[2]
    except ValueError:
        return ""


def _special_token(reader: GGUFReader, name: str) -> str:
    """Return the text of a special token, empty if the file names none."""
    number = number_of(reader, f"tokenizer.ggml.{name}_token_id")
    return "" if number is None else text_of(reader, GGUF_TOKENS, number)


# Names of models as people write them: ids, addresses of pages at the hub, and names without an organisation.


HOSTS = {"huggingface.co", "www.huggingface.co", "hf.co"}
REVISION_PLACES = {"tree", "blob", "resolve", "commit", "raw"}
REVISION = re.compile(r"[\w][\w./-]{0,99}", re.ASCII)
NEWEST = "main"
SUGGESTIONS = 300


def parse_name(text: str) -> tuple[str, str]:
    """Read an id, or the address of a model's page at the hub, which may name a revision.

    Returns the id, and the revision that is meant, empty for the newest. What is neither is returned as it is;
    `checks.refuse_malformed` says what is wrong with it.
    """
    text = text.strip()
    try:
        address = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:  # such as for the brackets of an IPv6 address with none in them
        return text, ""
    hosts = HOSTS | {urlsplit(settings.HF_ENDPOINT).hostname}
    if address.hostname not in hosts:
        return text, ""
    path = [unquote(part) for part in address.path.split("/") if part]
    if path[:1] in (["datasets"], ["spaces"]):
        raise BadInput(f"This is the address of one of the {path[0]}, not of a model.", "Paste that of a model.")
    owner = 1 if len(path) > 1 and path[1] in REVISION_PLACES else 2
    marker, revision = path[owner : owner + 1], "/".join(path[owner + 1 : owner + 2])
    named = bool(marker) and marker[0] in REVISION_PLACES and revision != NEWEST
    return "/".join(path[:owner]), revision if named else ""


def refuse_revision(revision: str) -> None:
    """Raise `BadInput` if this is no name of a branch, a tag or a commit."""
    if revision and (not REVISION.fullmatch(revision) or ".." in revision):
        raise BadInput(f"{revision[:100]!a} is not a revision.", "Give a branch, a tag or a commit of the model.")


def listed_revisions(text: str) -> list[str]:
    """Read revisions that are written one per line, or with commas or spaces between them, each once."""
    return list(dict.fromkeys(name for name in re.split(r"[\s,]+", text) if name))


def full_ids(name: str) -> list[str]:
    """Return the models that this site knows by this name with an organisation in front."""
    if not name or "/" in name:
        return []
    listed = Model.objects.filter(hub_id__iendswith=f"/{name}").values_list("hub_id", flat=True).distinct()
    local = [hub_id for hub_id in local_ids() if hub_id.lower().endswith(f"/{name.lower()}")]
    return sorted({*listed, *local})


def suggestions() -> list[str]:
    """Return ids to offer while somebody types: the local models first, then those that this site has figures of."""
    listed = Model.objects.filter(hub_id__contains="/").values_list("hub_id", flat=True).distinct().order_by("hub_id")
    return list(dict.fromkeys([*local_ids(), *listed[:SUGGESTIONS]]))
