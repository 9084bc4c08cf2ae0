"""The command `lm-eval`, which starts lm-evaluation-harness."""

import argparse
import sys
from importlib import import_module

from probing.extras import extra_package, own_module

BACKEND, HARNESS = "probing.harness.backend", "lm_eval.__main__"
# A character that no argument begins with: all arguments are the harness's, also those that begin with a dash.
NO_PREFIX = "\0"


def add_lm_eval(parser: argparse.ArgumentParser) -> None:
    parser.prefix_chars = NO_PREFIX
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="all that the program lm-eval takes")
    parser.set_defaults(command=lm_eval)


def lm_eval(arguments: argparse.Namespace) -> None:
    """Register the model, which version 0.4.13 of the harness cannot find by itself, and start the harness."""
    extra_package("lm_eval", "harness", "The command lm-eval")
    own_module(BACKEND)
    sys.argv = ["lm-eval", *arguments.arguments]
    import_module(HARNESS).cli_evaluate()
