"""A model's files: finding or downloading them, and refusing those that could run code.

Models are untrusted input: weights must be safetensors, never pickles, and code from a repository is never run. A model
is loaded from a temporary folder with only the files and config keys that were checked.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from huggingface_hub import get_token

from probing.errors import BadInput, ModelNotFound, SourceUnavailable, first_named
from probing.files.description import describe, loaded_files, require_fast_tokenizer, text_part_of, weight_index
from probing.files.folders import missing_path, near_path
from probing.files.hub import HubClient
from probing.files.listing import (
    CONFIG,
    INDEX,
    TOKENIZER,
    TOKENIZER_CONFIG,
    TOKENIZER_FILES,
    Listing,
    files_to_load,
    folder_listing,
    hub_listing,
    vocabulary,
)
from probing.revisions import position

HUB_GGUF = "gguf:"  # with which the name of a GGUF file at the hub begins: gguf:org/name:Q4_K_M
PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
NAMED = 10  # GGUF files that a message names
CODE = "auto_map"  # the one key for code that is not refused, if transformers knows the type of the model


@dataclass(frozen=True)
class ModelFiles:
    """A model's files on this disk: a folder in Hugging Face format, or one GGUF file in it.

    `tokenizer`: the folder that the tokenizer's files lie in, if it is another one.
    """

    folder: Path
    source: Literal["hub", "folder", "gguf"]
    gguf: str = ""
    commit: str = ""
    tokenizer: Path | None = None

    @property
    def names(self) -> list[str]:
        """The names of the files that are loaded; no other file of the folder is read."""
        return [self.gguf] if self.gguf else loaded_files(self.listing())

    def path(self, name: str) -> Path:
        """Return where a file is, links followed; raise `UnsafeLink` if that is elsewhere."""
        return self.listing().path(name)

    def listing(self) -> Listing:
        """Return the listing of the files as they are now."""
        return folder_listing(self.folder, commit=self.commit, tokenizer=self.tokenizer)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file that is loaded."""
        digests = {}
        for name in self.names:
            with self.path(name).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        return digests


def locate(model: str, commit: str = "", any_head: bool = False, tokenizer: str = "") -> ModelFiles:
    """Find the model's GGUF file or folder, else download the model of that id from the hub.

    `gguf:org/name:Q4_K_M` downloads the one GGUF file of a repository whose name ends in the level, and nothing else.
    The hub's files are checked by `describe` before they are downloaded; those on this disk are checked by `load`.
    `commit`: of a hub model; the newest if empty. `any_head`: as `describe` takes it. `tokenizer`: the folder or hub id
    whose tokenizer a folder is read with, in place of its own. A checkpoint without one, such as `checkpoint-500`, is
    read with that of the folder around it.
    """
    path = Path(model)
    if tokenizer:
        refuse_own_tokenizer(model)
    if model.startswith(HUB_GGUF):
        return _download_gguf(model, commit)
    if commit and path.exists():
        raise BadInput(f"{model} is on this disk, where it has no commits.", "Leave the commit out.")
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ModelNotFound(*missing_path(path, "file"))
        return ModelFiles(path.parent, "gguf", path.name)
    if path.is_dir():
        files = sorted(path.glob("*.gguf"))
        if len(files) == 1 and not (path / "config.json").exists():
            return ModelFiles(path, "gguf", files[0].name)
        return ModelFiles(path, "folder", tokenizer=tokenizer_folder(tokenizer) if tokenizer else _around(path))
    if path.is_file():
        raise ModelNotFound(f"{model} is a file.", "Give the folder that it lies in, or a file that ends in .gguf.")
    folder = _download(model, commit, partial(download, any_head=any_head))
    return ModelFiles(folder, "hub", commit=folder.name)


def refuse_own_tokenizer(model: str) -> None:
    """Raise `BadInput` where a model cannot be read with a tokenizer from elsewhere, because it is no folder."""
    if not Path(model).is_dir():
        raise BadInput("This model has its own tokenizer.", "Leave tokenizer out: it is for folders and networks.")


def has_tokenizer(folder: Path) -> bool:
    """Tell whether a folder holds the files of a fast tokenizer."""
    names = [path.name for path in folder.iterdir()]
    return TOKENIZER in names or bool(vocabulary(names))


def _around(folder: Path) -> Path | None:
    """Return the folder around a checkpoint that has no tokenizer, if there is one in it."""
    around = folder.resolve().parent
    if has_tokenizer(folder) or position(folder.resolve().name) is None or not has_tokenizer(around):
        return None
    return around


def tokenizer_folder(name: str) -> Path:
    """Return a folder with the tokenizer of a folder, or of a model of the hub, of which nothing else is downloaded."""
    folder = Path(name)
    if not folder.is_dir():
        listing = hub_listing(environment_client(), name)
        names = [file for file in files_to_load(listing.files) if file in TOKENIZER_FILES]
        listing.refuse_sizes(names)
        assert listing.client is not None, "it was listed with one"
        require_fast_tokenizer(listing)
        return listing.client.download(listing.hub_id, listing.commit, {file: listing.files[file] for file in names})
    if not has_tokenizer(folder):
        raise BadInput(f"{name} has no fast tokenizer (tokenizer.json).", "Give the folder that it was saved in.")
    return folder


def _download(hub_id: str, commit: str, fetch: Callable[[Listing], Path]) -> Path:
    """Return the folder into which `fetch` downloads files of a model of the hub.

    One that was downloaded before is returned even if the hub is not there.
    """
    client = environment_client()
    try:
        folder = fetch(hub_listing(client, hub_id, commit))
        if not commit:
            client.remember_newest(folder)
        return folder
    except SourceUnavailable as error:
        if earlier := client.cached(hub_id, commit):
            return earlier
        if "/" in hub_id:
            raise
        near = near_path(Path(hub_id))
        step = f"Did you mean {near!r}?" if near else error.next_step
        raise SourceUnavailable(f"{error.message} There is no folder {hub_id} here either.", step) from error


def _download_gguf(model: str, commit: str) -> ModelFiles:
    """Download the GGUF file that is named as `gguf:org/name:level`; one that is there is found without the hub too."""
    hub_id, _, level = model.removeprefix(HUB_GGUF).partition(":")

    def fetch(listing: Listing) -> Path:
        assert listing.client is not None, "it was listed with one"
        name = _gguf_of_level(hub_id, level, listing.files)
        return listing.client.download(hub_id, listing.commit, {name: listing.files[name]})

    folder = _download(hub_id, commit, fetch)
    # The folder may hold further levels of this version, which were downloaded before.
    name = _gguf_of_level(hub_id, level, [path.name for path in folder.iterdir()])
    return ModelFiles(folder, "gguf", name, folder.name)


def _gguf_of_level(hub_id: str, level: str, names: Iterable[str]) -> str:
    """Return the one GGUF file whose name ends in the level, such as Q4_K_M, or that is named itself.

    A model in several files is passed over: the reader takes one file.
    """
    files = sorted(name for name in names if name.endswith(".gguf") and "/" not in name and not PART.search(name))
    ends = re.compile(rf"(^|[-._]){re.escape(level)}(\.gguf)?$", re.IGNORECASE)
    chosen = [name for name in files if ends.search(name)] if level else files
    if len(chosen) == 1:
        return chosen[0]
    if not files:
        step = f"Choose another repository, or give {hub_id} without {HUB_GGUF!r} if it has safetensors."
        raise ModelNotFound(f"{hub_id} has no GGUF file that is a model of its own.", step)
    listed = first_named(files, NAMED)
    number = f"{len(chosen)} GGUF files" + (f" whose names end in {level}" if level else "")
    raise ModelNotFound(f"{hub_id} has {number}.", f"Name one as {HUB_GGUF}{hub_id}:LEVEL or by its name: {listed}.")


def environment_client() -> HubClient:
    """Return a client of the hub that the environment names, with the token in HF_TOKEN or of `hf auth login`."""
    return HubClient(os.environ.get("HF_ENDPOINT", "https://huggingface.co"), get_token() or "")


def download(listing: Listing, any_head: bool = False) -> Path:
    """Check a model of the hub and download the files that loading needs; return their folder."""
    assert listing.client is not None, "only models of a hub are downloaded"
    describe(listing, any_head)
    sizes = {name: listing.files[name] for name in loaded_files(listing)}
    return listing.client.download(listing.hub_id, listing.commit, sizes)


@contextmanager
def clean_folder(files: ModelFiles, listing: Listing, config: Mapping[str, Any]) -> Iterator[Path]:
    """Yield a folder that holds this config, and links to the other files that loading needs.

    Libraries read whatever lies in a model's folder (adapters, further tokenizers, templates); here they find only what
    would have been downloaded from a hub.
    """
    with folder_of({file: files.path(file) for file in loaded_files(listing)}) as folder:
        _replace(folder / CONFIG, config)
        if TOKENIZER_CONFIG in listing.files:
            _replace(folder / TOKENIZER_CONFIG, listing.read_json(TOKENIZER_CONFIG))
        if INDEX in listing.files and text_part_of(listing):
            _replace(folder / INDEX, weight_index(listing))
        yield folder


@contextmanager
def tokenizer_alone(name: str) -> Iterator[Path]:
    """Yield a folder that holds nothing but the tokenizer of a folder, or of a model of the hub."""
    listing = folder_listing(tokenizer_folder(name), name)
    files = TOKENIZER_FILES.intersection(files_to_load(listing.files))
    with folder_of({file: listing.path(file) for file in files}) as folder:
        if TOKENIZER_CONFIG in listing.files:
            _replace(folder / TOKENIZER_CONFIG, listing.read_json(TOKENIZER_CONFIG))
        yield folder


@contextmanager
def folder_of(files: Mapping[str, Path]) -> Iterator[Path]:
    """Yield a folder that holds nothing but links to these files, by their names in it."""
    with TemporaryDirectory(prefix="clozeboard-model-") as temporary:
        folder = Path(temporary)
        for name, path in files.items():
            (folder / name).symlink_to(path)
        yield folder


def _replace(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a link by a JSON file without code of its own."""
    path.unlink()
    path.write_text(json.dumps({key: value for key, value in content.items() if key != CODE}), encoding="utf-8")
