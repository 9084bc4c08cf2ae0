"""The arguments of a study, from keywords or from a YAML file: models, benchmarks, and settings for some or all.

Their names are those of `Settings`, of the probes' options and of the fields of `ModelSource`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from probing.benchmark import Benchmark
from probing.errors import BadInput, suggestion
from probing.files.folders import new_file
from probing.model_source import ModelSource
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.runner import refuse_no_folder
from probing.settings import SETTINGS, usual_names

# Without the memory that the models of a sweep share, which is not an argument of users.
LOADING = tuple(entry.name for entry in fields(ModelSource) if entry.compare and entry.name != "model")
OPTIONS = frozenset(name for probe in PROBES.values() for name in declared_options(probe))
MODEL, BENCHMARK, NAME, REVISIONS, START = "model", "benchmark", "name", "revisions", "start"
KINDS = {"models": MODEL, "benchmarks": BENCHMARK}  # the lists of a study, and what one of their entries is
# The keys beside settings and options: of the whole study, of one of its models, and of one of its benchmarks.
KEPT = ("keep_tokens", "keep_rows")  # what results have beside their scores
STUDY_KEYS = (*KINDS, "out", REVISIONS, *KEPT, *LOADING)
ENTRY_KEYS: Mapping[str, tuple[str, ...]] = {MODEL: (MODEL, NAME, REVISIONS, *LOADING), BENCHMARK: (BENCHMARK, NAME)}


def checked_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a study by the names that records have, its models and benchmarks as lists of mappings.

    Each of these has what is opened under the key `model` or `benchmark`, a `name` where one was chosen, and settings
    for it alone. Raises `BadInput` for a name that is none, with the nearest one that is.
    """
    values = _known(values, STUDY_KEYS, "A study")
    entries = {kinds: _entries(values.get(kinds, ()), kind) for kinds, kind in KINDS.items()}
    for kinds, listed in entries.items():
        if not listed:
            raise BadInput(f"The study names no {KINDS[kinds]}.", f"Name one or more {kinds}.")
    for name in KEPT:
        if type(values.get(name, False)) is not bool:
            raise BadInput(f"{name} cannot be {values[name]!r:.80}.", "Give true or false.")
    return {**entries, **of_all(values)}


def of_all(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for all models and benchmarks."""
    return {name: value for name, value in arguments.items() if name not in KINDS}


def of_one(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model or a benchmark sets for itself alone."""
    return {name: value for name, value in entry.items() if name not in (MODEL, BENCHMARK, NAME)}


def overridden(arguments: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with other values in place of those for all, and of those for single models and benchmarks."""
    values = _known(values, STUDY_KEYS, "A study")
    entries = {
        kinds: [{name: own for name, own in entry.items() if name not in values} for entry in arguments[kinds]]
        for kinds in KINDS
    }
    return {**arguments, **entries, **values}


def results_folder(arguments: Mapping[str, Any]) -> Path:
    """Return the folder for the results; raise `BadInput` without one."""
    out = arguments.get("out")
    if out is None or out == "":
        raise BadInput("A study needs a folder for its results.", "Name one: out=FOLDER, or --out FOLDER.")
    refuse_no_folder(out)
    return Path(out).resolve()


def save_arguments(arguments: Mapping[str, Any], path: Path) -> None:
    """Write the arguments as a configuration file, from which the same study can be made again."""
    plain = {kinds: [_plain_entry(entry, kind) for entry in arguments[kinds]] for kinds, kind in KINDS.items()}
    plain |= {name: _plain(value) for name, value in of_all(arguments).items()}
    with new_file(path) as new:
        new.write_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _entries(values: Any, kind: str) -> list[dict[str, Any]]:
    """Return the entries of a list; a single one may stand without a list."""
    if isinstance(values, str | Path | Mapping | Benchmark):
        values = [values]
    if not isinstance(values, Iterable):
        raise BadInput(f"{kind}s cannot be {values!r:.80}.", f"Give a list of {kind}s.")
    return [_entry(value, kind) for value in values]


def _entry(value: Any, kind: str) -> dict[str, Any]:
    """Read an entry: a text, or values by name with the text under the key `model` or `benchmark`."""
    is_content = (str, Path, Benchmark) if kind == BENCHMARK else (str, Path)
    if isinstance(value, is_content):
        return {kind: value}
    if not isinstance(value, Mapping):
        raise BadInput(f"{value!r:.80} is no {kind}.", f"Give text, or a {kind} with settings for it alone.")
    entry = _known(value, ENTRY_KEYS[kind], f"A {kind}")
    content, name = entry.get(kind), entry.get(NAME, "")
    if not isinstance(content, is_content):
        if kind not in entry:
            raise BadInput(f"{entry!r:.80} names no {kind}.", f"Give it the key {kind!r}.")
        raise BadInput(f"{content!r:.80} is no {kind}.", f"Give its name as text, under the key {kind!r}.")
    if not isinstance(name, str) or (name and not _is_name(name)):
        raise BadInput(f"{name!r:.80} cannot be the name of a {kind}.", "Use letters, digits and . _ - @ + only.")
    return entry


def _is_name(name: str) -> bool:
    """Tell whether a name can be that of a folder."""
    return name[0] != "." and all(letter.isalnum() or letter in "._-@+" for letter in name)


def _known(values: Mapping[str, Any], own: Sequence[str], owner: str) -> dict[str, Any]:
    """Return values by the names that records have; raise `BadInput` for a name that is none."""
    values = usual_names(values)
    names = {*own, *SETTINGS, *OPTIONS} - {"options"}
    for name in values:
        if name not in names:
            raise BadInput(f"{owner} has no setting {name!r:.80}.", suggestion(str(name), sorted(names)))
    return values


def _plain_entry(entry: Mapping[str, Any], kind: str) -> Any:
    """Return what a configuration file has for an entry: its text alone where nothing else is said."""
    content = entry[kind].slug if isinstance(entry[kind], Benchmark) else str(entry[kind])
    name = {NAME: entry[NAME]} if entry.get(NAME) else {}
    rest = {**name, **{key: _plain(value) for key, value in of_one(entry).items()}}
    return {kind: content, **rest} if rest else content


def _plain(value: Any) -> Any:
    """Return a value as YAML has it."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
