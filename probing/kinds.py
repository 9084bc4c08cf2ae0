"""Kinds of language models, and the differences between them that other modules need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["causal", "masked", "encoder-decoder"]


@dataclass(frozen=True)
class KindFacts:
    """Differences between kinds of models.

    `noun`: a model of this kind, with its article. `title`: the kind in a filter, with what it reads.
    `reads_right`: whether the model reads the text to the right of a blank. `writes`: whether it can continue texts.
    `chooses_start`: whether a run may choose the token before every text. `has_perplexity`: whether the probability of
    a sentence as a whole is defined by its tokens alone.
    """

    noun: str
    title: str
    reads_right: bool
    writes: bool
    chooses_start: bool
    has_perplexity: bool


KINDS: Mapping[Kind, KindFacts] = {
    "causal": KindFacts("a causal model", "causal (left to right)", False, True, True, True),
    "masked": KindFacts("a masked model", "masked (both sides)", True, False, False, True),
    "encoder-decoder": KindFacts(
        "an encoder-decoder", "encoder-decoder (reads both sides, writes)", True, True, False, False
    ),
}
