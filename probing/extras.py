"""The installed package: its version, and what only some tasks need and `pip install ".[extra]"` adds in a checkout."""

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from probing.errors import MissingPackage

PROJECT = "clozeboard"
# What packages are needed for, as `extra_package` takes it.
COMPUTING, READING_GGUF, MERGING = "Computing with a model", "Reading a GGUF file", "Merging an adapter"
SCORING_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "accelerate")  # of the extra `hf`


def graph_objects(task: str) -> Any:
    """Return the module of Plotly that figures are made with; raise `MissingPackage` if it is not installed."""
    extra_package("plotly", "plot", task)
    return import_module("plotly.graph_objects")


def extra_package(package: str, extra: str, task: str) -> Any:
    """Return a package of one of the extras in pyproject.toml; raise `MissingPackage` if it is not installed.

    `task`: what the package is needed for, as the beginning of a sentence.
    """
    require_package(package, extra, task)
    return import_module(package)


def require_package(package: str, extra: str, task: str) -> None:
    """Raise `MissingPackage` if a package of one of the extras is not installed; it is not imported."""
    if find_spec(package) is None:
        raise _missing(package, extra, task)


def own_module(name: str) -> Any:
    """Import a module of this package; raise `MissingPackage` if it computes with models and cannot do that here."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name in SCORING_PACKAGES:
            raise _missing(error.name, "hf", COMPUTING) from error
        raise


def require_scoring() -> None:
    """Raise `MissingPackage` if this environment cannot compute with models; nothing is imported."""
    require_package("torch", "hf", COMPUTING)


def _missing(package: str, extra: str, task: str) -> MissingPackage:
    message = f"{task} needs the package {package}, which is not installed."
    return MissingPackage(message, f"Install it: {install_command(extra)}.")


def install_command(extra: str) -> str:
    """Return the command that installs an extra from where this package was installed: a folder, or an index."""
    origin = _origin()
    address = urlsplit(str(origin.get("url", "")))
    if address.scheme != "file":
        return f'pip install "{PROJECT}[{extra}]"'
    folder = Path(url2pathname(address.path))
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f'pip install {editable}"{"." if folder == Path.cwd() else folder}[{extra}]"'


def _origin() -> dict[str, Any]:
    """Return what pip records of a package that was not installed from an index; nothing of others."""
    try:
        return dict(json.loads(distribution(PROJECT).read_text("direct_url.json") or "{}"))
    except PackageNotFoundError:
        return {}


def package_version() -> str:
    """Return the version of the installed package, or "unknown" in a checkout that is not installed."""
    try:
        return version(PROJECT)
    except PackageNotFoundError:
        return "unknown"
