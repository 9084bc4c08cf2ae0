"""All checks of a model's files, and the description of the model that they give.

The site calls them one by one, before any download, to show each to the submitter; `describe` calls all of them, for
models of a hub before they are downloaded and for folders before they are loaded. They load no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from probing.errors import NoFastTokenizer, first_named
from probing.files.configs import (
    architecture_of,
    filtered,
    known_model_types,
    refuse_absurd,
    refuse_code,
    require_known_type,
)
from probing.files.listing import (
    CONFIG,
    INDEX,
    SHARD,
    TOKENIZER,
    TOKENIZER_CONFIG,
    Listing,
    files_to_load,
    vocabulary,
    weight_files,
)
from probing.files.text_parts import TextPart, of_text, probed_kind
from probing.files.weights import (
    QUANTISATION,
    Quantisation,
    Tensor,
    WeightSummary,
    joined_headers,
    read_header,
    read_quantisation,
    require_library,
    summarise,
)

NAMED_KEYS = 8  # a note names no more keys than this


@dataclass(frozen=True)
class Description:
    """What the checks have found out about a model in Hugging Face format.

    `config` has only keys that the model's family knows. `notes` are sentences for users about what was ignored.
    `quantisation`: how the weights are quantised, None where they are not. `text_part`: of a model that also sees or
    hears, which alone all of this describes.
    """

    config: Mapping[str, Any]
    weights: WeightSummary
    tensors: Mapping[str, Tensor]
    notes: tuple[str, ...]
    quantisation: Quantisation | None = None
    text_part: TextPart | None = None

    @property
    def architecture(self) -> str:
        """The name of the model class, "" if the config names none."""
        return architecture_of(self.config)


def describe(listing: Listing, any_head: bool = False) -> Description:
    """Make every check of a model's files; raise the `ProbingError` of the first that fails.

    `any_head`: accept models without a language modelling head too.
    """
    refuse_unsafe_files(listing)
    config = listing.read_json(CONFIG)
    names = weights_of(listing)
    notes = refuse_custom_code(listing, config)
    require_known_type(str(config.get("model_type") or ""))
    if not any_head:
        probed_kind(config)
    require_fast_tokenizer(listing)
    if quantisation := read_quantisation(listing.hub_id, config):
        require_library(quantisation)
    tensors = read_tensors(listing, names)
    weights = summarise(listing.hub_id, tensors, quantisation)
    kept, more_notes = usable_config(listing.hub_id, config, tensors)
    if quantisation:
        kept[QUANTISATION] = quantisation.config
    return Description(kept, weights, tensors, (*notes, *more_notes), quantisation, TextPart.of(config))


def refuse_unsafe_files(listing: Listing) -> None:
    """Refuse files without a usable size, files that are too large, and links that leave a local folder."""
    names = files_to_load(listing.files) + ([listing.gguf.name] if listing.gguf else [])
    if listing.folder:
        for name in names:
            listing.path(name)
    listing.refuse_sizes(names)


def weights_of(listing: Listing) -> list[str]:
    """Return the names of the files that hold the weights, by `weight_files`; of a text part only those."""
    return weight_files(listing.hub_id, listing.files, lambda: weight_index(listing))


def weight_index(listing: Listing) -> dict[str, Any]:
    """Return the weight index, without tensors that do not belong to the text part, if the model has one."""
    index = listing.read_json(INDEX)
    named = index.get("weight_map")
    return index | {"weight_map": of_text(named)} if text_part_of(listing) and isinstance(named, dict) else index


def text_part_of(listing: Listing) -> TextPart | None:
    """Return the text part of a model that also sees or hears, None for other models."""
    return TextPart.of(listing.read_json(CONFIG)) if CONFIG in listing.files else None


def loaded_files(listing: Listing) -> list[str]:
    """Return what loading needs, by `files_to_load`, without shards that hold nothing of the text part."""
    names = files_to_load(listing.files)
    if not text_part_of(listing):
        return names
    needed = weights_of(listing)
    return [name for name in names if not SHARD.fullmatch(name) or name in needed]


def refuse_custom_code(listing: Listing, config: Mapping[str, Any]) -> list[str]:
    """Refuse configs that ask for code; return notes on code that is ignored, as transformers knows the model."""
    model_type = config.get("model_type")
    known_type = isinstance(model_type, str) and model_type in known_model_types()
    configs = {CONFIG: config}
    if TOKENIZER_CONFIG in listing.files:
        configs[TOKENIZER_CONFIG] = listing.read_json(TOKENIZER_CONFIG)
    for name, content in configs.items():
        refuse_code(f"{name} of {listing.hub_id}", content, known_type)
    return [
        f"{name} names code of its own (auto_map); it is ignored, as transformers knows {model_type}."
        for name, content in configs.items()
        if content.get("auto_map")
    ]


def require_fast_tokenizer(listing: Listing) -> None:
    """Raise `NoFastTokenizer` if there is neither a tokenizer.json nor anything from which one can be made."""
    if TOKENIZER not in listing.files and not vocabulary(listing.files):
        elsewhere = " Or name the folder or hub id that has it: --tokenizer." if listing.folder else ""
        raise NoFastTokenizer(
            f"{listing.hub_id} has no fast tokenizer (tokenizer.json).",
            f"Load it with AutoTokenizer, save it with save_pretrained and add tokenizer.json.{elsewhere}",
        )


def read_tensors(listing: Listing, names: list[str]) -> dict[str, Tensor]:
    """Return the tensors of the files of weights by their headers; nothing else of these files is read.

    Of a model that also sees or hears, they are those of its text part.
    """
    headers = ((name, read_header(name, listing.files[name], partial(listing.read, name))) for name in names)
    tensors = joined_headers(headers)
    return of_text(tensors) if text_part_of(listing) else tensors


def usable_config(
    where: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[dict[str, Any], list[str]]:
    """Return the config without keys that the family does not know, and notes on what was left out.

    Of a model that also sees or hears, it is the config that loads its text part. Raises `BadConfig` if it describes
    another network than that of the weights.
    """
    part = TextPart.of(config)
    notes = [part.note] if part else []
    kept, dropped = filtered(part.complete_config(config, tensors) if part else config)
    refuse_absurd(where, kept, tensors)
    if not dropped:
        return kept, notes
    names = first_named([name[:60] for name in dropped], NAMED_KEYS)
    return kept, [*notes, f"Keys of config.json that transformers does not know are ignored: {names}."]
