"""Cloze (methods 5.5): what does the model put at the blank?

Encoders rank their vocabulary at the blank; generators get an instruction with the text before it and continue. An
encoder-decoder reads the whole sentence without an instruction and writes into its blank, which need not come last.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.cloze_metrics import cloze_baselines, cloze_scores
from probing.analysis.paired_tests import Correctness
from probing.benchmark import Item, Relation
from probing.errors import BadInput, NonFiniteScores, TooLong, UnsupportedModel
from probing.kinds import KINDS
from probing.language_model import BlankDistribution, Continuation, LanguageModel
from probing.probes.probe import (
    ROW_COLUMNS,
    UNSCORED,
    Probe,
    Row,
    prompt_cells,
    tag_cells,
    tag_columns,
    unless_too_long,
)
from probing.settings import Settings, option
from probing.statements.prompting import item_prompt
from probing.template import BLANK_TEXT, Prompt, upper_first

KEPT_PREDICTIONS = 10  # the largest k of in-top-k
Instruction = Literal[0, 1, 2, 3, 4, 5]
# By number, from the paper's Table 8; number 0 is the sentence alone.
INSTRUCTIONS = (
    "{}",
    "Complete the following sentence: {}",
    "For the following sentence about geography, generate the most probable text to complete it. {}",
    "Generate the most probable text to complete the following sentence. {}",
    "Complete the following geography fact. {}",
    "Answer the question {}?",
)


# What counts as right, by the kind of the model.
RANKED, WRITTEN = "an answer in the top {k} of the whole vocabulary", "an answer in the first {k} tokens written"
WAYS: Mapping[str, str] = {"masked": RANKED, "causal": WRITTEN, "encoder-decoder": WRITTEN}


@dataclass(frozen=True)
class Cloze(Probe):
    """One row per item. With `closed`, generators fill the blank too.

    `rank`: the answer's place among the ranked tokens if `method` is "top", or the number of the token that completes
    it if `method` is "near". `correct`: whether it is within `k`; empty if the sentence cannot be put to the model, a
    generator, because text follows its blank. `margin` is always empty.
    """

    name: ClassVar[str] = "cloze"
    main_metric: ClassVar[str] = "accuracy"
    columns: ClassVar[frozenset[str]] = ROW_COLUMNS | {
        *("id", "answer", "answers", "answer_label", "prediction_label", "correct", "rank", "alias_rank", "margin"),
        *("method", "one_token", "predictions", "log_probs", "continuation", "statement"),
    }
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED
    correctness: ClassVar[Correctness] = Correctness(macro=True)
    finds: ClassVar[str] = "knows {share} of these {n} facts, as the mean over relations"
    k: int = option(5, "an answer among the first k counts as right")
    closed: bool = option(False, "rank only the relation's answers, not the whole vocabulary")
    instruction: Instruction = option(2, "generators: which of the paper's five instructions; 0 for none")
    chat: bool = option(False, "generators: ask through the model's chat template")
    tokens: int = option(15, "generators: how many tokens the model may write")

    @classmethod
    def way(cls, kind: str, options: Mapping[str, Any]) -> str:
        return "" if options.get("closed") else WAYS.get(kind, "").format(k=options.get("k", cls.k))

    def __post_init__(self) -> None:
        if self.instruction not in get_args(Instruction):
            raise BadInput(f"There is no instruction {self.instruction}.", "Choose 1 to 5, or 0 for none.")
        if not 1 <= self.k <= KEPT_PREDICTIONS or self.tokens < self.k:
            raise BadInput(
                f"k={self.k} with tokens={self.tokens} is not possible.",
                f"Choose k from 1 to {KEPT_PREDICTIONS}, and no fewer tokens.",
            )

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        prompts = [(item, item_prompt(relation, item, template)) for item in relation.items]
        facts = KINDS[model.card.kind]
        usable = [(item, text) for item, text in prompts if facts.reads_right or ends_in_blank(text)]
        answer = self._written if facts.writes and not self.closed else self._filled
        answers = answer(model, usable, relation)
        for item, text in prompts:
            columns = next(answers, None) if facts.reads_right or ends_in_blank(text) else {}
            if columns is None:  # The check that the result is complete reports the missing answers.
                return
            wording = {"relation": relation.label, "template": template}
            yield columns if isinstance(columns, TooLong) else wording | self._row(relation, item, text, columns)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype(
            {"correct": "boolean", "one_token": "boolean", "rank": "Int64", "alias_rank": "Int64", "margin": float}
        )

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        return cloze_baselines(rows, tag_columns(self, rows.columns), self.k, closed=self.closed)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return cloze_scores(rows, tag_columns(self, rows.columns), self.tokens, self.k, closed=self.closed)

    def _filled(
        self, model: LanguageModel, prompts: Sequence[tuple[Item, Prompt]], relation: Relation
    ) -> Iterator[Row | TooLong]:
        """Yield, for each prompt, the columns that hold the ranking of tokens at its blank."""

        def columns(item: Item, blank: BlankDistribution) -> Row:
            if not np.isfinite(blank.log_probs).all():
                raise NonFiniteScores.of(model.card.id, f"on {relation.id}, item {item.index}")
            answers = answers_of(relation, item)
            spellings = np.split(blank.ranks, len(answers))
            ranks = [answer_rank(blank, *of) for of in zip(answers, spellings, strict=True)]
            rank = ranks[0]
            return {
                "method": "top",
                "rank": rank,
                "alias_rank": _least(ranks),
                "one_token": rank is not None,
                "prediction_label": blank.tokens[0] if blank.tokens else "",
                "predictions": list(blank.tokens),
                "log_probs": blank.log_probs.tolist(),
                **prompt_cells(blank.prompt),
            }

        words = relation.answer_space if self.closed else ()
        pairs = ((text, answer_spellings(text, answers_of(relation, item))) for item, text in prompts)
        for (item, _), blank in zip(prompts, model.fill(pairs, KEPT_PREDICTIONS, words), strict=False):
            yield unless_too_long(columns, item, blank)

    def _written(
        self, model: LanguageModel, prompts: Sequence[tuple[Item, Prompt]], relation: Relation
    ) -> Iterator[Row | TooLong]:
        """Yield, for each prompt, the columns that hold its continuation."""

        def columns(item: Item, text: Continuation) -> Row:
            if text and not text.ends:
                raise UnsupportedModel(f"The tokens of {model.card.id} are not known.", "Name its --tokenizer.")
            distances = [tokens_to_answer(text, answer) for answer in answers_of(relation, item)]
            ranks = [rank if rank is not None and rank <= self.tokens else None for rank in distances]
            counted = text[: text.ends[self.tokens - 1]] if len(text.ends) > self.tokens else str(text)
            return {
                "method": "near",
                "rank": ranks[0],
                "alias_rank": _least(ranks),
                "prediction_label": counted.strip(),
                "continuation": counted,
                **prompt_cells(text.prompt),
            }

        in_place = KINDS[model.card.kind].reads_right
        texts = (text if in_place else INSTRUCTIONS[self.instruction].format(beginning(text)) for _, text in prompts)
        # One more token than counts tells whether the last word is complete.
        continuations = model.generate(texts, self.tokens + 1, chat=self.chat)
        for (item, _), text in zip(prompts, continuations, strict=False):
            yield unless_too_long(columns, item, text)

    def _row(self, relation: Relation, item: Item, text: Prompt, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of a row but relation and template; `columns`: the answer's, {} if there is none."""
        rank = columns.get("rank")
        unknown = dict.fromkeys(("rank", "alias_rank", "one_token"))
        defaults = {**unknown, "method": "", "prediction_label": "", "continuation": ""}
        return {
            "index": item.index,
            "id": item.id,
            "subject": item.subject,
            "subject_id": item.subject_id,
            "answer": item.answers[0],
            "answers": list(item.answers),
            "answer_label": answers_of(relation, item)[0],
            "correct": (rank is not None and rank <= self.k) if columns else None,
            "margin": None,
            "predictions": [],
            "log_probs": [],
            "statement": text.fill(BLANK_TEXT).text,
            **defaults,
            **columns,
            **tag_cells(relation, item),
        }


def answers_of(relation: Relation, item: Item) -> list[str]:
    """Return the label of the answer that counts as right, and its other names."""
    options = relation.options_of(item)
    return [options[answer] for answer in item.answers]


def _least(ranks: Sequence[int | None]) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)


def ends_in_blank(text: Prompt) -> bool:
    """Return whether nothing but a period follows the blank, so that a generator can continue the text."""
    return not text.pieces[-1].strip(" .")


def beginning(text: Prompt) -> str:
    """Return the sentence up to its blank, without the space before it."""
    return (text.pieces[0] if text.verbatim else upper_first(text.pieces[0])).rstrip()


def answer_spellings(text: Prompt, answers: Sequence[str]) -> list[str]:
    """Return the answers, and if they begin the text also with a space before each, which some tokenizers tell apart.

    The spellings of an answer stand together.
    """
    spaces = ("",) if text.pieces[0] else ("", " ")
    return [f"{space}{answer}" for answer in answers for space in spaces]


def answer_rank(blank: BlankDistribution, answer: str, spellings: NDArray[np.int64]) -> int | None:
    """Return the answer's best place in the ranking, from 1, or None if it is not ranked.

    `spellings`: the ranks of its spellings in the distribution, 0 where one is not ranked.
    The answer is found as the token that the tokenizer makes of it, or as a token with the same text. Whether case
    matters thus depends on the tokenizer: for an uncased one it does not.
    """
    ranks = [int(rank) for rank in spellings if rank > 0]
    ranks += [number for number, token in enumerate(blank.tokens, 1) if token == answer]
    return min(ranks, default=None)


def tokens_to_answer(text: Continuation, answer: str) -> int | None:
    """Return how many tokens it takes until the text contains the answer as a whole word, ignoring case, or None."""
    match = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
    if match is None:
        return None
    return next((number for number, end in enumerate(text.ends, 1) if end >= match.end()), None)
