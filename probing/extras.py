"""The installed package: its version, and what only some tasks need and `pip install "clozeboard[extra]"` adds."""

import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
    """Return the command that installs an extra from where the user is, which may be a checkout of this project."""
    try:
        name = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        name = ""
    return f'pip install -e ".[{extra}]"' if name == PROJECT else f'pip install "{PROJECT}[{extra}]"'


def package_version() -> str:
    """Return the version of the installed package, or "unknown" in a checkout that is not installed."""
    try:
        return version(PROJECT)
    except PackageNotFoundError:
        return "unknown"
