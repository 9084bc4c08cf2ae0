"""The text part of a model that also sees or hears: its config, and its tensors among those of the whole model.

Only this part is probed: no other tensor is read, files that hold nothing of it are not downloaded, and its size is
that of the model. A model has one if the type of its `text_config` is one for which transformers has a causal language
model, which then loads the part alone, or a network without a head, which the whole model then calls on texts.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from probing.files.configs import (
    architecture_of,
    causal_class,
    declared_text_type,
    inner_class,
    is_generator,
    kind_of,
    require_kind,
    writes_down_speech,
)
from probing.files.weights import QUANTISATION
from probing.kinds import Kind

# What stands in the name of a tensor before the name that it has in the text part alone. All models of transformers
# that have a text part call it so; its head may lie in the part, or beside it.
BEFORE = r"^(?:\w+\.)*?(?:language_model|text_model)\."
HEAD = re.compile(r"(?:.+\.)?lm_head\.\w+")
# Names in checkpoints where the text part has no name of its own, such as those of Qwen2-VL: all but of what sees.
UNNAMED = r"^(?!(?:\w+\.)*vi[st])"
# How transformers renames the tensors of the whole model so that the text part finds its own.
RENAMED = {BEFORE: ""}
ValueT = TypeVar("ValueT")


class TextPart(NamedTuple):
    """The text part of a model that also sees or hears.

    `architecture`: its class; `whole`: the class of the whole model; `config`: that of the part. `stands_alone`:
    whether its class loads it as a model of its own; if not, the whole model is loaded without its other parts.
    """

    architecture: str
    whole: str
    config: Mapping[str, Any]
    stands_alone: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "TextPart | None":
        """Return the text part of the model that a config describes, None if it has none or is nothing else."""
        whole, whole_type = architecture_of(config), str(config.get("model_type") or "")
        nested = config.get("text_config")
        if nested is None and kind_of(whole) is None:  # some configs name the sizes of their text part beside it
            nested = {**config, "model_type": declared_text_type(whole_type)}
        if not isinstance(nested, Mapping) or not is_generator(whole):
            return None
        text_type = str(nested.get("model_type") or "")
        if causal := causal_class(text_type):
            return cls(causal, whole, nested, stands_alone=True)
        inner = "" if writes_down_speech(whole) else inner_class(text_type, whole_type)
        return cls(inner, whole, nested, stands_alone=False) if inner else None

    def complete_config(self, whole: Mapping[str, Any], tensors: Iterable[str]) -> dict[str, Any]:
        """Return the config of the part as that of a model of its own, or that of the whole model which loads it.

        `tensors`: the names of its tensors. They tell whether the head shares the weights of the embeddings, for which
        the defaults of the part and of the whole model differ.
        """
        if not self.stands_alone:
            return dict(whole)
        quantised = {QUANTISATION: whole[QUANTISATION]} if whole.get(QUANTISATION) else {}
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
    for pattern in (BEFORE, UNNAMED):
        if inside := {name for name in named if re.match(pattern, name)}:
            return {name: value for name, value in named.items() if name in inside or HEAD.fullmatch(name)}
    return dict(named)


def probed_kind(config: Mapping[str, Any]) -> Kind:
    """Return the kind of what is probed, the text part if there is one; raise `NoHead` if it has no head."""
    return "causal" if TextPart.of(config) else require_kind(architecture_of(config))
