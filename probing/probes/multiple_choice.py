"""Multiple choice (methods 1.2): which option makes the most probable statement?

Generic subjects (methods 1.4), such as "it" or "the region", say nothing, so answers show the model's bias.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import softmax

from probing.analysis.accuracy import accuracy_scores
from probing.analysis.details import condensed_with_details
from probing.arrays import Floats
from probing.benchmark import Item, Relation
from probing.errors import BadInput, NonFiniteScores, TooLong
from probing.kinds import KINDS, Kind
from probing.language_model import LanguageModel, OptionScores, Request
from probing.probes.choices import (
    ANSWER_MARK,
    CHOICE_COLUMNS,
    SUBJECT_MARK,
    ItemTokens,
    choice_baselines,
    choice_frame,
    choice_row,
    choice_scores,
    item_tokens,
    marked,
    non_finite,
    slotted,
)
from probing.probes.probe import Probe, Row, prompt_cells, tag_columns, unless_too_long
from probing.settings import Settings, option
from probing.start_token import AUTO
from probing.statements.prompting import Examples, as_context, as_messages, item_prompt
from probing.template import Prompt, prompt

NO_TEMPLATES = "generic subjects need templates, and these items have sentences of their own"
Options = tuple[str, ...]
# The row of an item, and the scores of the texts by which its options were ranked.
ScoredRow = tuple[Row, Item, OptionScores]
ScoreOptions = Callable[[Sequence[Request]], Iterator[Floats | TooLong]]


class RankedOptions(NamedTuple):
    """The scores by which an item's options are ranked, shape (options,), and the tokens that they come from.

    `second`: the scores of a preset's second rule.
    """

    scores: Floats
    scored: OptionScores
    second: Floats | None = None


@dataclass(frozen=True)
class MultipleChoice(Probe):
    """One row per item and template; the prediction is the best option, the first of equals.

    `rank`: place of the best-ranked right option, from 1. `margin`: best right option's score minus best wrong one's.
    Both are empty where `decide` left the scores that they rest on open, and `margin` where no option is wrong.
    """

    name: ClassVar[str] = "multiple_choice"
    main_metric: ClassVar[str] = "accuracy"
    harness_protocol: ClassVar[bool] = True
    columns: ClassVar[frozenset[str]] = CHOICE_COLUMNS | {"tokens", "generic", "demonstrations"}

    generic_subjects: str = option(
        "",
        "also ask with subjects that say nothing, to see which answers the model favours: it, the region",
        adds_figures=True,
    )
    few_shot: int = option(0, "show so many other items with their answers before each")
    chat: bool = option(False, "causal models: score the options as answers in a chat, by the model's chat template")

    def __post_init__(self) -> None:
        if self.few_shot < 0:
            raise BadInput(f"{self.few_shot} examples cannot be shown.", "Give few_shot=1 or more, or 0 for none.")
        if (self.few_shot or self.chat) and self.generic_subjects:
            raise BadInput(
                "Generic subjects are about the statement alone, without examples or a chat.",
                "Leave out generic_subjects, or few_shot and chat.",
            )

    def refuse_settings(self, settings: Settings) -> None:
        super().refuse_settings(settings)
        if self.chat and settings.start != AUTO:
            raise BadInput("The chat template decides how a text begins.", "Leave out --start, or chat.")

    def why_not_kind(self, kind: Kind) -> str:
        only = f"The options of a chat are scored by causal models only, and this is {KINDS[kind].noun}."
        return only if self.chat and kind != "causal" else ""

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        for row in self._scored_rows(model, relation, template, settings):
            yield row if isinstance(row, TooLong) else row[0]

    def rows_with_tokens(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[tuple[Row, ItemTokens] | TooLong]:
        """Yield each row with the tokens by which its options were ranked, or the error that its item is too long."""
        for scored in self._scored_rows(model, relation, template, settings):
            if isinstance(scored, TooLong):
                yield scored
                continue
            row, item, scores = scored
            options = zip(relation.options_of(item), scores.texts, strict=False)
            sentence = slotted(relation, item, template)
            marks = (self.marks(sentence, item.subject, *option) for option in options)
            yield row, item_tokens(scores, marks)

    def marks(self, sentence: str, subject: str, option: str, statement: str) -> str:
        """Return the scored statement with marks in place of subject and option (`marked`)."""
        if self.chat:
            return ANSWER_MARK * len(statement)
        return marked(replace(prompt(sentence, SUBJECT_MARK * len(subject)), verbatim=True), option, statement)

    def _scored_rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[ScoredRow | TooLong]:
        """Yield the row of each item with the scores of its options, or the error that the item is too long."""
        self.refuse_settings(settings)
        examples = Examples(relation, self.few_shot, settings.seed)
        prompts = [item_prompt(relation, item, template) for item in relation.items]
        requests = (
            (self._prompt_of(relation, item, template, text, examples.before(item)), relation.options_of(item))
            for item, text in zip(relation.items, prompts, strict=True)
        )

        def scored_row(item: Item, text: Prompt, extra: Row, answer: RankedOptions) -> ScoredRow:
            if not np.isfinite(answer.scores).all():
                raise non_finite(model, relation, item, template)
            row = {
                "relation": relation.label,
                "template": template,
                **choice_row(relation, text, item, answer.scores, answer.scored.exact),
                "tokens": answer.scored.lengths.tolist(),
                **prompt_cells(answer.scored.prompt),
                **extra,
                **self.more(relation, item, answer),
            }
            shown = examples.before(item)
            if shown:
                row["statement"] = as_context(relation, shown, template) + row["statement"]
                row["demonstrations"] = [example.index for example in shown]
            return row, item, answer.scored

        extra_columns = self._extra_columns(model, relation, template, settings)
        answers = self.answers(model, requests, settings)
        # Not strict: the check that the result is complete reports a model that answers too few prompts.
        for item, text, extra, answer in zip(relation.items, prompts, extra_columns, answers, strict=False):
            yield unless_too_long(scored_row, item, text, extra, answer)

    def _prompt_of(
        self, relation: Relation, item: Item, template: int, text: Prompt, examples: Sequence[Item]
    ) -> Prompt:
        """Return the prompt of an item after its examples: its statement, or the answer in a chat."""
        if self.chat:
            return Prompt(("", ""), verbatim=True, messages=as_messages(relation, examples, item, template))
        return replace(text, context=as_context(relation, examples, template))

    def answers(
        self, model: LanguageModel, requests: Iterable[Request], settings: Settings
    ) -> Iterator[RankedOptions | TooLong]:
        """Yield the scores by which each prompt's options are ranked."""

        def ranked_by(scores: OptionScores) -> RankedOptions:
            return RankedOptions(scores.reduce(settings.reduction), scores)

        return (unless_too_long(ranked_by, scores) for scores in model.score(requests, settings.scoring))

    def more(self, relation: Relation, item: Item, answer: RankedOptions) -> Row:
        """Return further columns of the row; presets of this probe override it."""
        return {}

    def why_not(self, relation: Relation) -> str:
        if self.generic_subjects and any(item.wording for item in relation.items):
            return NO_TEMPLATES
        examples = Examples(relation, self.few_shot, 0)
        if self.few_shot and not all(map(examples.are_enough, relation.items)):
            return f"too few items to show {self.few_shot} others before each"
        return ""

    def _extra_columns(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        """Yield for each item the columns of the further pass with generic subjects, if that is asked for."""
        generic = self._generic(model, relation, template, settings) if self.generic_subjects else {}
        for item in relation.items:
            shares = generic.get(relation.options_of(item))
            yield shares if isinstance(shares, TooLong) else {} if shares is None else {"generic": shares}

    def _generic(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> dict[tuple[str, ...], list[float] | TooLong]:
        """Return the shares of options with generic subjects, which are scored to the end even with `decide`."""

        def finite(answer: RankedOptions) -> Floats:
            if not np.isfinite(answer.scores).all():
                location = f"on {relation.id}, a generic subject, template {template}"
                raise NonFiniteScores.of(model.card.id, location)
            return answer.scores

        def scores(requests: Sequence[Request]) -> Iterator[Floats | TooLong]:
            answers = self.answers(model, requests, replace(settings, decide=False))
            return (unless_too_long(finite, answer) for answer in answers)

        return generic_shares(relation, template, subjects_of(self.generic_subjects, relation), scores)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return choice_frame(rows)

    def condensed(self, rows: pd.DataFrame) -> pd.DataFrame:
        return condensed_with_details(rows)

    def baselines(self, rows: pd.DataFrame) -> pd.DataFrame:
        return choice_baselines(rows, self)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return choice_scores(accuracy_scores(rows, tag_columns(self, rows.columns)), rows, self)


def subjects_of(text: str, relation: Relation) -> list[str]:
    """Return the generic subjects of a relation: those that bear its name, or else those that bear none.

    The text has subjects with commas between; "P30: the region" is one for relation P30 only.
    """
    named: list[str] = []
    general: list[str] = []
    for entry in filter(None, map(str.strip, text.split(","))):
        name, colon, subject = entry.partition(":")
        if not colon:
            general.append(entry)
        elif name.strip() in (relation.id, relation.label):
            named.append(subject.strip())
    return named or general


def generic_shares(
    relation: Relation, template: int, subjects: Sequence[str], score_options: ScoreOptions
) -> dict[Options, list[float] | TooLong]:
    """Return for each list of options in the relation its shares: the mean over the subjects of the softmax of scores.

    They are NaN where the relation has no generic subject, and an error where one of its sentences is too long.
    """
    spaces = list(dict.fromkeys(relation.options_of(item) for item in relation.items))
    texts = [prompt(relation.templates[template], subject, relation.verbatim) for subject in subjects]
    scores = score_options([(text, options) for options in spaces for text in texts])
    return {options: _mean_softmax([next(scores) for _ in texts], len(options)) for options in spaces}


def _mean_softmax(answers: Sequence[Floats | TooLong], options: int) -> list[float] | TooLong:
    scores: list[Floats] = []
    for answer in answers:
        if isinstance(answer, TooLong):
            return answer
        scores.append(answer)
    shares = softmax(np.stack(scores).astype(float), axis=-1).mean(axis=0) if scores else np.full(options, np.nan)
    return [float(share) for share in shares]
