"""The command `push`: send results that were measured elsewhere to a site."""

import argparse
from pathlib import Path

from probing.command_line.token import add_token, token_of
from probing.errors import BadInput, Incomplete
from probing.remote.connection import SiteRefused
from probing.remote.results import ResultSite, result_folders


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
    """Push each result; those that the site refuses are named at the end, when the others are there."""
    folders = result_folders(arguments.folder)
    if arguments.revision and len(folders) > 1:
        raise BadInput("Several results cannot be of one revision.", "Leave out --revision, or push them one by one.")
    site, refusals = ResultSite(arguments.site, token_of(arguments)), []
    for folder in folders:
        try:
            pushed = site.push(folder, model=arguments.model, revision=arguments.revision, source=arguments.source)
        except SiteRefused as error:
            refusals.append(f"{folder} ({error})")
            continue
        state = pushed.state if pushed.is_new else f"{pushed.state}, was there already"
        print(f"{folder}: {pushed.address} ({state})")
    if refusals:
        message = f"{len(refusals)} of {len(folders)} results are not taken: {'; '.join(refusals)}"
        raise Incomplete(message, "The same command sends them again.")
