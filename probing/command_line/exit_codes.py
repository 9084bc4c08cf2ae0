"""The exit codes of all commands, and the one line that is printed for an error."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from probing.errors import BadInput, ProbingError, nearest

COUNTING_ITEMS = ("--limit", "--sample")  # flags whose number is one of items


def exit_code(command: Callable[[], None]) -> int:
    """Run a command, print the error that ends it in one line, and return the exit code of the program.

    That is 0 for success, 2 for bad input, 1 for failure, 130 when interrupted, and 141 where nobody reads the output
    to its end, as in `clozeboard show results | head`.
    """
    try:
        command()
        sys.stdout.flush()
    except BadInput as error:
        return _report_error(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where Python writes what is left at its end
        return 141
    except (ProbingError, OSError) as error:
        return _report_error(str(error), 1)
    except KeyboardInterrupt:
        return _report_error("Interrupted. The same command goes on from what is finished.", 130)
    return 0


def _report_error(message: str, code: int) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def refuse_without(arguments: argparse.Namespace, needed: str, names: Sequence[str]) -> None:
    """Raise `BadInput` where a flag was given that means nothing without another one."""
    flags = [name for name in names if getattr(arguments, name)]
    if flags and not getattr(arguments, needed):
        raise BadInput(f"--{flags[0]} is about --{needed}.", f"Give --{needed} as well.")


def program() -> str:
    """Return what the user typed to start the program: `clozeboard`, or `python -m probing`."""
    name = Path(sys.argv[0]).stem
    return "python -m probing" if name == "__main__" else name


def _no_number(found: re.Match[str]) -> str:
    """Return what is said in place of argparse's words about a text that is no number."""
    flag, number_type, text = found.groups()
    number = "a whole number" if number_type == "int" else "a number"
    items = " of items" if flag in COUNTING_ITEMS else ""
    return f"{flag} takes {number}{items}, not {text}"


class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line, with a pointer to the help of the command that was called."""

    def parse_known_args(self, *words: Any, **more: Any) -> Any:
        """Refuse unknown words at once, since otherwise the parser of all commands would, with its own help."""
        parsed, unknown = super().parse_known_args(*words, **more)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"argument (\S+): invalid (int|float) value: (.+)", _no_number, message)
        wrong = re.search(r"unrecognized arguments: ([^ =]+)|invalid choice: '([^']+)'", message)
        choices = re.findall(r"'([^']+)'", message.partition("(choose from")[2])
        near = nearest(wrong[1] or wrong[2], choices or self._flags()) if wrong else ""
        hint = f"; did you mean {near}?" if near else ""
        self.exit(2, f"error: {message}{hint} (help: {self.prog} --help)\n")

    def _flags(self) -> list[str]:
        """Return the flags that the help shows, those of the commands below included."""
        flags = []
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                flags += [flag for command in action.choices.values() for flag in command._flags()]
            elif action.help != argparse.SUPPRESS:
                flags += action.option_strings
        return sorted(set(flags))
