"""Multiple choice (methods 1.2): which option makes the most probable statement?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.accuracy import accuracy_scores
from probing.benchmark import Item, Relation
from probing.errors import NonFiniteScores
from probing.language_model import LanguageModel, Request
from probing.probes.columns import RowColumns, tag_cells
from probing.probes.probe import Probe, Row, tag_columns
from probing.settings import Settings
from probing.template import Prompt, prompt

OTHER_BLANK = "…"  # stands for a blank that is not scored


class MultipleChoiceColumns(RowColumns):
    """Columns of a row; any further column is a tag. Options are indices into the answer space."""

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


class RankedOptions(NamedTuple):
    """The scores by which an item's options are ranked, and which of them are exact.

    `second`: the scores of a preset's second rule.
    """

    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]
    second: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class MultipleChoice(Probe):
    """One row per item and template; the prediction is the best option, the first of equals.

    `rank`: place of the best-ranked right option, from 1. `margin`: best right option's score minus best wrong one's.
    Both are empty where `decide` left the scores that they rest on open, and `margin` where no option is wrong.
    """

    name: ClassVar[str] = "multiple_choice"
    main_metric: ClassVar[str] = "accuracy"
    harness_protocol: ClassVar[bool] = True
    columns: ClassVar[frozenset[str]] = frozenset(MultipleChoiceColumns.__annotations__)

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        prompts = [prompt(relation.template_of(item, template), item.subject) for item in relation.items]
        requests = ((text, relation.options_of(item)) for text, item in zip(prompts, relation.items, strict=True))
        answers = self.answers(model, requests, settings)
        # Not strict: the check that the result is complete reports a model that answers too few prompts.
        for item, text, answer in zip(relation.items, prompts, answers, strict=False):
            if not np.isfinite(answer.scores).all():
                raise non_finite(model, relation, item, template)
            key = {"relation": relation.label, "template": template}
            columns = choice_row(relation, text, item, answer.scores, answer.exact)
            yield key | columns | self.more(relation, item, answer)

    def answers(self, model: LanguageModel, requests: Iterable[Request], settings: Settings) -> Iterator[RankedOptions]:
        """Yield the scores by which each prompt's options are ranked."""
        for scores in model.score(requests, settings.scoring):
            yield RankedOptions(scores.reduce(settings.reduction), scores.exact)

    def more(self, relation: Relation, item: Item, answer: RankedOptions) -> Row:
        """Return further columns of the row; presets of this probe override it."""
        return {}

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return accuracy_scores(rows, tag_columns(self, rows.columns))


def non_finite(model: LanguageModel, relation: Relation, item: Item, template: int) -> NonFiniteScores:
    """Return the error for an item whose scores are not finite."""
    return NonFiniteScores.of(model.card.id, f"on {relation.id}, item {item.index}, template {template}")


def choice_row(
    relation: Relation, text: Prompt, item: Item, scores: NDArray[np.float64], exact: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the columns of a row that depend on the item and its option scores."""
    options = relation.options_of(item)
    prediction, correct, rank = ranked(scores, item)
    right = np.isin(np.arange(len(scores)), item.answers)
    all_exact = bool(exact.all())
    return {
        "index": item.index,
        "subject": item.subject,
        "subject_id": item.subject_id,
        "answer": item.answers[0],
        "answers": list(item.answers),
        "prediction": prediction,
        "correct": correct,
        "rank": rank if all_exact or correct else None,
        "margin": float(scores[right].max() - scores[~right].max()) if all_exact and not right.all() else None,
        "scores": scores.tolist(),
        "exact": exact.tolist(),
        "answer_label": options[item.answers[0]],
        "prediction_label": options[prediction],
        "statement": text.fill(options[prediction], OTHER_BLANK).text,
        **tag_cells(relation, item),
    }


def ranked(scores: NDArray[np.float64], item: Item) -> tuple[int, bool, int]:
    """Return the best option (the first of equals), whether it is right, and the rank of the best right option."""
    order = np.argsort(-scores, kind="stable")
    rank = int(np.argmax(np.isin(order, item.answers))) + 1
    return int(order[0]), rank == 1, rank
