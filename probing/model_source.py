"""The model that the caller of a run names: checked before torch is imported, which takes seconds, and opened once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import probing
from probing.errors import BadInput, ProbingError
from probing.extras import MERGING, READING_GGUF, require_package, require_scoring
from probing.files.adapters import split_adapter
from probing.files.description import describe
from probing.files.model_files import HUB_GGUF, locate, refuse_own_tokenizer
from probing.files.weights import quantised_to, require_library
from probing.language_model import KnownModel, LanguageModel
from probing.settings import AUTO_DTYPE, Settings, refuse_pll, usual_spelling

# The strategies by which accelerate spreads a model over devices.
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
# Implementations of attention that take a mask for each pair of tokens, as the prefix tree needs it.
ATTENTION = ("sdpa", "eager")
AUTO = "auto"
SERVED = "openai:"  # with which the address of a server of models begins

Weights = tuple[str, str]  # their number format, and how they are quantised


@dataclass(frozen=True)
class ModelSource:
    """The arguments of `probing.run` that say which model is probed and how it is loaded.

    `model`: a hub id, a folder, a GGUF file, the address of a served model (`probing.connect`), what `probing.load`,
    `wrap` or `connect` returns, or a network in memory, which is left exactly as it is (`probing.wrap` says which
    networks are taken).
    `tokenizer`: that of a network in memory; by default the one of the folder or repository that it was loaded from.
    For a folder, another folder or a hub id whose tokenizer is taken; a checkpoint such as `checkpoint-500` that has
    none takes that of the folder around it. For a served model, that of the model which is served.
    `commit`: of a model of the hub; the newest by default.
    `device`: auto (a GPU if there is one), cpu, cuda, cuda:1 ... `device_map`: where the parts of a model go that is
    spread over several devices, as accelerate takes it ("auto", "balanced", "sequential", or a mapping from modules to
    devices); in place of `device`.
    `attn_implementation`: sdpa or eager; by default what transformers chooses.
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    `shared`: a memory in which the models of a sweep share tokenized statements; None without one.
    """

    model: Any
    tokenizer: Any = None
    commit: str = ""
    device: str = AUTO
    batch_tokens: int | None = None
    device_map: Any = None
    attn_implementation: str = ""
    shared: dict[Any, Any] | None = field(default=None, repr=False, compare=False)
    _opened: dict[Weights, LanguageModel] = field(default_factory=dict, init=False, repr=False, compare=False)
    _failures: dict[Weights, tuple[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def refuse_bad(self) -> None:
        """Raise `BadInput` where an argument has the wrong type, or has no effect on this kind of source."""
        chosen = self.commit or self.device != AUTO or self.device_map is not None or self.attn_implementation
        if self._is_named and not self.is_served:
            self._refuse_bad_loading()
        elif self.is_served:
            self._refuse_bad_serving(bool(chosen))
        elif self.model is None or isinstance(self.model, int | float | bytes | list | tuple | dict | type):
            raise BadInput(
                f"{self.model!r:.80} is no model.",
                "Give a hub id, a folder, a GGUF file, or a network of transformers with its tokenizer.",
            )
        elif chosen:
            raise BadInput(
                "commit, device, device_map and attn_implementation are for models that are loaded by the run; "
                "this one is in memory.",
                "Leave them out, and move the network to the device yourself.",
            )
        if self.tokenizer is not None and self._is_wrapped:
            raise BadInput("This model has its own tokenizer.", "Leave tokenizer out, or hand over the network itself.")
        refuse_bad_batch(self.batch_tokens)

    def _refuse_bad_loading(self) -> None:
        if not isinstance(self.commit, str):
            raise BadInput(f"commit cannot be {self.commit!r:.80}.", "Give it as text.")
        if not isinstance(self.device, str):
            raise BadInput(f"device cannot be {self.device!r:.80}.", "Give it as text, such as cuda:0.")
        if "," in self.device:
            step = "Name one; device_map spreads one model, and an executor shares the models of a study."
            raise BadInput(f"A model is measured on one device, not on {self.device:.80}.", step)
        if not isinstance(self.tokenizer, str | Path | None):
            raise BadInput(
                "Only a network in memory takes a tokenizer in memory.", "Give the folder or hub id of the tokenizer."
            )
        refuse_bad_device_map(self.device_map, self.device)
        refuse_bad_attention(self.attn_implementation)
        if self.tokenizer:
            refuse_own_tokenizer(str(self.model))

    def _refuse_bad_serving(self, chosen: bool) -> None:
        if chosen or self.batch_tokens is not None:
            raise BadInput(
                "commit, device, device_map, attn_implementation and batch_tokens are for models that are loaded by "
                f"the run; the server of {self.model} has loaded this one.",
                "Leave them out.",
            )
        if not isinstance(self.tokenizer, str | Path | None):
            raise BadInput("A served model takes no tokenizer in memory.", "Give its folder or hub id.")

    def open(self, dtype: str, quantization: str = "none") -> LanguageModel:
        """Return the model; one that is named is loaded with its weights in this number format, or quantised.

        It is loaded once, and again only for other weights, of which memory holds one kind at a time. An error of the
        first attempt is raised again without another attempt.
        """
        weights = dtype, quantization
        if weights in self._failures:
            raise ProbingError(*self._failures[weights])
        if weights not in self._opened:
            self.close()
            try:
                self._opened[weights] = self._open(dtype, quantization)
            except ProbingError as error:
                # Its words alone, because the frames of an error hold what was loaded so far.
                self._failures[weights] = (error.message, error.next_step)
                raise
        return self._opened[weights]

    def identity(self) -> dict[str, Any] | None:
        """Return what the record of a run will say of the model, read from its files: id, commit and digests.

        None for what files alone do not tell: networks in memory, served models and adapters.
        """
        if not self._is_named or self.is_served or split_adapter(str(self.model))[1]:
            return None
        files = locate(str(self.model), self.commit, tokenizer=str(self.tokenizer or ""))
        return {"id": str(self.model), "commit": files.commit, "files": files.digests}

    def close(self) -> None:
        """Let go of the model that was opened."""
        self._opened.clear()

    def _open(self, dtype: str, quantization: str) -> LanguageModel:
        if self.is_served:
            return cast(LanguageModel, probing.connect(str(self.model), tokenizer=str(self.tokenizer or "")))
        if self._is_named:
            self._refuse_incomplete(quantization)
            loaded = probing.load(
                str(self.model),
                commit=self.commit,
                tokenizer=str(self.tokenizer or ""),
                device=self.device,
                device_map=self.device_map,
                dtype=dtype,
                quantization=quantization,
                attn_implementation=self.attn_implementation,
                batch_tokens=self.batch_tokens,
            )
            if self.shared is not None:
                loaded.share_tokens(self.shared)
            return cast(LanguageModel, loaded)
        if self._is_wrapped:
            return cast(LanguageModel, self.model)
        return cast(LanguageModel, probing.wrap(self.model, self.tokenizer, batch_tokens=self.batch_tokens))

    def _refuse_incomplete(self, quantization: str) -> None:
        """Raise where a package or a file on this disk is missing, before torch is imported to load the model."""
        require_scoring()
        if quantization != "none":
            require_library(quantised_to(quantization))
        base, adapter = split_adapter(str(self.model))
        if adapter:
            require_package("peft", "peft", MERGING)
        if base.startswith(HUB_GGUF):
            require_package("gguf", "gguf", READING_GGUF)
        elif base.endswith(".gguf") or Path(base).is_dir():
            files = locate(base, self.commit, tokenizer=str(self.tokenizer or ""))
            if files.gguf:
                require_package("gguf", "gguf", READING_GGUF)
            else:
                describe(files.listing())

    @property
    def is_served(self) -> bool:
        """Tell whether a server computes the model (`probing.connect`)."""
        return isinstance(self.model, str) and self.model.startswith(SERVED)

    @property
    def _is_named(self) -> bool:
        return isinstance(self.model, str | Path)

    @property
    def _is_wrapped(self) -> bool:
        return hasattr(self.model, "card") and hasattr(self.model, "score")


def refuse_bad_batch(tokens: Any) -> None:
    """Raise `BadInput` where this is no number of token positions per batch."""
    if tokens is not None and (type(tokens) is not int or tokens < 1):
        raise BadInput(f"Batches cannot hold {tokens!r:.80} tokens.", "Give a whole number, 1 or more.")


def refuse_bad_device_map(device_map: Any, device: str) -> None:
    """Raise `BadInput` where this is no map of devices, or a device is named beside it."""
    if device_map is None:
        return
    if device_map not in DEVICE_MAPS if isinstance(device_map, str) else not isinstance(device_map, Mapping):
        names = ", ".join(DEVICE_MAPS)
        raise BadInput(f"device_map cannot be {device_map!r:.80}.", f"Choose {names}, or map modules to devices.")
    if device != AUTO:
        raise BadInput("device and device_map both say where the model goes.", "Leave out one of the two.")


def refuse_bad_attention(name: Any) -> None:
    """Raise `BadInput` where this is no implementation of attention that scoring can use."""
    if name not in ("", *ATTENTION):
        raise BadInput(
            f"attn_implementation cannot be {name!r:.80}: scoring needs a mask for each pair of tokens.",
            f"Choose from: {', '.join(ATTENTION)}; networks in memory with another one are scored with sdpa.",
        )


def refuse_without_effect(settings: Mapping[str, Any], model: KnownModel) -> None:
    """Raise `BadInput` where the caller chose a setting that does nothing on this model; it would enter the record."""
    settings = usual_spelling(settings)
    dtype = settings.get("dtype", model.dtype)
    loaded = "served" if model.card.source == "served" else "in memory"
    if dtype not in (model.dtype, AUTO_DTYPE):
        raise BadInput(
            f"{model.card.id} is {loaded} with weights of type {model.dtype}, not {dtype}.",
            "Leave dtype out, or hand over the network in that type.",
        )
    if settings.get("quantization", "none") != "none" and not model.card.quantisation:
        raise BadInput(
            f"{model.card.id} is {loaded}, and this run does not quantise its weights.",
            "Leave quantization out, or hand over a network that was loaded with a quantisation config.",
        )
    refuse_pll(settings.get("pll", Settings.pll), model.card.kind, model.card.id)
