"""Names of a model's revisions, such as `step1000`, and the step of the training that they state."""

import re

UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
STEP = re.compile(
    r"(?:^|[-_/])(?:global[-_]?step|step|checkpoint|ckpt|iter|update)s?[-_]?0*(\d{1,15})(k|m)?(?![^\W_])", re.I
)
TOKENS = re.compile(r"(?:^|[-_/])tokens?[-_]?(\d{1,15}(?:\.\d{1,6})?)([kmbt])?(?![^\W_])", re.I)
NUMBER = re.compile(r"0*(\d{1,15})")


def position(revision: str) -> tuple[int, int | None] | None:
    """Return the point of the training that a name states, None if it states none.

    The point is the number of optimiser steps, and that of the tokens read so far, None if the name does not state it.
    Read are the names of Pythia (`step1000`), OLMo (`step1000-tokens4B`), the Trainer of transformers
    (`checkpoint-500`), Megatron (`iter_0001000`, `global_step1000`), and a number alone.
    """
    step = STEP.search(revision) or NUMBER.fullmatch(revision)
    if step is None:
        return None
    tokens = TOKENS.search(revision)
    return _count(*step.groups()), (_count(*tokens.groups()) if tokens else None)


def _count(number: str, unit: str | None = None) -> int:
    return (
        round(float(number) * UNITS[(unit or "").lower()])
        if "." in number
        else int(number) * UNITS[(unit or "").lower()]
    )
