"""Cloze (methods 5.5): what does the model put at the blank?

Encoders rank their vocabulary there; generators go on with the text behind an instruction.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from probing.analysis.cloze import cloze_scores
from probing.analysis.comparison import Correctness
from probing.benchmark import Item, Relation
from probing.errors import BadInput, NonFiniteScores
from probing.language_model import BlankDistribution, Continuation, LanguageModel
from probing.probes.columns import RowColumns
from probing.probes.probe import UNSCORED, Row, tag_columns
from probing.settings import Settings
from probing.template import Prompt, prompt, upper_first

BLANK = "____"  # as rows show it
SHOWN = 10  # predictions kept; the largest k of in-top-k
# The paper's Table 8; number 0 gives the sentence alone.
INSTRUCTIONS = (
    "{}",
    "Complete the following sentence: {}",
    "For the following sentence about geography, generate the most probable text to complete it. {}",
    "Generate the most probable text to complete the following sentence. {}",
    "Complete the following geography fact. {}",
    "Answer the question {}?",
)


class ClozeColumns(RowColumns):
    """What every row has; any further column is a tag.

    `rank`: the answer's place, from 1: among the ranked tokens where `method` is "top", by the token that completes
    it where `method` is "near"; empty where it was not found. `correct`: whether that is within the probe's k; empty
    where the model cannot be asked, as its text would go on behind the blank. `one_token`: whether the answer is one
    token of the model's vocabulary; empty where no tokens were ranked. `margin` is always empty.
    """

    id: str
    answer: int
    answers: list[int]
    answer_label: str
    prediction_label: str
    correct: bool | None
    rank: int | None
    margin: float | None
    method: str
    one_token: bool | None
    predictions: list[str]
    log_probs: list[float]
    continuation: str
    statement: str


@dataclass(frozen=True)
class Cloze:
    """One row per item.

    `k`: how near the answer must be to count as right. `closed`: rank only the relation's answers, not the whole
    vocabulary; generators then fill the blank too. For generators, `instruction`: which of the paper's five, 0 for
    none; `chat`: through the model's chat template; `tokens`: how far to write.
    """

    name: ClassVar[str] = "cloze"
    main_metric: ClassVar[str] = "accuracy"
    columns: ClassVar[frozenset[str]] = frozenset(ClozeColumns.__annotations__)
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED
    correctness: ClassVar[Correctness] = Correctness(macro=True)
    k: int = 5
    closed: bool = False
    instruction: int = 2
    chat: bool = False
    tokens: int = 15

    def __post_init__(self) -> None:
        if not 0 <= self.instruction < len(INSTRUCTIONS):
            raise BadInput(f"There is no instruction {self.instruction}.", "Choose 1 to 5, or 0 for none.")
        if not 1 <= self.k <= SHOWN or self.tokens < self.k:
            raise BadInput(
                f"k={self.k} with tokens={self.tokens} cannot be.", f"Choose k from 1 to {SHOWN}, and no fewer tokens."
            )

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        questions = [(item, prompt(relation.template_of(item, template), item.subject)) for item in relation.items]
        writes = model.card.kind == "causal"
        asked = [(item, text) for item, text in questions if not writes or ends_in_blank(text)]
        answer = self._written if writes and not self.closed else self._filled
        found = answer(model, asked, relation)
        for item, text in questions:
            known = next(found, None) if not writes or ends_in_blank(text) else {}
            if known is None:  # found by the check that the result is complete
                return
            yield {"relation": relation.label, "template": template} | self._row(relation, item, text, known)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype(
            {"correct": "boolean", "one_token": "boolean", "rank": "Int64", "margin": float}
        )

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return cloze_scores(rows, tag_columns(self, rows.columns), self.tokens)

    def _filled(
        self, model: LanguageModel, asked: Sequence[tuple[Item, Prompt]], relation: Relation
    ) -> Iterator[dict[str, Any]]:
        """The ranking of tokens at each blank."""
        words = relation.answer_space if self.closed else ()
        pairs = ((text, spellings(text, answer_of(relation, item))) for item, text in asked)
        for (item, _), filling in zip(asked, model.fill(pairs, SHOWN, words), strict=False):
            if not np.isfinite(filling.log_probs).all():
                raise NonFiniteScores(
                    f"{model.card.id} gave a score that is not a number on {relation.id}, item {item.index}.",
                    "Try --dtype float32; if it stays so, the weights are damaged.",
                )
            rank = place(filling, answer_of(relation, item))
            yield {
                "method": "top",
                "rank": rank,
                "one_token": rank is not None,
                "prediction_label": filling.tokens[0] if filling.tokens else "",
                "predictions": list(filling.tokens),
                "log_probs": filling.log_probs.tolist(),
            }

    def _written(
        self, model: LanguageModel, asked: Sequence[tuple[Item, Prompt]], relation: Relation
    ) -> Iterator[dict[str, Any]]:
        """How each sentence goes on. One token more than counts, to see whether the last word is whole."""
        texts = (INSTRUCTIONS[self.instruction].format(beginning(text)) for _, text in asked)
        written = model.generate(texts, self.tokens + 1, chat=self.chat)
        for (item, _), text in zip(asked, written, strict=False):
            rank = near(text, answer_of(relation, item))
            shown = text[: text.ends[self.tokens - 1]] if len(text.ends) > self.tokens else str(text)
            yield {
                "method": "near",
                "rank": rank if rank is not None and rank <= self.tokens else None,
                "prediction_label": shown.strip(),
                "continuation": shown,
            }

    def _row(self, relation: Relation, item: Item, text: Prompt, known: dict[str, Any]) -> dict[str, Any]:
        rank = known.get("rank")
        defaults = {"method": "", "rank": None, "one_token": None, "prediction_label": "", "continuation": ""}
        return {
            "index": item.index,
            "id": item.id,
            "subject": item.subject,
            "subject_id": item.subject_id,
            "answer": item.answers[0],
            "answers": list(item.answers),
            "answer_label": answer_of(relation, item),
            "correct": (rank is not None and rank <= self.k) if known else None,
            "margin": None,
            "predictions": [],
            "log_probs": [],
            "statement": text.fill(BLANK).text,
            **defaults,
            **known,
            **{
                tag: list(value) if isinstance(value, tuple) else value for tag, value in relation.tags_of(item).items()
            },
        }


def answer_of(relation: Relation, item: Item) -> str:
    """The one that counts."""
    return relation.options_of(item)[item.answers[0]]


def ends_in_blank(text: Prompt) -> bool:
    """Whether nothing but a period follows the blank, so that a generator can be asked."""
    return not text.pieces[-1].strip(" .")


def beginning(text: Prompt) -> str:
    """The sentence up to its blank, without space or period."""
    return upper_first(text.pieces[0]).rstrip()


def spellings(text: Prompt, answer: str) -> list[str]:
    """The answer; at the start of a text also as it stands within one, which some tokenizers tell apart."""
    return [answer] if text.pieces[0] else [answer, f" {answer}"]


def place(filling: BlankDistribution, answer: str) -> int | None:
    """Where the answer stands in the ranking, from 1: as what the tokenizer makes of it, or as what reads the same.

    The tokenizer thus decides about case: an uncased one knows no other.
    """
    ranks = [int(rank) for rank in filling.ranks if rank > 0]
    ranks += [number for number, token in enumerate(filling.tokens, 1) if token == answer]
    return min(ranks, default=None)


def near(text: Continuation, answer: str) -> int | None:
    """How many tokens it takes until the answer stands there as a whole word, in any case."""
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
    if found is None:
        return None
    return next((number for number, end in enumerate(text.ends, 1) if end >= found.end()), None)
