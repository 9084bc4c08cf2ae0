"""Ranking (methods 4.4): which of a predicate's candidates fits the blank best? Multiple choice over many options.

Cost per item, with c candidates: a masked model computes one input for each length that candidates have in tokens,
however many they are. An encoder-decoder reads the item once and writes each candidate. A causal model computes the
text up to the blank once and then the candidates as a tree of tokens: at most c times their mean length, and for the
second rule also the text after the blank, c times.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from probing.analysis.culture_metrics import ranking_scores
from probing.benchmark import Item, Relation
from probing.errors import TooLong, UnsupportedModel
from probing.formats.dlama import pair_named
from probing.kinds import KINDS
from probing.language_model import LanguageModel, OptionScores, Request, Scoring
from probing.probes.choices import ANSWER_MARK, choice_scores, ranked
from probing.probes.multiple_choice import MultipleChoice, RankedOptions
from probing.probes.probe import VERSION_TAGS, Row, tag_cells, tag_columns, unless_too_long
from probing.settings import Settings, option
from probing.template import Prompt

# The columns of the second rule, with the types of their values.
STATEMENT_TYPES = {"prediction_statement": "int64", "rank_statement": "int64", "correct_statement": "bool"}


@dataclass(frozen=True)
class Ranking(MultipleChoice):
    """Candidates are ranked by the mean log-probability of their tokens.

    A masked model predicts all of them at once behind as many masks; a causal model is given the text left of them; the
    decoder of an encoder-decoder writes them where the encoder has read a blank. The second rule, for models that
    write, is the sum over the whole statement, or all that the decoder writes; `decide` leaves it out.
    """

    name: ClassVar[str] = "ranking"
    main_metric: ClassVar[str] = "p_at_1"
    columns: ClassVar[frozenset[str]] = (
        MultipleChoice.columns | VERSION_TAGS | STATEMENT_TYPES.keys() | {"prediction_cultures"}
    )
    harness_protocol: ClassVar[bool] = False
    fixed: ClassVar[Mapping[str, Any]] = {"pll": "whole_answer", "reduction": "mean"}

    pair: str = option(
        "", "one pair of cultures, for example arab-west; all if empty", chooses_items=True, tag="culture_pair"
    )
    objects: str = option(
        "augmented", "augmented, or raw: before superclasses were added", chooses_items=True, tag="objects"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pair", pair_named(self.pair))

    def relation_tags(self) -> Mapping[str, str]:
        return {"culture_pair": self.pair, "objects": self.objects}

    def answers(
        self, model: LanguageModel, requests: Iterable[Request], settings: Settings
    ) -> Iterator[RankedOptions | TooLong]:
        facts = KINDS[model.card.kind]
        if facts.writes and not settings.decide:
            if not facts.reads_right:
                return both_rules(model, requests)
            # Candidates score alike up to the blank and in the whole statement.
            return (unless_too_long(_by_both, scores, scores) for scores in model.score(requests, Scoring()))
        scoring = Scoring(**self.fixed, decide=int(settings.decide), span="answer")
        own = requests if facts.reads_right else (before(*request) for request in requests)
        answers = model.score(own, scoring)

        def by_mean(scores: OptionScores) -> RankedOptions:
            return RankedOptions(scores.reduce(scoring.reduction), scores)

        return (unless_too_long(by_mean, scores) for scores in answers)

    def marks(self, sentence: str, subject: str, option: str, statement: str) -> str:
        """Return marks of an option only, as all tokens by which candidates are ranked are theirs."""
        return ANSWER_MARK * len(statement)

    def more(self, relation: Relation, item: Item, answer: RankedOptions) -> Row:
        """Return the columns of a ranking; scores are in single precision, for there may be thousands of candidates."""
        prediction, _, _ = ranked(answer.scores, item)
        columns: Row = {
            "scores": answer.scores.astype(np.float32),
            "tokens": answer.scored.lengths.astype(np.int32),
            "exact": answer.scored.exact,
            "prediction_cultures": cultures_of(relation, prediction),
        }
        if answer.second is not None:
            prediction, correct, rank = ranked(answer.second, item)
            columns |= {"prediction_statement": prediction, "rank_statement": rank, "correct_statement": correct}
        return columns

    def row_tags(self, relation: Relation, item: Item, row: Mapping[str, Any]) -> Row:
        """Return the item's tags, and the cultures of the predicted candidate."""
        return {**tag_cells(relation, item), "prediction_cultures": cultures_of(relation, row["prediction"])}

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        frame = super().frame(rows)
        return frame.astype({name: STATEMENT_TYPES[name] for name in STATEMENT_TYPES.keys() & set(frame)})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return choice_scores(ranking_scores(rows, tag_columns(self, rows.columns)), rows, self)


def cultures_of(relation: Relation, candidate: int) -> list[str]:
    """Return the cultures in which a candidate is a valid object; none where the benchmark does not tag candidates."""
    tags = relation.answer_tags[candidate] if relation.answer_tags else {}
    return list(tags.get("culture", ()))


def both_rules(model: LanguageModel, requests: Iterable[Request]) -> Iterator[RankedOptions | TooLong]:
    """Yield the scores of both rules: those of each prompt up to its blank, and those of the whole prompt.

    The two requests of a prompt stand side by side, so that their common beginning is computed once.
    """
    twice = (request for text, options in requests for request in (before(text, options), (text, options)))
    scores = model.score(twice, Scoring())
    return (unless_too_long(_by_both, cut, whole) for cut, whole in zip(scores, scores, strict=False))


def _by_both(cut: OptionScores, whole: OptionScores) -> RankedOptions:
    """Return the scores of both rules, given those of the prompt up to its blank and those of the whole prompt."""
    own = candidate_scores(cut)
    return RankedOptions(own.reduce("mean"), own, whole.reduce("sum"))


def before(text: Prompt, options: Sequence[str]) -> Request:
    """Return the prompt without the text after its scored blank; the space before the blank moves to the options."""
    left = text.pieces[text.scored]
    kept = left.rstrip(" ")
    cut = replace(text, pieces=(*text.pieces[: text.scored], kept, ""))
    return cut, [left[len(kept) :] + option for option in options]


def candidate_scores(scores: OptionScores) -> OptionScores:
    """Return the scores of the candidates' own tokens; raise `UnsupportedModel` where a candidate has none."""
    own = scores.answer_only()
    if not own.lengths.all():
        step = "Choose a model that knows this language's script."
        raise UnsupportedModel("The model's tokenizer leaves nothing of some candidates.", step)
    return own
