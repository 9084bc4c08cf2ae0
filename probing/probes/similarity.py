"""Similarity (methods 2.3, "relatedness"): whose vector lies closest to the subject's?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.benchmark import Relation
from probing.language_model import LanguageModel
from probing.probes.multiple_choice import MultipleChoice, not_finite, row
from probing.probes.probe import UNSCORED, Row
from probing.settings import Settings
from probing.template import prompt


@dataclass(frozen=True)
class Similarity(MultipleChoice):
    """Multiple choice by cosine: an option's score is that of its vector and the subject's; templates do not matter."""

    name: ClassVar[str] = "similarity"
    main_metric: ClassVar[str] = "relatedness"
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        asked = [(item.subject, relation.options_of(item)) for item in relation.items]
        for item, scores in zip(relation.items, cosines(model, asked), strict=True):
            if not np.isfinite(scores).all():
                raise not_finite(model, relation, item, template)
            statement = prompt(relation.template_of(item, template), item.subject)
            exact = np.ones(len(scores), dtype=bool)
            yield {"relation": relation.label, "template": template} | row(relation, statement, item, scores, exact)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return super().scores(rows).replace({"metric": {"accuracy": "relatedness"}})


def cosines(model: LanguageModel, asked: Sequence[tuple[str, Sequence[str]]]) -> Iterator[NDArray[np.float64]]:
    """For each text the cosine of its vector to that of each of its options; every distinct text is embedded once."""
    texts = list(dict.fromkeys(text for subject, options in asked for text in (subject, *options)))
    vectors = {text: _unit(vector) for text, vector in zip(texts, model.embed(texts), strict=True)}
    for subject, options in asked:
        yield np.array([float(vectors[subject] @ vectors[option]) for option in options])


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """In float64, so that the order of two close cosines does not rest on rounding."""
    wide = vector.astype(np.float64)
    unit: NDArray[np.float64] = wide / np.linalg.norm(wide)
    return unit
