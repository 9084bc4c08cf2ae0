"""Conversion of pickled weights (`pytorch_model.bin`) into safetensors, the only format that is loaded.

A pickle may run code. It is read in another process with limits of time and memory, by torch's reader of weights, which
refuses everything but tensors. Tensors that share their memory, as tied embeddings do, are written once.
"""

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from probing.errors import BadInput, BadWeights, UnsafeModel
from probing.extras import require_scoring
from probing.files.folders import new_file
from probing.files.limited_process import LimitedProcess
from probing.files.listing import INDEX, SINGLE, WEIGHTS, file_in, parse_json

PICKLE = "pytorch_model.bin"
PICKLE_INDEX = "pytorch_model.bin.index.json"
PICKLE_SHARD = re.compile(r"pytorch_(model-\d+-of-\d+)\.bin")
PROGRAM = "probing.scoring.pickle_reading"
START_MEMORY = 2 * 2**30  # bytes, for the program itself
MEMORY_PER_BYTE = 4  # of a pickle: as it is read, as separate tensors, and as they are written
START_SECONDS = 60.0
BYTES_PER_SECOND = 10**7
AGAIN = "Download it again, or ask its author for safetensors."


def convert(folder: Path) -> list[Path]:
    """Write the weights of a folder as safetensors beside its pickles; return the new files.

    Raises `BadInput` where there is nothing to convert, `UnsafeModel` if a pickle holds more than tensors, and
    `BadWeights` if it cannot be read. Then nothing is written.
    """
    targets = _targets(folder)
    require_scoring()
    with ExitStack() as stack:
        # They get their names at the end of the block, in the opposite order: the index last, which names the others.
        index = stack.enter_context(new_file(folder / INDEX)) if len(targets) > 1 else None
        weight_map: dict[str, str] = {}
        for source, target in targets.items():
            tensors = _converted(folder, source, stack.enter_context(new_file(folder / target)))
            weight_map.update(dict.fromkeys(tensors, target))
        if index:
            index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}), encoding="utf-8")
    return [folder / name for name in ([INDEX] if len(targets) > 1 else []) + list(targets.values())]


def _targets(folder: Path) -> Mapping[str, str]:
    """Return the names of the pickles of a folder, each with that of the file that it becomes."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}.", "Name the folder that holds the model's files.")
    if any((folder / name).exists() for name in WEIGHTS):
        raise BadInput(f"{folder} has safetensors weights already.", "Use it as it is.")
    if (folder / PICKLE).exists():
        return {PICKLE: SINGLE}
    if not (folder / PICKLE_INDEX).exists():
        raise BadInput(f"{folder} has no {PICKLE} and no {PICKLE_INDEX}.", "Name the folder of a model that has one.")
    named = parse_json(PICKLE_INDEX, file_in(folder, PICKLE_INDEX).read_bytes()).get("weight_map")
    shards = sorted(set(map(str, named.values()))) if isinstance(named, Mapping) else []
    if not shards or not all(PICKLE_SHARD.fullmatch(name) for name in shards):
        raise BadWeights(f"{PICKLE_INDEX} in {folder} names other files than pickles beside it.", AGAIN)
    if missing := [name for name in shards if not (folder / name).exists()]:
        raise BadWeights(f"{folder} lacks {missing[0]}, which its weight index names.", "Add the file.")
    return {name: PICKLE_SHARD.sub(r"\1.safetensors", name) for name in shards}


def _converted(folder: Path, source: str, target: Path) -> list[str]:
    """Convert one pickle; return the names of its tensors."""
    path = file_in(folder, source)
    size = path.stat().st_size
    seconds = START_SECONDS + size / BYTES_PER_SECOND
    limits = (START_MEMORY + MEMORY_PER_BYTE * size, int(seconds))
    try:
        with closing(LimitedProcess.of_module(PROGRAM, *map(str, limits))) as process:
            names: list[str] = process.ask({"source": str(path.absolute()), "target": str(target.absolute())}, seconds)
    except (TimeoutError, MemoryError, ChildProcessError) as error:
        reason = "takes far more time or memory than its size explains"
        raise BadWeights(f"{source} in {folder} {reason}.", AGAIN) from error
    except RuntimeError as error:
        name, text = error.args
        if name == "UnpicklingError":
            raise UnsafeModel(f"{source} in {folder} holds more than tensors, and is not read.", AGAIN) from error
        reason = " ".join(text.split())[:200].rstrip(".: ") or name
        raise BadWeights(f"{source} in {folder} cannot be converted: {reason}.", AGAIN) from error
    return names
