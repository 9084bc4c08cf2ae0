"""The architectures that the installed transformers knows, read from its source, since importing it loads torch."""

import ast
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from probing.errors import NoHead, UnknownArchitecture
from probing.kinds import Kind


def kind_of(architecture: str) -> Kind | None:
    """Return the kind of the model class that a configuration names, or None if it has no language modelling head.

    The tables overlap: transformers lists the heads of some encoder-decoders among the masked ones, and models that
    listen among the encoder-decoders. A class listed as causal and masked (XLM's) has no kind, because it does not tell
    what the weights were trained for. Case does not matter: MPT's own repositories spell their class otherwise than
    transformers does.
    """
    architecture = architecture.lower()
    causal, masked = _classes("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"), _classes("MODEL_FOR_MASKED_LM_MAPPING_NAMES")
    if architecture in causal & masked or architecture in _classes("MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES"):
        return None
    if architecture in _classes("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"):
        return "encoder-decoder"
    if architecture in causal:
        return "causal"
    return "masked" if architecture in masked else None


def architecture_of(config: Mapping[str, Any]) -> str:
    """Return the model class that a configuration names, "" if it names none."""
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def require_kind(architecture: str) -> Kind:
    """Return `kind_of` the architecture, or raise `NoHead`."""
    kind = kind_of(architecture)
    if kind is None:
        raise NoHead(
            f"{architecture or 'The model'} has no language modelling head: causal, masked or encoder-decoder.",
            "Use the checkpoint that was saved with its language modelling head.",
        )
    return kind


def require_known_type(model_type: str) -> None:
    """Raise `UnknownArchitecture` if the installed transformers cannot load this type of model."""
    if model_type not in known_model_types():
        raise UnknownArchitecture(
            f"The installed transformers does not know the model type {model_type!r}.",
            "Wait until a release of transformers has it; models with code of their own are not run.",
        )


@cache
def known_model_types() -> frozenset[str]:
    """Return the values of `model_type` that the installed transformers can load without code from elsewhere."""
    return frozenset(name for name, _ in _table("auto_mappings.py", "CONFIG_MAPPING_NAMES"))


@cache
def module_of(model_type: str) -> str:
    """Return the name of the module below transformers.models that holds this type of model."""
    special = dict(_table("auto_mappings.py", "SPECIAL_MODEL_TYPE_TO_MODULE_NAME"))
    return special.get(model_type, model_type.replace("-", "_"))


@cache
def _classes(table: str) -> frozenset[str]:
    """Return the names of the classes in a table, in lower case."""
    return frozenset(name.lower() for _, name in _table("modeling_auto.py", table))


@cache
def _table(file: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs in the statement `NAME = OrderedDict([(model type, class), ...])` of a source file."""
    for statement in _parsed_source(file).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            assert isinstance(statement.value, ast.Call)
            return tuple(_model_classes(ast.literal_eval(statement.value.args[0])))
    raise LookupError(f"transformers has no table {name} in {file}: this version is not supported")


def _model_classes(table: list[tuple[str, str | tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Return one pair of model type and class for each class; a model type may have several."""
    rows = [(model_type, (names,) if isinstance(names, str) else names) for model_type, names in table]
    return [(model_type, name) for model_type, names in rows for name in names]


@cache
def _parsed_source(file: str) -> ast.Module:
    return ast.parse((transformers_folder() / "models" / "auto" / file).read_text(encoding="utf-8"))


def transformers_folder() -> Path:
    """Return the folder of the installed transformers, without importing it."""
    spec = find_spec("transformers")
    if spec is None or not spec.submodule_search_locations:
        raise LookupError("transformers is not installed")
    return Path(spec.submodule_search_locations[0])
