"""Options: named values that a user may choose, each declared once as the field of a dataclass.

The command line, keyword arguments and forms are derived from these declarations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from probing.errors import BadInput

T = TypeVar("T")
IN_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """The declaration of one option.

    `value_type`: bool, int, float or str; the type of each value where the option takes `many`.
    `choices`: the only values that are allowed; empty where every value of the type is.
    `optional`: None is allowed too. `flag`: the name on the command line, without dashes.
    `chooses_items`: another value asks other items, so that figures are not ranked among those with the usual value.
    `adds_figures`: another value adds figures and changes none, so that runs with it are ranked with the others.
    `offered`: a setting that whoever submits a model to a site may choose, as they may all options of a probe.
    `tag`: the tag of relations whose values the option chooses from, so that a form offers those of the benchmark.
    `owner`: the probe that the option belongs to; empty for a setting of the run.
    """

    name: str
    value_type: type
    default: Any
    choices: tuple[Any, ...]
    many: bool
    optional: bool
    flag: str
    help: str
    chooses_items: bool
    adds_figures: bool
    offered: bool
    tag: str
    owner: str

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for, or one of the values of an option that takes many."""
        try:
            by_text = {str(choice).lower(): choice for choice in self.choices}
            return by_text[text.lower()] if by_text else self.value_type(text)
        except (ValueError, KeyError):
            raise self.refusal(text) from None

    def check(self, value: Any) -> Any:
        """Return the value as it is stored; raise `BadInput` where it has another type or is none of the choices.

        An option that takes many values accepts a single one as well.
        """
        if self.optional and value is None:
            return None
        if not self.many:
            return self._check_one(value)
        values = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        return tuple(map(self._check_one, values))

    def refusal(self, value: Any) -> BadInput:
        """Return the error that says what the option takes instead of this value."""
        name = f"{self.owner}: {self.name}" if self.owner else self.name
        if self.choices and self.value_type is not bool:
            step = f"Choose from: {', '.join(map(str, self.choices))}."
        else:
            step = f"Give it a value of type {IN_WORDS[self.value_type]}."
        return BadInput(f"{name} cannot be {value!r}.", step)

    def _check_one(self, value: Any) -> Any:
        if type(value) is not self.value_type or (self.choices and value not in self.choices):
            raise self.refusal(value)
        return value


def option(
    default: T,
    help: str = "",
    *,
    flag: str = "",
    chooses_items: bool = False,
    adds_figures: bool = False,
    offered: bool = False,
    tag: str = "",
) -> T:
    """Declare an option as a dataclass field; its type is the field's annotation (see `Option` for the rest).

    A field with a plain default value is an option as well, without a help text.
    """
    effects = {"chooses_items": chooses_items, "adds_figures": adds_figures}
    return field(default=default, metadata={"help": help, "flag": flag, "offered": offered, "tag": tag, **effects})


@cache
def declared(owner: type, name: str = "") -> Mapping[str, Option]:
    """Return the options that a dataclass declares, by name; `name` is what error messages call their owner.

    A field whose default value is made by a factory is no option.
    """
    hints = get_type_hints(owner)
    declarations = [entry for entry in fields(owner) if entry.default_factory is MISSING]
    return {entry.name: _read(entry, hints[entry.name], name) for entry in declarations}


def _read(declaration: Field[Any], hint: Any, owner: str) -> Option:
    """Read `int`, `int | None`, `Literal["a", "b"]` or `tuple[int, ...]` from a field's annotation."""
    optional, many = isinstance(hint, UnionType), get_origin(hint) is tuple
    one = get_args(hint)[0] if optional or many else hint
    choices = (False, True) if one is bool else get_args(one)
    metadata = declaration.metadata
    return Option(
        name=declaration.name,
        value_type=type(choices[0]) if choices else one,
        default=declaration.default,
        choices=choices,
        many=many,
        optional=optional,
        flag=metadata.get("flag") or declaration.name.replace("_", "-"),
        help=metadata.get("help", ""),
        chooses_items=metadata.get("chooses_items", False),
        adds_figures=metadata.get("adds_figures", False),
        offered=metadata.get("offered", False),
        tag=metadata.get("tag", ""),
        owner=owner,
    )
