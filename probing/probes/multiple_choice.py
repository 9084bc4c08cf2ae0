"""Multiple choice (methods 1.2): which option makes the most probable statement?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.accuracy import accuracy_scores
from probing.analysis.comparison import CORRECT, Correctness
from probing.benchmark import Item, Relation
from probing.errors import NonFiniteScores
from probing.language_model import LanguageModel, Request
from probing.probes.columns import RowColumns
from probing.probes.probe import Row, tag_columns
from probing.settings import Settings
from probing.template import Prompt, prompt

OTHER_BLANK = "…"  # how a blank that is not scored is shown


class MultipleChoiceColumns(RowColumns):
    """What every row has; any further column is a tag. Options are indices into the answer space."""

    answer: int
    answers: list[int]
    prediction: int
    correct: bool
    rank: int | None
    margin: float | None
    scores: list[float]
    exact: list[bool]
    answer_label: str
    prediction_label: str
    statement: str


class Answer(NamedTuple):
    """Scores of the options, and which of them are exact; a preset may rank by a second kind of scores too."""

    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]
    second: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class MultipleChoice:
    """One row per item and template; the prediction is the best option, the first of equals.

    `rank`: place of the best-ranked right option, from 1. `margin`: best right option's score minus best wrong one's.
    Both are empty where `decide` left the scores that they rest on open, and `margin` where no option is wrong.
    """

    name: ClassVar[str] = "multiple_choice"
    main_metric: ClassVar[str] = "accuracy"
    columns: ClassVar[frozenset[str]] = frozenset(MultipleChoiceColumns.__annotations__)
    fixed: ClassVar[Mapping[str, Any]] = {}
    correctness: ClassVar[Correctness] = CORRECT

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        prompts = [prompt(relation.template_of(item, template), item.subject) for item in relation.items]
        asked = ((text, relation.options_of(item)) for text, item in zip(prompts, relation.items, strict=True))
        # Not strict: a model that answers too few prompts is found by the check that the result is complete.
        for item, text, answer in zip(relation.items, prompts, self.answers(model, asked, settings), strict=False):
            if not np.isfinite(answer.scores).all():
                raise not_finite(model, relation, item, template)
            about = {"relation": relation.label, "template": template}
            yield about | row(relation, text, item, answer.scores, answer.exact) | self.more(relation, item, answer)

    def answers(self, model: LanguageModel, asked: Iterable[Request], settings: Settings) -> Iterator[Answer]:
        """What the options of each prompt are ranked by."""
        for found in model.score(asked, settings.scoring):
            yield Answer(found.reduce(settings.reduction), found.exact)

    def more(self, relation: Relation, item: Item, answer: Answer) -> Row:
        """Columns that only a preset of this probe has."""
        return {}

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return accuracy_scores(rows, tag_columns(self, rows.columns))


def not_finite(model: LanguageModel, relation: Relation, item: Item, template: int) -> NonFiniteScores:
    return NonFiniteScores(
        f"{model.card.id} gave a score that is not a number on {relation.id}, item {item.index}, template {template}.",
        "Try --dtype float32; if it stays so, the weights are damaged.",
    )


def row(
    relation: Relation, asked: Prompt, item: Item, scores: NDArray[np.float64], exact: NDArray[np.bool_]
) -> dict[str, Any]:
    """What one item's option scores say."""
    options = relation.options_of(item)
    prediction, correct, rank = ranked(scores, item)
    right = np.isin(np.arange(len(scores)), item.answers)
    known = bool(exact.all())
    return {
        "index": item.index,
        "subject": item.subject,
        "subject_id": item.subject_id,
        "answer": item.answers[0],
        "answers": list(item.answers),
        "prediction": prediction,
        "correct": correct,
        "rank": rank if known or correct else None,
        "margin": float(scores[right].max() - scores[~right].max()) if known and not right.all() else None,
        "scores": scores.tolist(),
        "exact": exact.tolist(),
        "answer_label": options[item.answers[0]],
        "prediction_label": options[prediction],
        "statement": asked.fill(options[prediction], OTHER_BLANK).text,
        **{tag: list(value) if isinstance(value, tuple) else value for tag, value in relation.tags_of(item).items()},
    }


def ranked(scores: NDArray[np.float64], item: Item) -> tuple[int, bool, int]:
    """The best option, the first of equals; whether it is right; the place of the best-ranked right option, from 1."""
    order = np.argsort(-scores, kind="stable")
    rank = int(np.argmax(np.isin(order, item.answers))) + 1
    return int(order[0]), rank == 1, rank
