"""Variants of a model: those that differ from it by what was done with its weights after its training.

They are told by their names, which have a word for it, and by their sizes.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

# Parts of a name that say so. "Base" counts at the end only, where it does not state a size as in bert-base-cased.
VARIANT = re.compile(
    r"[-_.](?:instruct|chat|it|sft|dpo|gguf|awq|gptq|bnb|fp8|i?q\d(?:_\w+)*|int[48]|[48]bit)(?=[-_.+]|$)|-base$",
    re.IGNORECASE,
)
SIMILAR = 1.1  # how many times the parameters of the one another variant has at most


def folded(rows: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return the first row of each model with the rows of its other variants, all in their order.

    A variant has a row of its own where it has a figure on a benchmark on which that row has none.
    """
    firsts: dict[str, list[tuple[dict[str, Any], list[dict[str, Any]]]]] = {}
    models: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for row in rows:
        alike = firsts.setdefault(common_name(row["hub_id"]), [])
        others = next((others for first, others in alike if _has_room_for(first, row)), None)
        if others is None:
            alike.append((row, []))
            models.append(alike[-1])
        else:
            others.append(row)
    return models


def _has_room_for(first: dict[str, Any], row: dict[str, Any]) -> bool:
    is_alike = is_of_similar_size(first["parameters"], row["parameters"])
    return is_alike and row["figures"].keys() <= first["figures"].keys()


@lru_cache(maxsize=2**12)
def common_name(hub_id: str) -> str:
    """Return what the ids of all variants of a model have in common, in small letters."""
    return VARIANT.sub("", hub_id.partition("+")[0]).casefold()


def is_of_similar_size(one: int | None, other: int | None) -> bool:
    """Tell whether two numbers of parameters may be those of one network; an unknown one may."""
    return not one or not other or max(one, other) <= SIMILAR * min(one, other)
