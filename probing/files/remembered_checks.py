"""Self-checks that passed, remembered in the user's cache folder, so that a network is not checked at each start.

A self-check chooses the way in which work is shared. What it found is kept under a digest of all that it follows from.
Whatever is missing, damaged or not private to this user counts as not remembered, and the network is checked again.
Where no networks of GGUF files are kept, as in the processes of a site, nothing is remembered either.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from probing.errors import ProbingError
from probing.files.folders import new_file
from probing.files.gguf_cache import PRIVATE, GgufCache, cache_folder, is_private

FOLDER = "checks"
LONGEST = 20  # characters of what is kept


def recall(facts: Mapping[str, Any]) -> str:
    """Return the way of sharing work that an earlier check has found right under these facts, "" if there is none."""
    path = _path(facts)
    with suppress(OSError, ValueError):
        if GgufCache.of_user().room > 0 and is_private(path.parent) and not path.is_symlink():
            return path.read_text(encoding="utf-8")[:LONGEST]
    return ""


def remember(facts: Mapping[str, Any], way: str) -> None:
    """Keep the way for later, where the folder can be written; a check that failed ("") is not kept."""
    path = _path(facts)
    if not way or GgufCache.of_user().room <= 0:
        return
    with suppress(ProbingError, OSError):
        path.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if is_private(path.parent):
            with new_file(path) as temporary:
                temporary.write_text(way, encoding="utf-8")


def _path(facts: Mapping[str, Any]) -> Path:
    written = json.dumps(facts, sort_keys=True, default=str)
    return cache_folder() / FOLDER / hashlib.sha256(written.encode()).hexdigest()
