"""Ranking (methods 4.4): which of a predicate's candidates fits the blank best? Multiple choice over many options.

Cost per item, with c candidates: a masked model computes one input for each length that candidates have in tokens,
however many they are. A causal model computes the text up to the blank once and then the candidates as a tree of
tokens: at most c times their mean length, and for the second rule also what stands behind the blank, c times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.culture import ranking_scores
from probing.benchmark import Item, Relation
from probing.errors import UnsupportedModel
from probing.language_model import LanguageModel, OptionScores, Scoring, Span
from probing.probes.multiple_choice import Columns, MultipleChoice, ranked
from probing.probes.probe import Row
from probing.settings import Settings

# Tags that say the same as the relation, or the same in every row.
VERSION = ("predicate", "objects")
TYPES = {"prediction_statement": "int64", "rank_statement": "int64", "correct_statement": "bool"}


class RankingColumns(Columns):
    """`prediction_cultures`: in which the predicted candidate is a valid object. `..._statement`: the second rule's."""

    prediction_cultures: list[str]
    prediction_statement: int
    rank_statement: int
    correct_statement: bool


@dataclass(frozen=True)
class Ranking(MultipleChoice):
    """Candidates are ranked by the mean log-probability of their tokens.

    A masked model predicts all of them at once behind as many masks; a causal model is given the text left of them.
    The second rule, for causal models only, is the sum over the whole statement; `decide` leaves it out.
    `pair`: one culture pair, else all. `objects`: "augmented", or "raw" as before their superclasses were added.
    """

    name: ClassVar[str] = "ranking"

    pair: str = ""
    objects: str = "augmented"

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        """There may be thousands of candidates: their scores are kept in single precision."""
        for row in super().rows(model, relation, template, settings):
            tags = relation.answer_tags[row["prediction"]] if relation.answer_tags else {}
            yield row | {
                "scores": np.array(row["scores"], np.float32),
                "exact": np.array(row["exact"], bool),
                "prediction_cultures": list(tags.get("culture", ())),
            }

    def scoring(self, model: LanguageModel, settings: Settings) -> Scoring:
        both_rules = model.card.kind == "causal" and not settings.decide
        span: Span = "statement" if both_rules else "answer"
        return Scoring(pll="whole_answer", reduction="mean", decide=int(settings.decide), span=span)

    def option_scores(self, found: OptionScores, settings: Settings) -> NDArray[np.float64]:
        tokens = [tokens[answer] for tokens, answer in zip(found.log_probs, found.answers, strict=True)]
        if not all(map(len, tokens)):
            raise UnsupportedModel(
                "The model's tokenizer leaves nothing of some candidates.", "Choose a model for this language's script."
            )
        return np.array([each.mean() for each in tokens])

    def more(self, model: LanguageModel, item: Item, found: OptionScores, settings: Settings) -> Row:
        if self.scoring(model, settings).span == "answer":
            return {}
        prediction, correct, rank = ranked(found.reduce("sum"), item)
        return {"prediction_statement": prediction, "rank_statement": rank, "correct_statement": correct}

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        frame = super().frame(rows)
        return frame.astype({name: TYPES[name] for name in TYPES.keys() & set(frame)})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return ranking_scores(rows, self.dimensions(rows))

    def dimensions(self, rows: pd.DataFrame) -> list[str]:
        return [name for name in rows.columns if name not in (*RankingColumns.__annotations__, *VERSION)]
