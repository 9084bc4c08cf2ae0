"""The text part of a model that also sees or hears: its config, and its tensors among those of the whole model.

Only this part is probed: no other tensor is read, files that hold nothing of it are not downloaded, and its size is
that of the model. A model has one if its config holds a `text_config` of a type for which transformers has a causal
language model.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from probing.files.configs import architecture_of, causal_class, is_generator
from probing.files.weights import KEY

# What stands in the name of a tensor before the name that it has in the text part alone. All models of transformers
# that have a text part call it so; its head may lie in the part, or beside it.
BEFORE = r"^(?:\w+\.)*?(?:language_model|text_model)\."
HEAD = re.compile(r"(?:.+\.)?lm_head\.\w+")
# How transformers renames the tensors of the whole model so that the text part finds its own.
RENAMED = {BEFORE: ""}
ValueT = TypeVar("ValueT")


class TextPart(NamedTuple):
    """The text part of a model that also sees or hears.

    `architecture`: the causal class that loads it; `whole`: the class of the whole model; `config`: that of the part.
    """

    architecture: str
    whole: str
    config: Mapping[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "TextPart | None":
        """Return the text part of the model that a config describes, None if it has none or is nothing else."""
        nested, whole = config.get("text_config"), architecture_of(config)
        if not isinstance(nested, Mapping) or not is_generator(whole):
            return None
        architecture = causal_class(str(nested.get("model_type") or ""))
        return cls(architecture, whole, nested) if architecture else None

    def complete_config(self, whole: Mapping[str, Any], tensors: Iterable[str]) -> dict[str, Any]:
        """Return the config of the part as that of a model of its own.

        `tensors`: the names of its tensors. They tell whether the head shares the weights of the embeddings, for which
        the defaults of the part and of the whole model differ.
        """
        quantised = {KEY: whole[KEY]} if whole.get(KEY) else {}
        tied = not any(HEAD.fullmatch(name) for name in tensors)
        return {**self.config, **quantised, "architectures": [self.architecture], "tie_word_embeddings": tied}

    @property
    def title(self) -> str:
        """The class of the part with that of the whole model, as results name the model's architecture."""
        return f"{self.architecture} (text part of {self.whole})"

    @property
    def note(self) -> str:
        """What the reader of a result is told about the parts that were left out."""
        return f"Only the text part of {self.whole} is probed: its other weights are neither loaded nor counted."


def of_text(named: Mapping[str, ValueT]) -> dict[str, ValueT]:
    """Return the entries of a model's tensors that belong to its text part, all of them where no name tells any."""
    inside = {name for name in named if re.match(BEFORE, name)}
    return {name: value for name, value in named.items() if not inside or name in inside or HEAD.fullmatch(name)}


def probed_architecture(config: Mapping[str, Any]) -> str:
    """Return the model class of what is probed: of the text part if there is one, else of the whole model."""
    part = TextPart.of(config)
    return part.architecture if part else architecture_of(config)
