"""Selection of the files of a model that are loaded, and of those that hold the weights."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from probing.errors import BadWeights, UnsafeModel
from probing.files.listing import INDEX, LARGEST, SINGLE, TOKENIZER, VOCABULARIES

SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
WEIGHTS = (SINGLE, INDEX)
LOADED = {*LARGEST, SINGLE}.difference(*VOCABULARIES)


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
            "Save the model with save_pretrained and use its model.safetensors.",
        )
