"""The arguments that name a token of a site, which several commands share."""

import argparse
from pathlib import Path

from probing.errors import BadInput
from probing.remote.connection import TOKEN_VARIABLE, environment_token


def add_token(parser: argparse.ArgumentParser) -> None:
    help_text = f"token of the site; better in the variable {TOKEN_VARIABLE}: all users see the command line"
    parser.add_argument("--token", help=help_text)
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a file that holds the token")


def token_of(arguments: argparse.Namespace) -> str:
    """Return the token from the command line, a file, or the environment."""
    if arguments.token:
        return str(arguments.token)
    if arguments.token_file:
        try:
            return str(arguments.token_file.read_text(encoding="utf-8").strip())
        except (OSError, ValueError) as error:
            raise BadInput(f"{arguments.token_file} cannot be read as a token.", "Check the path.") from error
    return environment_token()
