"""Counts of what became of every triple, and the manifest that records how a benchmark was made."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation.endpoint import Endpoint
from probing.errors import Incomplete

MANIFEST = "manifest.json"
NOT_AN_ITEM = "the object is unknown or not an item"


@dataclass
class TripleCounts:
    """Triples `found` by the first query and `added` by later ones; each is either `kept` or `dropped` for a reason."""

    found: int = 0
    added: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        if count:
            self.dropped[reason] += count

    def to_json(self) -> dict[str, Any]:
        """Return the counts; raise `Incomplete` if they do not add up."""
        if self.found + self.added != self.kept + self.dropped.total():
            raise Incomplete(f"Some triples are neither kept nor dropped: {self}.", "Please report this.")
        return {
            "found": self.found,
            "added": self.added,
            "dropped": dict(sorted(self.dropped.items())),
            "kept": self.kept,
        }


def write_manifest(
    folder: Path, kind: str, endpoint: Endpoint, settings: Mapping[str, Any], counts_by_predicate: Mapping[str, Any]
) -> None:
    """Write `manifest.json`; a query about many items stands there once, with one item and the number of requests."""
    queries = [{"times": times, "text": text} for text, times in sorted(endpoint.shapes.items())]
    content = {
        "command": f"python -m probing curate {kind}",
        "endpoint": endpoint.url,
        "asked": endpoint.cache.answer_period(),
        "settings": settings,
        "triples": counts_by_predicate,
        "queries": queries,
    }
    write_json(folder / MANIFEST, content)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write one JSON object per line, and the folders above the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
