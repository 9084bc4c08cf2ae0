"""Perplexity (methods 3.3): does the model find true statements less perplexing than false ones?

A user's own sentences are scored as a whole in the same way (`probing.sentences.surprisal`).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from probing.analysis.paired_tests import NO_CORRECTNESS, Correctness, ResultRows
from probing.analysis.perplexity_metrics import (
    TOKENIZER_NOTE,
    compare_perplexities,
    perplexity_baselines,
    perplexity_scores,
    sentence_figures,
)
from probing.arrays import Floats
from probing.benchmark import ASKED_TAGS, Item, Relation
from probing.errors import BadInput, NonFiniteScores, TooLong
from probing.kinds import KINDS, Kind
from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.probes.probe import ROW_COLUMNS, Probe, Row, prompt_cells, shared_tags, tag_cells, unless_too_long
from probing.settings import Settings, option
from probing.start_token import AUTO, NONE
from probing.template import ANSWER_SLOT, Prompt

By = Literal["token", "word"]
# The sentence itself is the option, and stays as it is.
WHOLE_SENTENCE = Prompt(("", ""), verbatim=True)


@dataclass(frozen=True)
class Perplexity(Probe):
    """One row per distinct statement and phrasing, with its perplexity.

    It is perplexity of causal models (BOS in front), and pseudo-perplexity of masked ones (token by token).

    `by`: words are text between spaces. `public_code` is for comparison with published figures only (methods 3.3).
    """

    name: ClassVar[str] = "perplexity"
    main_metric: ClassVar[str] = "superiority"
    columns: ClassVar[frozenset[str]] = ROW_COLUMNS | {
        *("statement", "true", "repetitions", "scores", "log_prob", "tokens", "words", "perplexity"),
    }
    fixed: ClassVar[Mapping[str, Any]] = {"pll": "original", "reduction": "sum", "decide": False}
    correctness: ClassVar[Correctness] = NO_CORRECTNESS
    needs: ClassVar[str] = "two true and two false statements at least"
    remarks: ClassVar[Sequence[str]] = (TOKENIZER_NOTE,)
    noun: ClassVar[str] = "statement"
    finds: ClassVar[str] = (
        "finds a true sentence more plausible than a false one in {share} of all cases with these {n} sentences"
    )
    ahead: ClassVar[str] = "finds the true sentence more plausible {points} points {more} often"
    by: By = option("token", "what the log-probability of a sentence is divided by")
    public_code: bool = option(False, "compute it as the paper's public code does")

    def __post_init__(self) -> None:
        if self.public_code and self.by != "token":
            raise BadInput("The public code divides by tokens.", "Leave out by=word, or public_code.")

    def why_not_kind(self, kind: Kind) -> str:
        return without_probability(kind, "Perplexity")

    def refuse_settings(self, settings: Settings) -> None:
        super().refuse_settings(settings)
        if self.public_code and settings.start not in (AUTO, NONE):
            raise BadInput("The public code reads sentences without a start token.", "Leave out --start.")

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        def row(item: Item, sentence: Row) -> Row:
            tags = relation.tags_of(item)
            cells = {
                "relation": relation.label,
                "template": template,
                "index": item.index,
                "subject": item.subject,
                "subject_id": item.subject_id,
                "statement": sentence["statement"],
                "true": item.is_true,
                "repetitions": [int(number) for number in tags["repetitions"]],
                "scores": [sentence["log_prob"]],
                **sentence,
            }
            return cells | self.row_tags(relation, item, cells)

        if any(item.is_true is None for item in relation.items):
            raise BadInput(
                f"Relation {relation.id} does not say which of its statements are true.",
                "Choose a benchmark made from a knowledge graph, or another probe.",
            )
        self.refuse_settings(settings)
        measured = self.measure(model, (relation.options_of(item)[template] for item in relation.items))
        # Not strict: the check that the result is complete reports a model that answers too few prompts.
        for item, sentence in zip(relation.items, measured, strict=False):
            yield unless_too_long(row, item, sentence)

    def row_tags(self, relation: Relation, item: Item, row: Mapping[str, Any]) -> Row:
        """Return all tags but those that are columns of their own."""
        return {tag: value for tag, value in tag_cells(relation, item).items() if tag not in ASKED_TAGS}

    def measure(self, model: LanguageModel, sentences: Iterable[str]) -> Iterator[Row | TooLong]:
        """Yield each sentence with its figures, in their order, or the error that one is too long.

        `log_prob`: the sum over its scored `tokens`.
        """
        self.refuse_kind(model.card.kind)
        scoring = Scoring(**self.fixed, start=not self.public_code)
        for text, scores in scored_sentences(model, sentences, scoring):
            yield unless_too_long(partial(self._measured, model, text), scores)

    def _measured(self, model: LanguageModel, text: str, scores: OptionScores) -> Row:
        log_probs = scores.log_probs[0]
        perplexity = self._perplexity(text, log_probs, model.card.kind)
        if not isfinite(perplexity):
            raise NonFiniteScores.of(model.card.id, f"for {text[:80]!r}", "perplexity")
        return {
            "statement": text,
            "log_prob": float(log_probs.sum()),
            "tokens": len(log_probs),
            "words": len(text.split()),
            "perplexity": perplexity,
            **prompt_cells(scores.prompt.replace(ANSWER_SLOT, text, 1)),
        }

    def _perplexity(self, text: str, log_probs: Floats, kind: Kind) -> float:
        if self.public_code:
            return public_code(log_probs, kind)
        return _exp(-log_probs.sum() / (len(text.split()) if self.by == "word" else len(log_probs)))

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        return perplexity_baselines(rows)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return perplexity_scores(rows)

    def item_figures(self, rows: pd.DataFrame) -> dict[str, pd.Series]:
        return {self.main_metric: sentence_figures(rows)}

    @classmethod
    def compare(cls, results: ResultRows) -> pd.DataFrame:
        return compare_perplexities(results, shared_tags(cls, results))

    @classmethod
    def compared_columns(cls) -> list[str]:
        return ["true", "perplexity", "statement"]


def public_code(log_probs: Floats, kind: Kind) -> float:
    """Return the perplexity as published (methods 3.3), from the tokens' log-probabilities without a start token.

    Masked: the sum over the T tokens is divided by T + 2. Causal: of T tokens the first has no log-probability and the
    last is never seen; the mean of the others is multiplied by (T - 1) / T.
    """
    if kind == "masked":
        return _exp(-log_probs.sum() / (len(log_probs) + 2))
    tokens = len(log_probs) + 1
    if tokens < 3:
        raise BadInput("The public code needs sentences of three tokens or more.", "Leave out public_code.")
    return _exp(-log_probs[:-1].mean() * (tokens - 1) / tokens)


def _exp(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(value))


def without_probability(kind: Kind, quantity: str) -> str:
    """Return why a sentence by itself has no probability to models of a kind, or an empty text if it has one.

    `quantity`: what would be computed from it, as the beginning of a sentence.
    """
    if KINDS[kind].has_perplexity:
        return ""
    return f"{quantity} is not defined for {KINDS[kind].noun}: it writes a text only after having read another."


def scored_sentences(
    model: LanguageModel, sentences: Iterable[str], scoring: Scoring
) -> Iterator[tuple[str, OptionScores | TooLong]]:
    """Yield each sentence with the scores of its tokens, in their order, or with the error that it is too long."""
    waiting: deque[str] = deque()

    def requests() -> Iterator[Request]:
        for text in sentences:
            waiting.append(text)
            yield WHOLE_SENTENCE, (text,)

    for scores in model.score(requests(), scoring):
        yield waiting.popleft(), scores
