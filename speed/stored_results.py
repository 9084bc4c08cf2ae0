"""What the commands of this package have measured, a file for each; the documents' tables are written from them.

Every file names the scoring core that it was measured with by a digest of its code, so that `python -m speed.report`
can tell which files are older than the code as it stands.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "speed" / "results"
CORE = CHECKOUT / "probing" / "scoring"


def store(name: str, results: Mapping[str, Any], *, of_core: bool = True) -> None:
    """Replace the results of this name. Those that are measured in parts say themselves which core each has.

    `of_core`: whether they depend on the scoring core at all.
    """
    text = json.dumps({"scoring_core": core_digest() if of_core else {}} | dict(results), indent=1)
    _file(name).write_text(f"{text}\n", encoding="utf-8")


def show(results: Mapping[str, Any]) -> None:
    """Print results as they are stored."""
    print(json.dumps(results, indent=1))


def stored(name: str) -> dict[str, Any]:
    """Return the results of this name, empty where there are none."""
    file = _file(name)
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return results


def older_than_the_core() -> list[str]:
    """Return the names of the results that were not measured with the scoring core as it stands."""
    names = sorted(file.stem for file in RESULTS.glob("*.json"))
    return [name for name in names if not _cores(stored(name)) <= {core_digest()}]


def core_digest() -> str:
    """Return a digest of the scoring core's code; comments and docstrings do not count."""
    digest = hashlib.sha256()
    for file in sorted(CORE.glob("*.py")):
        digest.update(f"{file.name}\n{_code(file.read_text(encoding='utf-8'))}\n".encode())
    return digest.hexdigest()[:16]


def _cores(results: Mapping[str, Any]) -> set[str]:
    core = results.get("scoring_core", "")
    return set(core.values()) if isinstance(core, Mapping) else {core}


def _file(name: str) -> Path:
    return RESULTS / f"{name}.json"


def _code(source: str) -> str:
    """Return a module's code without comments and docstrings."""
    module = ast.parse(source)
    for block in _blocks(module):
        block.body = [statement for statement in block.body if not _is_text(statement)] or [ast.Pass()]
    return ast.unparse(module)


def _blocks(module: ast.Module) -> Iterator[Any]:
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    return (node for node in ast.walk(module) if isinstance(node, kinds))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
