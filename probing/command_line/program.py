"""What all commands share: exit codes and error messages, the arguments that name a model, the printing of tables."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from probing.errors import BadInput, ProbingError

if TYPE_CHECKING:  # pandas takes longer to import than the help takes to print
    import pandas as pd


def program() -> str:
    """Return what the user typed to start the program: `clozeboard`, or `python -m probing`."""
    name = Path(sys.argv[0]).stem
    return "python -m probing" if name == "__main__" else name


class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message} (help: {self.prog} --help)\n")


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


def add_model(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the arguments that choose the model, its device and the size of batches.

    `several`: the model is a list, which argparse leaves empty where none is named.
    """
    many: dict[str, Any] = {"nargs": "+", "default": []} if several else {}
    text = "hub id, folder in Hugging Face format, or .gguf file"
    model = parser.add_argument("model", metavar="MODEL", help=text, **many)
    model.required = not several
    add_loading(parser)


def add_loading(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how a model is loaded."""
    add = parser.add_argument
    add("--commit", default="", help="commit of a hub model; default: the newest")
    add("--device", default="auto", help="cpu, cuda or cuda:1; default: a GPU where there is one")
    add("--batch-tokens", type=int, metavar="N", help="token positions per batch; default: found by trying")


def print_lines(title: str, lines: Sequence[str]) -> None:
    """Print lines below a title, or nothing if there are none."""
    if lines:
        print("", title, *lines, sep="\n")


def print_by_dimension(table: "pd.DataFrame") -> None:
    for dimension, rows in table.groupby("dimension", sort=False):
        print(f"\n{dimension}")
        print_table(rows.drop(columns="dimension"))


def print_scores(scores: "pd.DataFrame") -> None:
    """Print tidy scores by dimension; several metrics without intervals stand side by side, in one row per group."""
    for dimension, rows in scores.groupby("dimension", sort=False):
        print(f"\n{dimension}")
        if rows["metric"].nunique() > 1 < rows["group"].nunique() and rows[["low", "high"]].isna().all(axis=None):
            print_table(_side_by_side(rows))
        else:
            print_table(rows.drop(columns="dimension"))


def _side_by_side(rows: "pd.DataFrame") -> "pd.DataFrame":
    values = rows.pivot(index=["group", "n"], columns="metric", values="value")
    groups = rows[["group", "n"]].drop_duplicates()
    return values.loc[list(groups.itertuples(index=False)), rows["metric"].unique()].reset_index()


def print_table(rows: "pd.DataFrame") -> None:
    print(rows.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.4g}"))
