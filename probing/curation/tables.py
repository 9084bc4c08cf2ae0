"""TOML and YAML files with which users describe cultures and predicates."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from probing.errors import BadInput

LARGEST_TABLE = 10_000_000  # bytes


def _from_yaml(text: str) -> Any:
    """Read every value as text, because YAML takes `no`, the site of Norway, for false."""
    return yaml.load(text, Loader=yaml.BaseLoader)


PARSERS: Mapping[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".yaml": _from_yaml, ".yml": _from_yaml}


def read_table(path: Path) -> Mapping[str, Any]:
    """Return the named values of a TOML or YAML file; raise `BadInput` if it cannot be read."""
    if path.suffix not in PARSERS:
        raise BadInput(
            f"{path.name} is neither TOML nor YAML.", f"Its name should end in one of: {', '.join(PARSERS)}."
        )
    form = "TOML" if path.suffix == ".toml" else "YAML"
    try:
        if path.stat().st_size > LARGEST_TABLE:
            raise BadInput(f"{path.name} is larger than {LARGEST_TABLE:,} bytes.", "Shorten it.")
        content = PARSERS[path.suffix](path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}).", "Check the name of the file.") from error
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path.name} cannot be read as {form} ({error}).", "See docs/curation.md.") from error
    if not isinstance(content, dict):
        raise BadInput(f"{path.name} has no named values.", "See docs/curation.md.")
    return content
