"""The installed package: its version, and what only some tasks need and `pip install "clozeboard[extra]"` adds."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from probing.errors import MissingPackage


def graph_objects(task: str) -> Any:
    """Return the module of Plotly that figures are made with; raise `MissingPackage` if it is not installed."""
    extra_package("plotly", "plot", task)
    return import_module("plotly.graph_objects")


def extra_package(package: str, extra: str, task: str) -> Any:
    """Return a package of one of the extras in pyproject.toml; raise `MissingPackage` if it is not installed.

    `task`: what the package is needed for, as the beginning of a sentence.
    """
    if find_spec(package) is None:
        raise MissingPackage(
            f"{task} needs the package {package}, which is not installed.",
            f'Install it: pip install "clozeboard[{extra}]".',
        )
    return import_module(package)


def package_version() -> str:
    """Return the version of the installed package, or "unknown" in a checkout that is not installed."""
    try:
        return version("clozeboard")
    except PackageNotFoundError:
        return "unknown"
