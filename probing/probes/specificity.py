"""Specificity (methods 2): of two true answers, does the model prefer the finer one?

A preset of multiple choice with two options: the coarse answer and the fine one, which counts as right. If both are
single tokens, they are compared at the blank; `scores` are those of the whole answers, so that no pair is lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from probing.analysis.accuracy import with_ties
from probing.analysis.details import condensed
from probing.analysis.paired_tests import Correctness
from probing.analysis.ranks import item_values
from probing.analysis.specificity_metrics import pair_hits, specificity_baselines, specificity_scores
from probing.arrays import Floats
from probing.benchmark import Relation
from probing.errors import BadInput, TooLong
from probing.language_model import BlankDistribution, LanguageModel, OptionScores, Request, Scoring
from probing.probes.choices import CHOICE_COLUMNS, choice_row, non_finite
from probing.probes.probe import Probe, Row, prompt_cells, unless_too_long
from probing.probes.similarity import cosines
from probing.settings import Settings, option
from probing.statements.prompting import PROMPTINGS, PromptingName, Question
from probing.template import Prompt

KEPT_WORDS = 100  # of each distribution: ten of them are nearly always shared by all models
RANKED = ("specificity", "acc_at_10_either", "acc_at_10_fine")
# Of each answer; `natural` is with the subject hidden, and `clause_score` only of causal models with cascades.
PAIR_COLUMNS = ("log_prob", "rank", "natural_log_prob", "cosine", "clause_score")
UNKNOWN_PAIR = np.full(2, np.nan)
# A value of each option, shape (2,).
PairValues = Floats


@dataclass(frozen=True)
class Specificity(Probe):
    """One row per pair; `*_log_prob` and `*_rank` at the blank are NaN and 0 if an answer is not a single token."""

    name: ClassVar[str] = "specificity"
    main_metric: ClassVar[str] = "specificity"
    columns: ClassVar[frozenset[str]] = CHOICE_COLUMNS | {
        *("prompting", "coarse_label", "specific", "best", "demonstrations"),
        *(f"{answer}_{value}" for answer in ("fine", "coarse") for value in PAIR_COLUMNS),
    }
    fixed: ClassVar[Mapping[str, Any]] = {"decide": False}
    correctness: ClassVar[Correctness] = Correctness("specific", macro=True)
    finds: ClassVar[str] = "prefers the more specific answer in {share} of these {n} pairs, as the mean over relations"
    ahead: ClassVar[str] = "prefers the more specific answer {points} points {more} often"
    needs: ClassVar[str] = (
        "pairs of which both answers are single tokens of the model's vocabulary (specificity_all_pairs does not)"
    )
    prompting: PromptingName = option("vanilla", "how the question is put")
    shots: int = option(10, "how many demonstrations stand before each question of few-shot prompting")

    def __post_init__(self) -> None:
        if self.shots < 1:
            raise BadInput(f"{self.shots} demonstrations show nothing.", "Give 1 or more, or use vanilla prompting.")

    def refuse_part(self, relation: Relation, template: int) -> None:
        next(PROMPTINGS[self.prompting](relation, template, self.shots, 0), None)  # the first one raises the error

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        def row(
            question: Question,
            blank: BlankDistribution,
            hidden: BlankDistribution,
            cosine: PairValues,
            scores: PairValues,
            clause: PairValues | None,
        ) -> Row:
            if not _all_finite(blank, hidden, cosine, scores, clause):
                raise non_finite(model, relation, question.item, template)
            return {
                "relation": relation.label,
                "template": template,
                "prompting": self.prompting,
                **choice_row(relation, question.prompt, question.item, scores, np.ones(2, dtype=bool)),
                **_pair_columns(question, blank, hidden, cosine, clause),
                **prompt_cells(blank.prompt),
            }

        questions = list(PROMPTINGS[self.prompting](relation, template, self.shots, settings.seed))
        pairs = [_two_options(relation, question) for question in questions]
        requests = list(zip([question.prompt for question in questions], pairs, strict=True))
        blanks = list(_blanks(model, questions, pairs))
        parts = zip(
            questions,
            blanks,
            cosines(model, [(question.item.subject, pair) for question, pair in zip(questions, pairs, strict=True)]),
            _whole_answers(model, requests, [blank for blank, _ in blanks], settings),
            self._clauses(model, requests),
            strict=True,
        )
        for question, pair_of_blanks, cosine, scores, clause in parts:
            yield unless_too_long(row, question, *pair_of_blanks, cosine, scores, clause)

    def _clauses(self, model: LanguageModel, requests: Sequence[Request]) -> Iterator[PairValues | TooLong | None]:
        """Yield the clause scores of each pair, or None where the probe has none.

        At its first blank a causal model does not see a cascade's clause, so the clause is scored after each option.
        """
        if self.prompting == "cascade" and model.card.kind == "causal":
            return _clause_scores(model, requests)
        return (None for _ in requests)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float, "specific": "boolean"})

    def condensed(self, rows: pd.DataFrame) -> pd.DataFrame:
        return condensed(rows)

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        return specificity_baselines(rows)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return with_ties(specificity_scores(rows), rows)

    def item_figures(self, rows: pd.DataFrame) -> dict[str, pd.Series]:
        return {metric: item_values(rows, hits) for metric, hits in pair_hits(rows) if metric in RANKED}


def _two_options(relation: Relation, question: Question) -> tuple[str, ...]:
    options = relation.options_of(question.item)
    if len(options) != 2:
        raise BadInput(
            f"Item {question.item.index} of {relation.id} has {len(options)} options; specificity compares two.",
            "Choose a benchmark of pairs, such as stest, or another probe.",
        )
    return options


def _blanks(
    model: LanguageModel, questions: Sequence[Question], pairs: Sequence[tuple[str, ...]]
) -> Iterator[tuple[BlankDistribution | TooLong, BlankDistribution | TooLong]]:
    """Yield the distribution at each item's blank, and the one with its subject hidden.

    The two requests of an item stand side by side, so that the demonstrations before them are computed once.
    """
    both = zip(questions, pairs, strict=True)
    requests = ((prompt, pair) for question, pair in both for prompt in (question.prompt, question.bare))
    blanks = model.fill(requests, KEPT_WORDS)
    return zip(blanks, blanks, strict=True)


def _both_single(blank: BlankDistribution) -> bool:
    """At a blank, the log-probability of an option is NaN where it is not a single token."""
    return bool(np.isfinite(blank.options).all())


def _whole_answers(
    model: LanguageModel, requests: Sequence[Request], blanks: Sequence[BlankDistribution | TooLong], settings: Settings
) -> Iterator[PairValues | TooLong]:
    """Yield each option's score by all of its tokens; for single tokens this is the log-probability at the blank."""
    scoring = Scoring(pll=settings.pll, span="answer")
    several = (
        request
        for request, blank in zip(requests, blanks, strict=True)
        if not (isinstance(blank, TooLong) or _both_single(blank))
    )
    rest = model.score(several, scoring)

    def score(blank: BlankDistribution) -> PairValues | TooLong:
        if _both_single(blank):
            return blank.options
        return unless_too_long(lambda scores: scores.reduce(settings.reduction), next(rest))

    return (unless_too_long(score, blank) for blank in blanks)


def _clause_scores(model: LanguageModel, requests: Sequence[Request]) -> Iterator[PairValues | TooLong]:
    """Yield the log-probability of each option together with the clause after it, up to the second blank."""
    clauses = ((Prompt((prompt.pieces[0], prompt.pieces[1].rstrip())), pair) for prompt, pair in requests)
    return (unless_too_long(_from_answer_on, scores) for scores in model.score(clauses, Scoring()))


def _from_answer_on(scores: OptionScores) -> PairValues:
    starts = [answer.start for answer in scores.answers]
    return np.array([tokens[start:].sum() for tokens, start in zip(scores.log_probs, starts, strict=True)])


def _all_finite(
    blank: BlankDistribution,
    hidden: BlankDistribution,
    cosine: PairValues,
    scores: PairValues,
    clause: PairValues | None,
) -> bool:
    """Return whether all values are numbers, except at a blank those of options that are not single tokens."""
    arrays = [blank.log_probs, hidden.log_probs, cosine, scores, *([] if clause is None else [clause])]
    options_valid = [np.isfinite(b.options) | np.isnan(b.options) & (b.ranks == 0) for b in (blank, hidden)]
    return all(np.isfinite(values).all() for values in arrays) and all(valid.all() for valid in options_valid)


def _pair_columns(
    question: Question,
    blank: BlankDistribution,
    hidden: BlankDistribution,
    cosine: PairValues,
    clause: PairValues | None,
) -> dict[str, Any]:
    """Return the columns that only this probe has; the options of a pair are coarse, then fine."""
    values = (blank.options, blank.ranks, hidden.options, cosine, UNKNOWN_PAIR if clause is None else clause)
    pairs = dict(zip(PAIR_COLUMNS, values, strict=True))
    (fine,) = question.item.answers
    return {
        "coarse_label": question.item.options[1 - fine],
        **{f"fine_{name}": pair[fine].item() for name, pair in pairs.items()},
        **{f"coarse_{name}": pair[1 - fine].item() for name, pair in pairs.items()},
        "specific": bool(blank.options[fine] > blank.options[1 - fine]) if _both_single(blank) else None,
        "demonstrations": list(question.demonstrations),
        "best": list(blank.tokens),
    }
