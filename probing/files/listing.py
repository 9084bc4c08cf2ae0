"""A model's files by name and size, at a hub or in a folder: which are loaded, and what small ones say.

Small parts of files are read without downloading the rest: among them the tokens bos and eos and the chat template,
which stand in the files that the tokenizer comes with.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from probing.errors import BadConfig, BadWeights, UnsafeLink, UnsafeModel, WrongSizes
from probing.files.hub import HubClient

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
TOKENIZER = "tokenizer.json"
TEMPLATE = "chat_template.jinja"
# Files from which transformers makes a fast tokenizer where there is no tokenizer.json; any one group suffices.
VOCABULARIES = (
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("tokenizer.model",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
)
# The largest size in bytes of each file that loading needs beside the weights.
LARGEST = {
    CONFIG: 10**6,
    "generation_config.json": 10**6,
    TOKENIZER_CONFIG: 16 * 10**6,
    TOKENIZER: 64 * 10**6,
    "special_tokens_map.json": 10**6,
    "added_tokens.json": 16 * 10**6,
    TEMPLATE: 256_000,
    INDEX: 64 * 10**6,
    **{name: 64 * 10**6 for names in VOCABULARIES for name in names},
}
# The files of a tokenizer; those of a checkpoint may lie in another folder.
TOKENIZER_FILES = frozenset(LARGEST) - {CONFIG, "generation_config.json", INDEX}
JSON_DEPTH = 20
JSON_VALUES = 2_000_000  # commas in a file: each value takes up to a hundred times its size when it is read
SAVE = "Save the model with save_pretrained."
REPAIR = "Repair the file, or save the model again."
SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
WEIGHTS = (SINGLE, INDEX)
NOT_TUNED = ("quantized", "merge")  # how a card says that a model was made from another one
LOADED = {*LARGEST, SINGLE}.difference(*VOCABULARIES)


@dataclass(frozen=True)
class Listing:
    """A model as a hub or a local folder describes it; nothing is downloaded for it.

    `files` maps names to sizes in bytes. `created`: the day on which the hub got the repository. `folder` is the folder
    of a local model, None for one at the hub of `client`.
    `tokenizer`: the folder that a local model's tokenizer lies in, if it is another one.
    `base_model`: the one model that its card says it was tuned from, if any: one that was merged or is only quantised
    has none.
    """

    hub_id: str
    commit: str
    files: Mapping[str, int] = field(default_factory=dict)
    folder: Path | None = None
    tokenizer: Path | None = None
    public: bool = True
    licence: str = ""
    created: date | None = None
    base_model: str = ""
    client: HubClient | None = field(default=None, repr=False, compare=False)
    _contents: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def gguf(self) -> Path | None:
        """The GGUF file of a local model that has exactly one. GGUF files of the hub are never read."""
        names = [name for name in self.files if name.endswith(".gguf")]
        return self.folder / names[0] if self.folder and len(names) == 1 and CONFIG not in self.files else None

    def read(self, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop` of one of the model's files, fewer if it ends before."""
        if name not in self.files:
            is_adapter = name == CONFIG and ADAPTER_CONFIG in self.files
            step = f"It is an adapter: name it behind its model, as MODEL+{self.hub_id}." if is_adapter else SAVE
            raise BadConfig(f"{self.hub_id} has no {name}.", step)
        if self.client:
            return self.client.read(self.hub_id, self.commit, name, start, stop)
        with self.path(name).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def path(self, name: str) -> Path:
        """Return where a file of a local model is, links followed; raise `UnsafeLink` if that is elsewhere."""
        is_elsewhere = self.tokenizer is not None and name in TOKENIZER_FILES
        return file_in((self.tokenizer if is_elsewhere else self.folder) or Path(), name)

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in one of the model's files, which is read once."""
        if name not in self._contents:
            limit = LARGEST.get(name, 10**6)
            if self.files.get(name, 0) > limit:
                raise _too_large(self.hub_id, name)
            content = self.read(name, 0, limit + 1)
            if len(content) > limit:
                raise _too_large(self.hub_id, name)
            self._contents[name] = parse_json(f"{name} of {self.hub_id}", content)
        return self._contents[name]

    def refuse_sizes(self, names: list[str]) -> None:
        """Raise `WrongSizes` or `BadConfig` if a file has no usable size, or one that is not accepted."""
        for name in names:
            size: Any = self.files[name]
            if type(size) is not int or size <= 0:
                raise WrongSizes(f"The hub states the size {str(size)[:20]} for {name} of {self.hub_id}.", REPAIR)
            if size > LARGEST.get(name, size):
                raise _too_large(self.hub_id, name)


def hub_listing(client: HubClient, hub_id: str, commit: str = "") -> Listing:
    """Return the listing of a model of a hub, at `commit` or as it is now."""
    info = client.describe(hub_id, commit)
    card = info.card_data.to_dict() if info.card_data else {}
    return Listing(
        hub_id=info.id,
        commit=info.sha or "",
        files={file.rfilename: 0 if file.size is None else file.size for file in info.siblings or []},
        public=not (info.private or info.gated or info.disabled),
        licence=str(card.get("license") or ""),
        created=info.created_at.date() if info.created_at else None,
        base_model="" if card.get("base_model_relation") in NOT_TUNED else _only_base(card.get("base_model")),
        client=client,
    )


def _only_base(stated: Any) -> str:
    """Return the model that a card names as the base of its own; empty where it names none, or several."""
    named = stated if isinstance(stated, list) else [stated]
    return named[0] if len(named) == 1 and isinstance(named[0], str) else ""


def folder_listing(folder: Path, name: str = "", commit: str = "", tokenizer: Path | None = None) -> Listing:
    """Return the listing of a local folder; `name`: for messages, the folder's path if empty.

    `tokenizer`: a folder whose tokenizer takes the place of this one's.
    """
    sizes = _sizes(folder)
    if tokenizer:
        sizes = {file: size for file, size in sizes.items() if file not in TOKENIZER_FILES}
        sizes |= {file: size for file, size in _sizes(tokenizer).items() if file in TOKENIZER_FILES}
    return Listing(name or str(folder), commit, sizes, folder, tokenizer)


def _sizes(folder: Path) -> dict[str, int]:
    """Return the size in bytes of each file of a folder.

    Raises `UnsafeLink` where something that loading would read is a device or a pipe, which have no end.
    """
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in paths:
        is_read = path.name in (*LARGEST, SINGLE) or path.suffix == ".gguf" or SHARD.fullmatch(path.name)
        if is_read and path.exists() and not (path.is_file() or path.is_dir()):
            raise UnsafeLink(f"{path.name} in {folder} is no file, but a device or a pipe.", "Replace it by a file.")
    return {path.name: path.stat().st_size for path in paths if path.is_file()}


def file_in(folder: Path, name: str) -> Path:
    """Return the path of a model's file, links followed; raise `UnsafeLink` if it lies outside of the folder.

    A link may also lead to the blobs of the hub cache that the folder is a snapshot in, and a link to a GGUF file to
    any other GGUF file: such a file is opened in no other way, and a person has made the link, as no hub can.
    """
    path = (folder / name).resolve()
    here = folder.resolve()
    allowed = [here]
    if here.parent.name == "snapshots":
        allowed.append(here.parent.parent / "blobs")
    if any(path.is_relative_to(folder) for folder in allowed) or path.suffix == Path(name).suffix == ".gguf":
        return path
    raise UnsafeLink(
        f"{name} in {folder} is a link that leads out of the folder.", "Replace the link by a copy of the file."
    )


def parse_json(name: str, content: bytes) -> dict[str, Any]:
    """Return the JSON object; raise `BadConfig` if it is none, or too large or too deeply nested to be one of a model.

    `name`: of the file, for messages.
    """
    if content.count(b",") > JSON_VALUES:
        raise BadConfig(f"{name} has more than {JSON_VALUES:,} values.", REPAIR)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"{name} is not valid JSON.", REPAIR) from error
    if not isinstance(value, dict):
        raise BadConfig(f"{name} is not a JSON object.", REPAIR)
    _check_depth(value, name)
    return value


def _check_depth(value: Any, name: str, depth: int = 0) -> None:
    if depth > JSON_DEPTH:
        raise BadConfig(f"{name} is nested more than {JSON_DEPTH} levels deep.", REPAIR)
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        _check_depth(child, name, depth + 1)


def _too_large(hub_id: str, name: str) -> BadConfig:
    limit = LARGEST.get(name, 10**6)
    return BadConfig(f"{name} of {hub_id} is larger than {limit:,} bytes.", REPAIR)


def files_to_load(names: Iterable[str]) -> list[str]:
    """Return the files that loading needs, sorted by name; no others are downloaded or read."""
    present = set(names)
    files = LOADED.union(() if TOKENIZER in present else vocabulary(present))
    return sorted(name for name in present if name in files or SHARD.fullmatch(name))


def vocabulary(names: Collection[str]) -> tuple[str, ...]:
    """Return the files from which a fast tokenizer can be made where there is no tokenizer.json, if there are any.

    `names`: the model's files.
    """
    return next((group for group in VOCABULARIES if set(group) <= set(names)), ())


def weight_files(where: str, names: Collection[str], read_index: Callable[[], Mapping[str, Any]]) -> list[str]:
    """Return the single file of weights, or the shards that the weight index names.

    `names`: the model's files. Raises `UnsafeModel` if there are no safetensors weights, or if the index names any file
    that is not a shard beside it: loaders would read a pickle or a file outside the folder.
    """
    refuse_pickles(where, names)
    if SINGLE in names:
        return [SINGLE]
    shards = read_index().get("weight_map")
    if not isinstance(shards, Mapping) or not shards:
        raise BadWeights(f"The weight index of {where} names no files.", "Save the model again.")
    for shard in shards.values():
        if not isinstance(shard, str) or not SHARD.fullmatch(shard):
            raise UnsafeModel(
                f"The weight index of {where} names {str(shard)[:80]!r}, which is not one of its shards.",
                "Shards are named like model-00001-of-00002.safetensors and lie beside the index.",
            )
        if shard not in names:
            raise BadWeights(f"{where} lacks {shard}, which its weight index names.", "Add the file.")
    return sorted(set(shards.values()))


def refuse_pickles(where: str, names: Iterable[str]) -> None:
    """Raise `UnsafeModel` if there are no safetensors weights."""
    if not set(WEIGHTS) & set(names):
        raise UnsafeModel(
            f"{where} has no safetensors weights; pickled ones could run code and are never loaded.",
            "If its community page at the hub offers a conversion to safetensors, name that as the commit: refs/pr/N. "
            "Else download the model and convert it: clozeboard download --convert FOLDER.",
        )


def special_tokens_of(listing: Listing) -> dict[str, str]:
    """Read `bos`, `eos` and `chat_template` of a model in Hugging Face format, empty where its files lack them."""
    config = listing.read_json(TOKENIZER_CONFIG) if TOKENIZER_CONFIG in listing.files else {}
    templates = [_template(config.get("chat_template"))]
    if TEMPLATE in listing.files:
        templates.append(listing.read(TEMPLATE, 0, LARGEST[TEMPLATE]).decode("utf-8", errors="replace"))
    tokens = {name: _text(config.get(f"{name}_token")) for name in ("bos", "eos")}
    return {**tokens, "chat_template": "\n".join(templates)}


def _text(token: object) -> str:
    """Return the text of a token, which is written as a string or as an object with its content."""
    content = token.get("content") if isinstance(token, Mapping) else token
    return content if isinstance(content, str) else ""


def _template(template: Any) -> str:
    """Return a chat template, or all of them where a model has several, one after the other."""
    if isinstance(template, list):
        return "\n".join(_template(entry.get("template")) for entry in template if isinstance(entry, Mapping))
    return template if isinstance(template, str) else ""
