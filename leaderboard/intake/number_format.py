"""The number format of a model's weights, chosen by the model's size unless the submitter chooses, and its memory."""

from dataclasses import replace
from typing import cast

from django.conf import settings as site

from probing.errors import TooLarge
from probing.files.weights import WeightSummary
from probing.language_model import DType
from probing.settings import Settings

ON_YOUR_OWN = "measure it on a machine of your own, with the library of this site"
ITEM_SIZE: dict[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes


def rule() -> str:
    """Return how the site chooses, as the form's help text."""
    return (
        f"chosen by the model's size: up to {_counted(site.FLOAT32_PARAMETERS)} parameters float32, above that the "
        "format in which the weights are stored; GGUF files are always computed in float32. auto: as stored, whatever "
        "the size, and float32 where this site computes on a CPU"
    )


def by_device(weights: WeightSummary) -> DType:
    """Return the number format for which `auto` stands here.

    A run has one number format, whichever worker takes a part of it, so that no processor is tried for it.
    """
    return "float32" if site.DEVICE == "cpu" else cast(DType, weights.dtype)


def reason(settings: Settings, weights: WeightSummary) -> str:
    """Return which number format is used and why, where the site chose it."""
    counts = _counted(weights.parameters), _counted(site.FLOAT32_PARAMETERS)
    if weights.parameters <= site.FLOAT32_PARAMETERS:
        return f"{settings.dtype}: {counts[0]} parameters are no more than {counts[1]}."
    return f"{settings.dtype}, as stored: {counts[0]} parameters are more than {counts[1]}."


def memory(settings: Settings, weights: WeightSummary) -> int:
    """Return the memory in bytes that a run of the model is expected to take: its weights and an allowance."""
    return round(weights.parameters * ITEM_SIZE[settings.dtype] * site.MEMORY_OVERHEAD)


def fits(settings: Settings, weights: WeightSummary) -> str:
    """Return a sentence about the model's memory, or raise `TooLarge` if it is more than this site has for a model."""
    needed, limit = memory(settings, weights), site.MODEL_MEMORY_LIMIT
    shares = f"{_gb(needed / site.MEMORY_OVERHEAD)} of weights and a quarter more for the computation"
    if needed <= limit:
        return f"{_gb(needed)} of memory in {settings.dtype} ({shares}), within {_gb(limit)}."
    smaller = replace(settings, dtype="bfloat16")
    alone = f"{ON_YOUR_OWN.capitalize()}."
    choose = f"Choose bfloat16 ({_gb(memory(smaller, weights))}), or {ON_YOUR_OWN}."
    raise TooLarge(
        f"In {settings.dtype} the model takes {_gb(needed)} of memory ({shares}); this site has {_gb(limit)}.",
        choose if memory(smaller, weights) <= limit else alone,
    )


def _gb(size: float) -> str:
    return f"{size / 10**9:.1f} GB"


def _counted(number: int) -> str:
    """Return a number of parameters in words, such as "7.2 billion"."""
    for unit, name in ((10**9, "billion"), (10**6, "million")):
        if number >= unit:
            return f"{number / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{number:,}"
