"""The settings of a run: everything that can change a number, and nothing that cannot."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from probing.errors import BadInput
from probing.kinds import KINDS, Kind
from probing.language_model import PLL, Reduction, Scoring
from probing.options import Option, declared, option
from probing.start_token import AUTO, HELP, normalised_start, refuse_start

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
        "ask N items spread evenly over each relation's file; with a --seed other than 0, drawn at random",
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


def usual_spelling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with the number format as settings write it; transformers called it `torch_dtype` before."""
    usual = {"dtype" if name == "torch_dtype" else name: value for name, value in values.items()}
    return usual | ({"dtype": dtype_name(usual["dtype"])} if "dtype" in usual else {})


SETTINGS: Mapping[str, Option] = declared(Settings)
