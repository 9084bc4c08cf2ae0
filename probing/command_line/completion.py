"""Completion of commands, arguments and names by the shell: `eval "$(register-python-argcomplete clozeboard)"`."""

import argparse
import os
from collections.abc import Callable, Container
from importlib import import_module
from typing import Any

from probing.extras import extra_package

LINE, CURSOR = "COMP_LINE", "COMP_POINT"  # what is typed so far, and the place of the cursor in it
# Arguments that take the name of a benchmark, or else a file, which the shell completes where no name fits.
BENCHMARKS = frozenset({"benchmark", "slug", "with"})


def complete(parser: Callable[[Container[str]], argparse.ArgumentParser]) -> None:
    """Answer the shell and end the process; `parser` makes the parser with the arguments of some commands."""
    library = extra_package("argcomplete", "completion", "Completion by the shell")
    words = os.environ[LINE][: int(os.environ[CURSOR])].split()[1:]
    main_parser = parser(words[:1])
    for action in _actions(main_parser):
        if action.dest in BENCHMARKS:
            vars(action)["completer"] = _benchmarks
    library.autocomplete(main_parser)


def _benchmarks(**line: Any) -> list[str]:
    """Return the names of benchmarks, whose module is imported only where they are asked for."""
    return list(import_module("probing.catalog").CATALOG)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    actions = list(parser._actions)
    commands = [action.choices for action in actions if isinstance(action, argparse._SubParsersAction)]
    return [*actions, *(action for below in commands for command in below.values() for action in command._actions)]
