"""The options by which version 0.2 curated without a file; they go in the next version, and this module with them."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import yaml

from probing.command_line.exit_codes import program
from probing.curation.plan_file import CULTURE, ENDPOINT, KIND, KINDS, Kind, Servers, checked_plan
from probing.errors import BadInput
from probing.settings import declared

TRANSLATION, TRANSLATE = "translation", "translate"  # what a kind is called, and was
PREFIX = "old_"
# The options that were not called as the field of a plan or of the servers is; the last three described a new pair.
OTHER_NAMES = {
    "pair": "pairs",
    "predicate": "predicates",
    "fact-type": "fact_types",
    "relation": "relations",
    "tokenizer": "tokenizers",
    "property": "properties",
    "template": "templates",
    "domain": "domains",
    "predicate-file": "own",
    "chain-file": "own",
    "endpoint": "url",
    "culture": "cultures",
    "languages": "languages",
    "name": "name",
}
SWITCHES = ("stricter", "aliases")


def add_old_options(parser: argparse.ArgumentParser) -> None:
    """Add the options, which the help leaves out."""
    owners: list[type[Any]] = [Servers, *(kind.plan for kind in KINDS.values())]
    names = {entry.name.replace("_", "-"): entry.name for owner in owners for entry in fields(owner)} | OTHER_NAMES
    for name, key in names.items():
        many: dict[str, Any] = {"action": "extend", "nargs": "+"}
        action = {"action": "append_const", "const": "true"} if key in SWITCHES else many
        parser.add_argument(f"--{name}", dest=PREFIX + key, default=[], help=argparse.SUPPRESS, **action)
    parser.add_argument("--print-query", dest="dry_run", action="store_true", help=argparse.SUPPRESS)


def old_plan(arguments: argparse.Namespace) -> tuple[Kind, Any, Servers] | None:
    """Return what the old options say, and print the file that says the same; None where a file is named."""
    options = {name.removeprefix(PREFIX): texts for name, texts in vars(arguments).items() if name.startswith(PREFIX)}
    options = {name: texts for name, texts in options.items() if texts}
    name = TRANSLATION if str(arguments.plan) == TRANSLATE else str(arguments.plan)
    if name not in KINDS or arguments.plan.is_file():
        if options:
            raise BadInput(f"The file says what is curated, not --{min(options)}.", "Write it there as a key.")
        return None
    content = _content(name, options)
    shown = yaml.safe_dump(content, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6).strip()
    new = f"{program()} curate FILE.yaml --out DIR"
    print(f"The options of curate go in the next version. Use {new} with this in the file: {shown}", file=sys.stderr)
    return checked_plan(content, Path(), "options")


def _content(kind: str, options: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return what the file would hold."""
    plan = KINDS[kind].plan
    names, of_servers = ({entry.name for entry in fields(owner)} for owner in (plan, Servers))
    values: dict[str, Any] = dict(options)
    if kind == CULTURE and "cultures" in values:
        new = {"name": values.pop("name", ["own"])[-1]}
        new |= {key: values.pop(key, []) for key in ("cultures", "languages")}
        values["pairs"] = [*values.get("pairs", []), new]
    elif kind == TRANSLATION and "language" in values:
        values["languages"] = values.pop("language")
    if unknown := sorted(values.keys() - names - of_servers):
        raise BadInput(f"{kind} has no --{unknown[0]}.", "See docs/curation.md.")
    own = {key: _value(plan, key, texts) for key, texts in values.items() if key in names}
    servers = {key: _value(Servers, key, texts) for key, texts in values.items() if key in of_servers}
    return {KIND: kind, **own, **({ENDPOINT: servers} if servers else {})}


def _value(owner: type, key: str, texts: list[Any]) -> Any:
    hint = get_type_hints(owner)[key]
    if get_origin(hint) is tuple:
        return texts
    if key == "own" or hint in (Path, Path | None):
        return texts[-1]
    if get_origin(hint) is Mapping:
        return _texts_by_id(texts)
    return declared(owner)[key].parse(texts[-1])


def _texts_by_id(assignments: list[str]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for assignment in assignments:
        id, _, text = assignment.partition("=")
        if not text.strip():
            raise BadInput(f"{assignment!r:.80} gives no text for a property.", "Write it such as P36=TEXT.")
        texts.setdefault(id, []).append(text.strip())
    return texts
