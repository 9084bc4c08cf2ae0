"""Similarity (methods 2.3, "relatedness"): which option's vector is closest to the subject's?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.accuracy import accuracy_scores, baseline_scores, with_ties
from probing.analysis.details import condensed
from probing.arrays import Floats
from probing.benchmark import Item, Relation
from probing.errors import TooLong
from probing.language_model import LanguageModel
from probing.probes.choices import CHOICE_COLUMNS, choice_baselines, choice_frame, choice_row, non_finite
from probing.probes.probe import UNSCORED, Probe, Row, tag_columns, unless_too_long
from probing.settings import Settings
from probing.statements.prompting import item_prompt


@dataclass(frozen=True)
class Similarity(Probe):
    """Multiple choice by cosine similarity of an option's vector and the subject's; templates do not matter."""

    name: ClassVar[str] = "similarity"
    main_metric: ClassVar[str] = "relatedness"
    finds: ClassVar[str] = "finds the right answer nearest to the subject for {share} of these {n} facts"
    ahead: ClassVar[str] = "finds the right answer nearest for {points} points {more} of the facts"
    columns: ClassVar[frozenset[str]] = CHOICE_COLUMNS
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED
    has_log_probs: ClassVar[bool] = False

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        def row(item: Item, scores: Floats) -> Row:
            if not np.isfinite(scores).all():
                raise non_finite(model, relation, item, template)
            statement = item_prompt(relation, item, template)
            exact = np.ones(len(scores), dtype=bool)
            columns = choice_row(relation, statement, item, scores, exact)
            return {"relation": relation.label, "template": template} | columns

        texts = [(item.subject, relation.options_of(item)) for item in relation.items]
        for item, scores in zip(relation.items, cosines(model, texts), strict=True):
            yield unless_too_long(row, item, scores)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return choice_frame(rows)

    def condensed(self, rows: pd.DataFrame) -> pd.DataFrame:
        return condensed(rows)

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        return choice_baselines(rows, self)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        tags = tag_columns(self, rows.columns)
        scores = pd.concat([accuracy_scores(rows, tags), baseline_scores(rows, tags)], ignore_index=True)
        return with_ties(scores, rows).replace({"metric": {"accuracy": self.main_metric}})


def cosines(model: LanguageModel, texts: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Floats | TooLong]:
    """Yield, for each subject and its options, the cosine of the subject's vector to that of each option.

    Every distinct text is embedded once.
    """
    distinct = list(dict.fromkeys(text for subject, options in texts for text in (subject, *options)))
    answers = zip(distinct, model.embed(distinct), strict=True)
    vectors = {text: unless_too_long(_unit_vector, vector) for text, vector in answers}
    for subject, options in texts:
        yield unless_too_long(_cosines, vectors[subject], *(vectors[option] for option in options))


def _cosines(subject: Floats, *options: Floats) -> Floats:
    return np.array([float(subject @ option) for option in options])


def _unit_vector(vector: NDArray[np.float32]) -> Floats:
    """Return the vector with length 1, in float64, so that rounding does not decide the order of two close cosines."""
    wide = vector.astype(np.float64)
    unit: Floats = wide / np.linalg.norm(wide)
    return unit
