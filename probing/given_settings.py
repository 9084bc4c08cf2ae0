"""The keyword arguments by which a run is set: settings, and options of all probes, with their types.

Written out because type checkers and editors read nothing else; a test compares them with the declarations.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, get_args, get_type_hints

from probing.language_model import PLL, Reduction
from probing.model_source import ModelSource
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.settings import SETTINGS, Quantization, ScoringProtocol, usual_names

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class GivenSettings(TypedDict, total=False):
    """The fields of `probing.settings.Settings`, and the options of probes.

    `relation` and `template` are other names of `relations` and `templates`. `dtype` may be a `torch.dtype` as well.
    """

    probe: str
    relations: str | Iterable[str]
    relation: str | Iterable[str]
    templates: int | Iterable[int]
    template: int | Iterable[int]
    limit: int | None
    sample: int | None
    language: str
    pll: PLL
    reduction: Reduction
    decide: bool
    dtype: Any
    quantization: Quantization
    start: str
    protocol: ScoringProtocol
    seed: int
    # The options of probes.
    by: Literal["token", "word"]
    chat: bool
    closed: bool
    few_shot: int
    generic_subjects: str
    instruction: Literal[0, 1, 2, 3, 4, 5]
    k: int
    objects: str
    pair: str
    prompting: Literal["vanilla", "few-shot", "shared-few-shot", "cascade"]
    public_code: bool
    questions: Literal["benchmark", "paper"]
    shots: int
    tokens: int


class GivenArguments(GivenSettings, total=False):
    """What `probing.run` takes beside a model and a benchmark, for all runs of a study or a sweep."""

    tokenizer: str | Path | None
    commit: str
    device: str
    device_map: Any
    attn_implementation: str
    batch_tokens: int | None
    keep_tokens: bool
    keep_rows: bool


class StudyArguments(GivenArguments, total=False):
    """What `probing.study` takes beside models and benchmarks."""

    out: str | Path
    revisions: str | Iterable[str]


def shows_settings(function: FunctionT) -> FunctionT:
    """Let `help` and notebooks show every setting of a function that takes `**settings: Unpack[GivenSettings]`, say.

    A default that depends on the benchmark or the probe is shown as an ellipsis.
    """
    signature, defaults = inspect.signature(function), _defaults()
    *own, unpacked = signature.parameters.values()
    (names,) = get_args(unpacked.annotation)
    settings = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(next(iter(usual_names({name: None}))), ...),
            annotation=hint,
        )
        for name, hint in get_type_hints(names).items()
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*own, *settings])
    return function


@cache
def _defaults() -> dict[str, Any]:
    """Return the default of each argument that has the same one for all benchmarks and probes."""
    loading = {one.name: one.default for one in fields(ModelSource)} | {"keep_tokens": False, "keep_rows": True}
    of_options: dict[str, Any] = {}
    for option in (option for probe in PROBES.values() for option in declared_options(probe).values()):
        is_shared = of_options.get(option.name, option.default) == option.default
        of_options[option.name] = option.default if is_shared else ...
    of_settings = {name: setting.default for name, setting in SETTINGS.items() if name != "probe"}
    return {**loading, **of_options, **of_settings}
