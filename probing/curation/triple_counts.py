"""What became of every triple, and with what a benchmark was made: the manifest beside its files."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation.endpoint import Endpoint
from probing.errors import Incomplete

MANIFEST = "manifest.json"
NO_ITEM = "the object is unknown or no item"


@dataclass
class TripleCounts:
    """`found` by the first query and `added` later; each of these is `kept` or `dropped` for one reason."""

    found: int = 0
    added: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        if count:
            self.dropped[reason] += count

    def to_json(self) -> dict[str, Any]:
        if self.found + self.added != self.kept + self.dropped.total():
            raise Incomplete(f"Triples are unaccounted for: {self}.", "Report this.")
        return {
            "found": self.found,
            "added": self.added,
            "dropped": dict(sorted(self.dropped.items())),
            "kept": self.kept,
        }


def write_manifest(
    folder: Path, command: str, endpoint: Endpoint, settings: Mapping[str, Any], facts: Mapping[str, Any]
) -> None:
    """Queries are listed with one of the items that they were asked for, and how often."""
    queries = [{"times": times, "text": text} for text, times in sorted(endpoint.shapes.items())]
    content = {
        "command": f"python -m probing curate {command}",
        "endpoint": endpoint.url,
        "asked": endpoint.answers.asked(),
        "settings": settings,
        "triples": facts,
        "queries": queries,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
