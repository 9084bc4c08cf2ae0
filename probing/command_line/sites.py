"""The command `push`, which sends results to a site, and `lm-eval`, which starts lm-evaluation-harness."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from probing.errors import BadInput, Incomplete
from probing.extras import extra_package, own_module
from probing.remote.connection import TOKEN_VARIABLE, SiteRefused, environment_token
from probing.remote.site import ResultSite, result_folders

BACKEND, HARNESS = "probing.harness.backend", "lm_eval.__main__"
# A character that no argument begins with: all arguments are the harness's, also those that begin with a dash.
NO_PREFIX = "\0"


def add_push(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="DIR", type=Path, help="the folder of a result, or of a sweep with several")
    add("--site", required=True, metavar="URL", help="address of the site, such as https://site.example")
    add_token(parser)
    add("--model", default="", metavar="ORG/NAME", help="the model's id at the hub, where the result names a folder")
    add("--revision", default="", metavar="NAME", help="the model's revision; default: the one that the result names")
    add("--source", default="", metavar="TEXT", help="who has measured it; default: the name of the token")
    parser.set_defaults(command=push)


def push(arguments: argparse.Namespace) -> None:
    folders = result_folders(arguments.folder)
    if arguments.revision and len(folders) > 1:
        raise BadInput("Several results cannot be of one revision.", "Leave out --revision, or push them one by one.")
    facts = {"model": arguments.model, "revision": arguments.revision, "source": arguments.source}
    push_results(ResultSite(arguments.site, token_of(arguments)), folders, **facts)


def push_results(site: ResultSite, folders: Sequence[Path], **facts: str) -> None:
    """Push each result; raise `Incomplete` at the end with those that the site refuses.

    `facts`: `model`, `revision` and `source`, as `ResultSite.push` takes them.
    """
    refusals = []
    for folder in folders:
        try:
            pushed = site.push(folder, **facts)
        except SiteRefused as error:
            refusals.append(f"{folder} ({error})")
            continue
        state = pushed.state if pushed.is_new else f"{pushed.state}, was there already"
        print(f"{folder}: {pushed.address} ({state})")
    if refusals:
        message = f"{len(refusals)} of {len(folders)} results are not taken: {'; '.join(refusals)}"
        raise Incomplete(message, "The same command sends them again.")


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
