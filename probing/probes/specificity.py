"""Specificity (methods 2): of two true answers, does the model prefer the finer one?

A preset of multiple choice: two options, the coarse answer and the fine one, which is the right one. Where both are
single tokens, they are compared at the blank; `scores` are those of the whole answers, so that no pair is lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.comparison import Correctness
from probing.analysis.specificity import specificity_scores
from probing.benchmark import Relation
from probing.errors import BadInput
from probing.language_model import BlankDistribution, LanguageModel, Request, Scoring
from probing.probes.multiple_choice import MultipleChoiceColumns, not_finite, row
from probing.probes.probe import Row
from probing.probes.similarity import cosines
from probing.settings import Settings
from probing.statements.prompting import PROMPTINGS, Name, Question
from probing.template import Prompt

BEST = 100  # words kept of each distribution: ten of them are nearly always shared by all models
NONE = np.full(2, np.nan)

Pair = NDArray[np.float64]


class SpecificityColumns(MultipleChoiceColumns):
    """What every row has.

    `*_log_prob`, `*_rank`: at the blank, NaN and 0 where the answer is not a single token of the vocabulary; ranks are
    among the whole vocabulary. `natural_log_prob`: the same with the subject hidden. `clause_score`: only for causal
    models under cascade prompting. `specific`: whether the fine answer is strictly more probable, missing where one of
    the two is not a single token. `best`: the most probable words at the blank. `demonstrations`: indices of the items
    shown before this one.
    """

    prompting: str
    coarse_label: str
    fine_log_prob: float
    coarse_log_prob: float
    fine_rank: int
    coarse_rank: int
    specific: bool | None
    fine_natural_log_prob: float
    coarse_natural_log_prob: float
    fine_cosine: float
    coarse_cosine: float
    fine_clause_score: float
    coarse_clause_score: float
    demonstrations: list[int]
    best: list[str]


@dataclass(frozen=True)
class Specificity:
    """One row per pair. `shots`: demonstrations before each question of few-shot prompting."""

    name: ClassVar[str] = "specificity"
    main_metric: ClassVar[str] = "specificity"
    columns: ClassVar[frozenset[str]] = frozenset(SpecificityColumns.__annotations__)
    fixed: ClassVar[Mapping[str, Any]] = {"decide": False}
    correctness: ClassVar[Correctness] = Correctness("specific", macro=True)
    prompting: Name = "vanilla"
    shots: int = 10

    def __post_init__(self) -> None:
        if self.shots < 1:
            raise BadInput(f"{self.shots} demonstrations show nothing.", "Give 1 or more, or use vanilla prompting.")

    def rows(self, model: LanguageModel, relation: Relation, template: int, settings: Settings) -> Iterator[Row]:
        questions = list(PROMPTINGS[self.prompting](relation, template, self.shots, settings.seed))
        pairs = [_pair(relation, question) for question in questions]
        asked = list(zip([question.prompt for question in questions], pairs, strict=True))
        blanks = list(_blanks(model, questions, pairs))
        parts = zip(
            questions,
            blanks,
            cosines(model, [(question.item.subject, pair) for question, pair in zip(questions, pairs, strict=True)]),
            _whole_answers(model, asked, [blank for blank, _ in blanks], settings),
            self._clauses(model, asked),
            strict=True,
        )
        for question, (blank, hidden), cosine, scores, clause in parts:
            if not _all_finite(blank, hidden, cosine, scores, clause):
                raise not_finite(model, relation, question.item, template)
            yield {
                "relation": relation.label,
                "template": template,
                "prompting": self.prompting,
                **row(relation, question.prompt, question.item, scores, np.ones(2, dtype=bool)),
                **_columns(question, blank, hidden, cosine, clause),
            }

    def _clauses(self, model: LanguageModel, asked: Sequence[Request]) -> Iterator[Pair | None]:
        """Causal models do not see a cascade's clause from its first blank; here it is scored behind each option."""
        if self.prompting == "cascade" and model.card.kind == "causal":
            return _clause_scores(model, asked)
        return (None for _ in asked)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float, "specific": "boolean"})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return specificity_scores(rows)


def _pair(relation: Relation, question: Question) -> tuple[str, ...]:
    options = relation.options_of(question.item)
    if len(options) != 2:
        raise BadInput(
            f"Item {question.item.index} of {relation.id} has {len(options)} options; specificity compares two.",
            "Choose a benchmark of pairs, such as stest, or another probe.",
        )
    return options


def _blanks(
    model: LanguageModel, questions: Sequence[Question], pairs: Sequence[tuple[str, ...]]
) -> Iterator[tuple[BlankDistribution, BlankDistribution]]:
    """What stands at each item's blank, and there with its subject hidden.

    Request side by side, so that the two share the demonstrations before them.
    """
    both = zip(questions, pairs, strict=True)
    found = model.fill(((prompt, pair) for question, pair in both for prompt in (question.prompt, question.bare)), BEST)
    return zip(found, found, strict=True)


def _single(blank: BlankDistribution) -> bool:
    """Whether both options are single tokens."""
    return bool(np.isfinite(blank.options).all())


def _whole_answers(
    model: LanguageModel, asked: Sequence[Request], blanks: Sequence[BlankDistribution], settings: Settings
) -> Iterator[Pair]:
    """Each option's score by all of its tokens; that of a single token is known from the blank."""
    scoring = Scoring(pll=settings.pll, span="answer")
    rest = model.score((each for each, blank in zip(asked, blanks, strict=True) if not _single(blank)), scoring)
    for blank in blanks:
        yield blank.options if _single(blank) else next(rest).reduce(settings.reduction)


def _clause_scores(model: LanguageModel, asked: Sequence[Request]) -> Iterator[Pair]:
    """Log-probability of each option and of the clause behind it, up to the second blank."""
    clauses = ((Prompt((prompt.pieces[0], prompt.pieces[1].rstrip())), pair) for prompt, pair in asked)
    for found in model.score(clauses, Scoring()):
        starts = [answer.start for answer in found.answers]
        yield np.array([tokens[start:].sum() for tokens, start in zip(found.log_probs, starts, strict=True)])


def _all_finite(
    blank: BlankDistribution, hidden: BlankDistribution, cosine: Pair, scores: Pair, clause: Pair | None
) -> bool:
    """Whether all that was asked is a number, but for an option at a blank that is not a single token."""
    numbers = [blank.log_probs, hidden.log_probs, cosine, scores, *([] if clause is None else [clause])]
    known = [np.isfinite(each.options) | np.isnan(each.options) & (each.ranks == 0) for each in (blank, hidden)]
    return all(np.isfinite(each).all() for each in numbers) and all(each.all() for each in known)


def _columns(
    question: Question, blank: BlankDistribution, hidden: BlankDistribution, cosine: Pair, clause: Pair | None
) -> dict[str, Any]:
    """The row's own columns, with the pair's two values side by side: options are coarse, fine."""
    pairs = {
        "log_prob": blank.options,
        "rank": blank.ranks,
        "natural_log_prob": hidden.options,
        "cosine": cosine,
        "clause_score": NONE if clause is None else clause,
    }
    (fine,) = question.item.answers
    return {
        "coarse_label": question.item.options[1 - fine],
        **{f"fine_{name}": pair[fine].item() for name, pair in pairs.items()},
        **{f"coarse_{name}": pair[1 - fine].item() for name, pair in pairs.items()},
        "specific": bool(blank.options[fine] > blank.options[1 - fine]) if _single(blank) else None,
        "demonstrations": list(question.shown),
        "best": list(blank.tokens),
    }
