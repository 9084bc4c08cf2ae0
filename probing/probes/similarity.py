"""Similarity (methods 2.3, "relatedness"): which option's vector is closest to the subject's?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.benchmark import Relation
from probing.language_model import LanguageModel
from probing.probes.multiple_choice import MultipleChoice, choice_row, non_finite
from probing.probes.probe import UNSCORED, Row
from probing.settings import Settings
from probing.template import prompt


@dataclass(frozen=True)
class Similarity(MultipleChoice):
    """Multiple choice by cosine similarity of an option's vector and the subject's; templates do not matter."""

    name: ClassVar[str] = "similarity"
    main_metric: ClassVar[str] = "relatedness"
    harness_protocol: ClassVar[bool] = False
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        texts = [(item.subject, relation.options_of(item)) for item in relation.items]
        for item, scores in zip(relation.items, cosines(model, texts), strict=True):
            if not np.isfinite(scores).all():
                raise non_finite(model, relation, item, template)
            statement = prompt(relation.template_of(item, template), item.subject)
            exact = np.ones(len(scores), dtype=bool)
            columns = choice_row(relation, statement, item, scores, exact)
            yield {"relation": relation.label, "template": template} | columns

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return super().scores(rows).replace({"metric": {"accuracy": "relatedness"}})


def cosines(model: LanguageModel, texts: Sequence[tuple[str, Sequence[str]]]) -> Iterator[NDArray[np.float64]]:
    """Yield, for each subject and its options, the cosine of the subject's vector to that of each option.

    Every distinct text is embedded once.
    """
    distinct = list(dict.fromkeys(text for subject, options in texts for text in (subject, *options)))
    vectors = {text: _unit_vector(vector) for text, vector in zip(distinct, model.embed(distinct), strict=True)}
    for subject, options in texts:
        yield np.array([float(vectors[subject] @ vectors[option]) for option in options])


def _unit_vector(vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the vector with length 1, in float64, so that rounding does not decide the order of two close cosines."""
    wide = vector.astype(np.float64)
    unit: NDArray[np.float64] = wide / np.linalg.norm(wide)
    return unit
