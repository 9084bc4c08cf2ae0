"""What a probe is, and how its options are given."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Protocol, get_args

import pandas as pd

from probing.analysis.comparison import Correctness
from probing.benchmark import Relation
from probing.errors import BadInput
from probing.language_model import LanguageModel
from probing.settings import Settings

Row = dict[str, Any]
# Fixed by a probe that never scores statements.
UNSCORED: Mapping[str, Any] = {"pll": Settings.pll, "reduction": Settings.reduction, "decide": Settings.decide}


class Probe(Protocol):
    """A frozen dataclass whose fields are the probe's own options, with their types and defaults.

    The values of an option that has only a few are its type, a `Literal`.
    `fixed`: settings that it leaves no choice of, so that a run records what was done and another choice is refused.
    `main_metric`: the metric that models are ranked by. `correctness`: what two results are compared by.
    `columns`: the declared columns of the rows; any further column is a tag.
    """

    name: ClassVar[str]
    main_metric: ClassVar[str]
    columns: ClassVar[frozenset[str]]
    fixed: ClassVar[Mapping[str, Any]]
    correctness: ClassVar[Correctness]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        """One row per item, as the model answers."""
        ...

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The rows of a part, with the same column types whatever they hold."""
        ...

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Tidy scores of stored rows."""
        ...


def tag_columns(probe: Probe | type[Probe], columns: Iterable[str]) -> list[str]:
    """Return those of the columns that are tags, in their order."""
    return [column for column in columns if column not in probe.columns]


def options(probe: Probe) -> dict[str, Any]:
    """The options that differ from their defaults: what enters the settings digest."""
    given = {option.name: getattr(probe, option.name) for option in fields(probe)}
    return {option.name: given[option.name] for option in fields(probe) if given[option.name] != option.default}


def choices(kind: type[Probe]) -> dict[str, tuple[Any, ...]]:
    """The options that have only a few values, with these."""
    return {option.name: _choices(option.type) for option in fields(kind) if _choices(option.type)}


def _choices(wanted: Any) -> tuple[Any, ...]:
    return (False, True) if wanted is bool else get_args(wanted)


def make(kind: type[Probe], values: Mapping[str, Any]) -> Probe:
    """The probe with the given options, each checked against its declared type."""
    declared = {option.name: option.type for option in fields(kind)}
    for name, value in values.items():
        _refuse_unknown(kind, name)
        few = get_args(declared[name])
        if value not in few if few else type(value) is not declared[name]:
            raise _refused(kind, name, declared[name], value)
    return kind(**values)


def parse(kind: type[Probe], assignments: Sequence[str]) -> dict[str, Any]:
    """`name=value` texts as the declared types."""
    declared = {option.name: option.type for option in fields(kind)}
    values = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadInput(f"{assignment!r} is no option.", "Write it as name=value.")
        _refuse_unknown(kind, name)
        values[name] = _value(kind, name, declared[name], text)
    return values


def _refuse_unknown(kind: type[Probe], name: str) -> None:
    known = [option.name for option in fields(kind)]
    if name not in known:
        step = f"Choose from: {', '.join(known)}." if known else "It has none."
        raise BadInput(f"The probe {kind.name} has no option {name!r}.", step)


def _value(kind: type[Probe], name: str, wanted: Any, text: str) -> Any:
    try:
        few = {str(choice).lower(): choice for choice in _choices(wanted)}
        return few[text.lower()] if few else wanted(text)
    except (ValueError, KeyError):
        raise _refused(kind, name, wanted, text) from None


def _refused(kind: type[Probe], name: str, wanted: Any, value: Any) -> BadInput:
    return BadInput(f"{kind.name}: {name} cannot be {value!r}.", _step(wanted))


def _step(wanted: Any) -> str:
    if few := get_args(wanted):
        return f"Choose from: {', '.join(map(str, few))}."
    words = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return f"Give it a value of type {words[wanted]}."
