"""The settings of a run: everything that can change a number, and nothing that cannot.

A setting, like an option of a probe, is declared once, as the field of a dataclass: the command line, keyword arguments
and forms are derived from these declarations.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from probing.errors import BadInput, suggestion
from probing.kinds import KINDS, Kind
from probing.language_model import PLL, Reduction, Scoring
from probing.start_token import AUTO, HELP, normalised_start, refuse_start

T = TypeVar("T")
IN_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """The declaration of one option.

    `value_type`: bool, int, float or str; the type of each value where the option takes `many`.
    `choices`: the only values that are allowed; empty where every value of the type is.
    `optional`: None is allowed too. `flag`: the name on the command line, without dashes. Where it differs from `name`,
    which records have, both are taken on the command line and in Python.
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
    owner: str
    flag: str
    help: str = ""
    chooses_items: bool = False
    adds_figures: bool = False
    offered: bool = False
    tag: str = ""

    @property
    def called(self) -> str:
        """The name by which users know the option."""
        return self.flag.replace("-", "_")

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
            step = suggestion(str(value), map(str, self.choices))
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
    flag = declaration.metadata.get("flag") or declaration.name.replace("_", "-")
    return Option(
        name=declaration.name,
        value_type=type(choices[0]) if choices else one,
        default=declaration.default,
        choices=choices,
        many=many,
        optional=optional,
        owner=owner,
        **{**declaration.metadata, "flag": flag},
    )


ScoringProtocol = Literal["usual", "lm-eval"]
Quantization = Literal["none", "4bit", "8bit"]
DTypeChoice = Literal["float32", "bfloat16", "float16", "auto"]
QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)
LM_EVAL: ScoringProtocol = "lm-eval"
AUTO_DTYPE: DTypeChoice = "auto"


@dataclass(frozen=True)
class Settings:
    """The one list of a run's settings: command line, `probing.run` and the site derive theirs from it.

    Two runs with equal settings on the same model and benchmark version give the same rows. Device and batch size are
    left out: they change the time, not the result (beyond rounding). `decide` keeps predictions and replaces the scores
    of options that cannot win by upper bounds. Empty `relations` or `templates` mean all of them. `options` are those
    of the probe (`--set name=value`).
    """

    probe: str = option("multiple_choice", "how the model is asked; default: the benchmark's usual probe")
    relations: tuple[str, ...] = option((), "ids of relations; default: all", flag="relation", chooses_items=True)
    templates: tuple[int, ...] = option((0,), "numbers of the templates that are asked", flag="template", offered=True)
    limit: int | None = option(
        None, "ask only the first N items of each relation, which is no fair sample", chooses_items=True
    )
    sample: int | None = option(
        None,
        "ask N items spread evenly over each relation's file; with a seed other than 0, drawn at random",
        chooses_items=True,
        offered=True,
    )
    language: str = option(
        "", "language of the prompts, where a benchmark has several", chooses_items=True, offered=True, tag="language"
    )
    pll: PLL = option(
        "within_word_l2r",
        "which tokens a masked model hides together; refused for other models",
        offered=True,
    )
    reduction: Reduction = option("sum", "how token log-probabilities become one score", offered=True)
    decide: bool = option(False, "score no further than the best option needs (multiple choice, ranking)")
    dtype: DTypeChoice = option(
        "float32",
        "number format of the model's weights; auto: as stored on a GPU, and on a CPU bfloat16 where it is faster",
        offered=True,
    )
    quantization: Quantization = option("none", "quantise the weights by bitsandbytes while they are loaded")
    start: str = option(AUTO, HELP, offered=True)
    protocol: ScoringProtocol = option(
        "usual",
        "lm-eval asks as BEAR's task in lm-evaluation-harness does: causal models, all templates, sums in float32",
        offered=True,
    )
    seed: int = option(0, "seed of everything that is drawn at random")
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", normalised_start(self.start))

    @property
    def scoring(self) -> Scoring:
        return Scoring(pll=self.pll, reduction=self.reduction, decide=int(self.decide))

    def refuse_kind(self, kind: Kind) -> None:
        """Raise `BadInput` where these settings ask for something that models of this kind do not have."""
        refuse_start(self.start, kind)
        if self.protocol == LM_EVAL and kind != "causal":
            raise BadInput(
                f"lm-evaluation-harness takes causal models only, so its protocol is none for {KINDS[kind].noun}.",
                "Leave out the protocol.",
            )

    @property
    def digest(self) -> str:
        """SHA-256 of the settings that differ from their defaults, as canonical JSON: part of a run's duplicate key.

        A setting that is added to the class later changes no digest of runs that have its default.
        """
        defaults = type(self)().to_json()
        changed = {name: value for name, value in self.to_json().items() if value != defaults[name]}
        return hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Settings":
        """Read what `to_json` wrote; unknown names are refused, missing ones take their default."""
        unknown = set(values) - set(cls.__dataclass_fields__)
        if unknown:
            raise BadInput(f"Unknown setting {', '.join(sorted(unknown))}.")
        tuples = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **tuples})


def refuse_pll(pll: PLL, kind: Kind, model: str) -> None:
    """Raise `BadInput` where somebody chose how masked models hide tokens, and `model` is of another kind."""
    if kind != "masked" and pll != Settings.pll:
        noun = KINDS[kind].noun
        raise BadInput(f"{model} is {noun}, which hides no tokens: pll does nothing.", "Leave pll out.")


def dtype_name(dtype: Any) -> str:
    """Return the name of a number format that is named, also as "torch.bfloat16", or given as a `torch.dtype`."""
    return str(dtype).removeprefix("torch.")


def usual_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names that records have.

    `relation` and `template` stand for `relations` and `templates`, and transformers called `dtype` `torch_dtype`
    before. Raises `BadInput` where one setting has two of its names.
    """
    names = {setting.called: name for name, setting in SETTINGS.items()} | {"torch_dtype": "dtype"}
    usual = {names.get(name, name): value for name, value in values.items()}
    if len(usual) < len(values):
        twice = [called for called, name in names.items() if called != name and {called, name} <= values.keys()]
        raise BadInput(f"{twice[0]} and {names[twice[0]]} are the same setting.", "Leave one of them out.")
    return usual


def usual_spelling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names that records have, with the number format as they write it."""
    usual = usual_names(values)
    return usual | ({"dtype": dtype_name(usual["dtype"])} if "dtype" in usual else {})


SETTINGS: Mapping[str, Option] = declared(Settings)
