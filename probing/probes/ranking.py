"""Ranking (methods 4.4): which of a predicate's candidates fits the blank best? Multiple choice over many options.

Cost per item, with c candidates: a masked model computes one input for each length that candidates have in tokens,
however many they are. A causal model computes the text up to the blank once and then the candidates as a tree of
tokens: at most c times their mean length, and for the second rule also what stands behind the blank, c times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.culture import ranking_scores
from probing.benchmark import Item, Relation
from probing.errors import UnsupportedModel
from probing.formats.dlama import pair_named
from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.probes.columns import VERSION_TAGS
from probing.probes.multiple_choice import Answer, MultipleChoice, MultipleChoiceColumns, ranked
from probing.probes.probe import Row, tag_columns
from probing.settings import Settings
from probing.template import Prompt

TYPES = {"prediction_statement": "int64", "rank_statement": "int64", "correct_statement": "bool"}


class RankingColumns(MultipleChoiceColumns):
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
    main_metric: ClassVar[str] = "p_at_1"
    columns: ClassVar[frozenset[str]] = frozenset(RankingColumns.__annotations__) | VERSION_TAGS
    fixed: ClassVar[Mapping[str, Any]] = {"pll": "whole_answer", "reduction": "mean"}

    pair: str = ""
    objects: str = "augmented"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pair", pair_named(self.pair))

    def answers(self, model: LanguageModel, asked: Iterable[Request], settings: Settings) -> Iterator[Answer]:
        if model.card.kind == "causal" and not settings.decide:
            return both_rules(model, asked)
        texts = asked if model.card.kind == "masked" else (before(*each) for each in asked)
        scoring = Scoring(**self.fixed, decide=int(settings.decide), span="answer")
        return (Answer(found.reduce(scoring.reduction), found.exact) for found in model.score(texts, scoring))

    def more(self, relation: Relation, item: Item, answer: Answer) -> Row:
        """There may be thousands of candidates: their scores are kept in single precision."""
        prediction, _, _ = ranked(answer.scores, item)
        tags = relation.answer_tags[prediction] if relation.answer_tags else {}
        columns: Row = {
            "scores": answer.scores.astype(np.float32),
            "exact": answer.exact,
            "prediction_cultures": list(tags.get("culture", ())),
        }
        if answer.second is not None:
            prediction, correct, rank = ranked(answer.second, item)
            columns |= {"prediction_statement": prediction, "rank_statement": rank, "correct_statement": correct}
        return columns

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        frame = super().frame(rows)
        return frame.astype({name: TYPES[name] for name in TYPES.keys() & set(frame)})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return ranking_scores(rows, tag_columns(self, rows.columns))


def both_rules(model: LanguageModel, asked: Iterable[Request]) -> Iterator[Answer]:
    """Each prompt up to its blank and then whole, side by side, so that the two share what they have in common."""
    twice = (each for text, options in asked for each in (before(text, options), (text, options)))
    found = model.score(twice, Scoring())
    for cut, whole in zip(found, found, strict=False):
        yield Answer(answer_means(cut), cut.exact, whole.reduce("sum"))


def before(text: Prompt, options: Sequence[str]) -> Request:
    """The prompt without what follows the scored blank; the space before the blank goes to the options."""
    left = text.pieces[text.scored]
    kept = left.rstrip(" ")
    cut = replace(text, pieces=(*text.pieces[: text.scored], kept, ""))
    return cut, [left[len(kept) :] + option for option in options]


def answer_means(found: OptionScores) -> NDArray[np.float64]:
    """The mean log-probability of each option's own tokens."""
    parts = [tokens[answer] for tokens, answer in zip(found.log_probs, found.answers, strict=True)]
    if not all(map(len, parts)):
        step = "Choose a model that knows this language's script."
        raise UnsupportedModel("The model's tokenizer leaves nothing of some candidates.", step)
    return np.array([part.mean() for part in parts])
