"""Configuration files: the arguments of a study or the plan of a curation by name, as YAML."""

from pathlib import Path
from typing import Any

import yaml

from probing.errors import BadInput

LARGEST_FILE = 1_000_000  # bytes


class _KeysOnce(yaml.SafeLoader):
    """Loader that refuses a key which stands twice, as one of its values would be ignored silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in names:
                raise yaml.MarkedYAMLError(problem=f"{key.value} stands twice", problem_mark=key.start_mark)
            names.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the named values of a YAML file."""
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"There is no file {path}.", "Give the path of a configuration file.")
    if path.stat().st_size > LARGEST_FILE:
        raise BadInput(f"{path} is larger than {LARGEST_FILE:,} bytes.", "Give a configuration file.")
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _KeysOnce)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadInput(f"{path}{line}: not YAML ({error.problem}).", "Correct it.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not YAML in UTF-8.", "Correct it.") from error
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise BadInput(f"{path} holds no names with values.", "Write lines such as: sample: 5")
    return content
