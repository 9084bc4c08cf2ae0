"""What the caller of a run names as the model: checked before torch is imported, which takes seconds, then opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import probing
from probing.errors import BadInput
from probing.language_model import LanguageModel
from probing.settings import SETTINGS


@dataclass(frozen=True)
class ModelSource:
    """The arguments of `probing.run` that say which model is probed and how it is loaded."""

    model: Any
    tokenizer: Any = None
    commit: str = ""
    device: str = "auto"
    batch_tokens: int | None = None

    def refuse_bad(self) -> None:
        """Raise `BadInput` where an argument has the wrong type, or has no effect on this kind of source."""
        if self._is_named:
            self._refuse_bad_loading()
        elif self.model is None or isinstance(self.model, int | float | bytes | list | tuple | dict | type):
            raise BadInput(
                f"{self.model!r:.80} is no model.",
                "Give a hub id, a folder, a GGUF file, or a network of transformers with its tokenizer.",
            )
        elif self.commit or self.device != "auto":
            raise BadInput(
                "commit and device are for models that are loaded by the run; this one is in memory.",
                "Leave them out, and move the network to the device yourself.",
            )
        if self.tokenizer is not None and (self._is_named or self._is_wrapped):
            raise BadInput("This model has its own tokenizer.", "Leave tokenizer out, or hand over the network itself.")
        refuse_bad_batch(self.batch_tokens)

    def _refuse_bad_loading(self) -> None:
        for name, value in (("commit", self.commit), ("device", self.device)):
            if not isinstance(value, str):
                raise BadInput(f"{name} cannot be {value!r:.80}.", "Give it as text.")

    def open(self, dtype: str) -> LanguageModel:
        """Return the model; one that is named is loaded with weights of this number format."""
        if self._is_named:
            loaded = probing.load(
                str(self.model),
                commit=self.commit,
                device=self.device,
                dtype=dtype,
                batch_tokens=self.batch_tokens,
            )
            return cast(LanguageModel, loaded)
        if self._is_wrapped:
            return cast(LanguageModel, self.model)
        return cast(LanguageModel, probing.wrap(self.model, self.tokenizer, batch_tokens=self.batch_tokens))

    @property
    def _is_named(self) -> bool:
        return isinstance(self.model, str | Path)

    @property
    def _is_wrapped(self) -> bool:
        """Tell whether the model is one that probes can ask already."""
        return hasattr(self.model, "card") and hasattr(self.model, "score")


def refuse_bad_batch(tokens: Any) -> None:
    """Raise `BadInput` where this is no number of token positions per batch."""
    if tokens is not None and (type(tokens) is not int or tokens < 1):
        raise BadInput(f"Batches cannot hold {tokens!r:.80} tokens.", "Give a whole number, 1 or more.")


def refuse_without_effect(settings: Mapping[str, Any], model: LanguageModel) -> None:
    """Raise `BadInput` where the caller chose a setting that does nothing on this model; it would enter the record."""
    dtype = settings.get("dtype", model.dtype)
    if dtype != model.dtype:
        raise BadInput(
            f"{model.card.id} is in memory with weights of type {model.dtype}, not {dtype}.",
            "Leave dtype out, or hand over the network in that type.",
        )
    if model.card.kind == "causal" and settings.get("pll", SETTINGS["pll"].default) != SETTINGS["pll"].default:
        raise BadInput(f"{model.card.id} is a causal model, which hides no tokens: pll does nothing.", "Leave pll out.")
