"""Command-line options that are derived from the fields of a plan.

A plan is a dataclass with the settings of a curation. A field with `metadata=option(...)` becomes an option whose name,
type and default are those of the field; the other fields are given to `plan_from` by name.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from probing.errors import BadInput

AnyPlan = TypeVar("AnyPlan")


def option(help: str, *, flag: str = "", metavar: str = "N") -> Mapping[str, str]:
    """Return the metadata of a field that is an option. `flag`: the option's name if it is not the field's.

    Numbers and texts add their default to the help text.
    """
    return {"help": help, "flag": flag, "metavar": metavar}


def add_plan_options(parser: argparse.ArgumentParser, plan: type[Any]) -> None:
    """Add the options of a plan; a field without a default is required.

    A tuple takes one or more values, and a mapping takes one ID=TEXT whenever the option is given.
    """
    types = get_type_hints(plan)
    for field in _option_fields(plan):
        flag = field.metadata["flag"] or "--" + field.name.replace("_", "-")
        parser.add_argument(flag, dest=field.name, help=_help(field), **_parsing(field, types[field.name]))


def plan_from(options: argparse.Namespace, plan: Callable[..., AnyPlan], **other_fields: Any) -> AnyPlan:
    """Return a plan with the values of its options and of its other fields."""
    types = get_type_hints(plan)
    values = {field.name: _converted(getattr(options, field.name), types[field.name]) for field in _option_fields(plan)}
    return plan(**values, **other_fields)


def _option_fields(plan: Any) -> Iterable[Field[Any]]:
    return [field for field in fields(plan) if field.metadata]


def _help(field: Field[Any]) -> str:
    text: str = field.metadata["help"]
    return f"{text}; default: {field.default}" if isinstance(field.default, str | int) else text


def _parsing(field: Field[Any], type: Any) -> dict[str, Any]:
    """Return the arguments with which argparse reads values of the type."""
    metavar = field.metadata["metavar"]
    if get_origin(type) is Mapping:
        return {"action": "append", "default": [], "metavar": metavar}
    default = {"required": True} if field.default is MISSING else {"default": field.default}
    if get_origin(type) is Literal:
        return default | {"choices": get_args(type)}
    if get_origin(type) is tuple:
        return default | {"nargs": "+", "metavar": metavar}
    return default | {"type": Path if type == Path | None else type, "metavar": metavar}


def _converted(value: Any, type: Any) -> Any:
    """Return what argparse has read as a value of the field's type."""
    if get_origin(type) is Mapping:
        return _texts_by_id(value)
    return tuple(value) if get_origin(type) is tuple else value


def _texts_by_id(assignments: Iterable[str]) -> dict[str, list[str]]:
    """Return ID -> texts from one or more ID=TEXT."""
    texts: dict[str, list[str]] = {}
    for assignment in assignments:
        id, _, text = assignment.partition("=")
        if not text.strip():
            raise BadInput(f"{assignment!r:.80} gives no text for a property.", "Write it such as P36=TEXT.")
        texts.setdefault(id, []).append(text.strip())
    return texts
