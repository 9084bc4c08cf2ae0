"""Completion of commands, arguments and names by the shell: `eval "$(register-python-argcomplete clozeboard)"`."""

import argparse
import os
from collections.abc import Callable, Container
from functools import partial
from importlib import import_module
from typing import Any

from probing.extras import extra_package

LINE, CURSOR = "COMP_LINE", "COMP_POINT"  # what is typed so far, and the place of the cursor in it
BENCHMARKS, PROBES = "probing.catalog:CATALOG", "probing.probes:PROBES"
# Arguments that take a name, or else a file, which the shell completes where no name fits, and where the names are.
NAMES = {"benchmark": BENCHMARKS, "slug": BENCHMARKS, "with": BENCHMARKS, "probe": PROBES}


def complete(parser: Callable[[Container[str]], argparse.ArgumentParser]) -> None:
    """Answer the shell and end the process; `parser` makes the parser with the arguments of some commands."""
    library = extra_package("argcomplete", "completion", "Completion by the shell")
    words = os.environ[LINE][: int(os.environ[CURSOR])].split()[1:]
    main_parser = parser(words[:1])
    for action in _actions(main_parser):
        if action.dest in NAMES:
            vars(action)["completer"] = partial(_names, NAMES[action.dest])
    library.autocomplete(main_parser)


def _names(place: str, **line: Any) -> list[str]:
    """Return the names that are at a place, whose module is imported only where they are asked for."""
    module, name = place.split(":")
    return list(getattr(import_module(module), name))


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser and of its commands."""
    actions = list(parser._actions)
    commands = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]
    return [*actions, *(action for below in commands for command in below.values() for action in command._actions)]
