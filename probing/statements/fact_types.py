"""The 23 fact types of geography under three heads (methods 5.1; the paper's Tables 6 and 7)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FactType:
    """A property of a kind of place, with the templates that word it; its fields are those of `fact_types.toml`."""

    key: str
    head: str
    name: str
    property: str
    kind: str
    templates: tuple[str, ...]
    question: str
    single: str = ""
    masks_subject: bool = False
    subject_question: str = ""


def _fact_type(key: str, entry: dict[str, Any]) -> FactType:
    return FactType(key, **(entry | {"templates": tuple(entry["templates"])}))


_ENTRIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FACT_TYPES = {key: _fact_type(key, entry) for key, entry in _ENTRIES.items()}
