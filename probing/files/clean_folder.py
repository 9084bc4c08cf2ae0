"""A temporary folder from which a checked model is loaded, with only the files and config keys that were checked."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from probing.files.listing import CONFIG, TOKENIZER_CONFIG, Listing
from probing.files.model_files import ModelFiles
from probing.files.selection import files_to_load

CODE = "auto_map"  # the one key for code that is not refused, if transformers knows the type of the model


@contextmanager
def clean_folder(files: ModelFiles, listing: Listing, config: Mapping[str, Any]) -> Iterator[Path]:
    """Yield a folder that holds this config, and links to the other files that loading needs.

    Libraries read whatever lies in a model's folder (adapters, further tokenizers, templates); here they find only what
    would have been downloaded from a hub.
    """
    with TemporaryDirectory(prefix="clozeboard-model-") as name:
        folder = Path(name)
        for file in files_to_load(listing.files):
            (folder / file).symlink_to(files.path(file))
        _replace(folder / CONFIG, config)
        if TOKENIZER_CONFIG in listing.files:
            _replace(folder / TOKENIZER_CONFIG, listing.read_json(TOKENIZER_CONFIG))
        yield folder


def _replace(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a link by a JSON file without code of its own."""
    path.unlink()
    path.write_text(json.dumps({key: value for key, value in content.items() if key != CODE}), encoding="utf-8")
