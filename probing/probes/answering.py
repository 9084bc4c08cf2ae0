"""Answers by generation (methods 4.6): a chat model is asked a question and writes a free response."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pandas as pd

from probing.analysis.culture_metrics import answering_scores
from probing.analysis.responses import contains, names_word, normalised_text
from probing.benchmark import Item, Relation
from probing.errors import BadInput, TooLong
from probing.formats.dlama import pair_named
from probing.formats.own_wordings import SYSTEM_MESSAGES, paper_questions
from probing.language_model import Continuation, LanguageModel
from probing.probes.probe import (
    ROW_COLUMNS,
    UNSCORED,
    VERSION_TAGS,
    Probe,
    Row,
    item_cells,
    prompt_cells,
    tag_cells,
    tag_columns,
    unless_too_long,
)
from probing.settings import Settings, option
from probing.statements.geography_sentences import FACT_TYPES, wh_question
from probing.statements.prompting import as_messages
from probing.template import SUBJECT_SLOT

Questions = list[tuple[str, Sequence[str]]]  # the question about each item of a relation, and its right answers


@dataclass(frozen=True)
class Answering(Probe):
    """One row per item. With `chat`, the benchmark's system message stands before the question.

    Facts of geography have a Wh-question for each fact type, and their whole names are right answers. Benchmarks that
    have no questions in any language, as BEAR, are asked for what is missing at the blank of their statements.

    `prediction_label`: the whole response, or its first line where a statement was continued without a chat. `correct`:
    whether the label of a valid object is a substring of it, letter by letter as in the paper. `rank` and `margin` are
    always empty.
    """

    name: ClassVar[str] = "answering"
    main_metric: ClassVar[str] = "accuracy_substring"
    finds: ClassVar[str] = "answers {share} of these {n} questions rightly"
    ahead: ClassVar[str] = "answers {points} points {more} of the questions rightly"
    columns: ClassVar[frozenset[str]] = (
        ROW_COLUMNS
        | VERSION_TAGS
        | {"answer", "answers", "answer_label", "prediction_label", "statement", "rank", "margin"}
        | {"correct", "correct_normalised", "correct_exact"}
    )
    fixed: ClassVar[Mapping[str, Any]] = UNSCORED

    pair: str = option(
        "", "one pair of cultures, for example arab-west; all if empty", chooses_items=True, tag="culture_pair"
    )
    objects: str = option(
        "augmented", "augmented, or raw: before superclasses were added", chooses_items=True, tag="objects"
    )
    questions: Literal["benchmark", "paper"] = option(
        "benchmark", "those of the benchmark, or the seven of DLAMA's paper in English and Arabic", chooses_items=True
    )
    chat: bool = option(True, "ask through the model's chat template")
    tokens: int = option(40, "how many tokens the model may write")

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise BadInput(f"answering: tokens cannot be {self.tokens}.", "Give 1 or more.")
        object.__setattr__(self, "pair", pair_named(self.pair))

    def relation_tags(self) -> Mapping[str, str]:
        return {"culture_pair": self.pair, "objects": self.objects}

    def why_not(self, relation: Relation) -> str:
        """Refuse relations without a question; not every relation has one in every language (methods 4.6)."""
        language = str(relation.tags.get("language", ""))
        if self.question(relation)[0] or "fact_type" in relation.tags or self._asks_statements(relation):
            return ""
        return f"no question in {language or 'any language'}"

    def question(self, relation: Relation) -> tuple[str, str]:
        """Return the question of a relation, with [X] for the subject, and its system message; empty without one."""
        if self.questions == "paper":
            wording = str(relation.tags.get("predicate", "")), str(relation.tags.get("language", ""))
            return paper_questions().get(wording, ("", ""))
        return (relation.questions or ("",))[0], relation.system

    def _asks_statements(self, relation: Relation) -> bool:
        """Tell whether the statements of a relation are asked: they have a blank, and it has no question at all."""
        has_blanks = bool(relation.templates) and all(item.is_true is None for item in relation.items[:1])
        has_others = not {"language", "fact_type"}.isdisjoint(relation.tags)
        return self.questions == "benchmark" and not has_others and not self.question(relation)[0] and has_blanks

    def _has_short_answers(self, relation: Relation) -> bool:
        """Tell whether answers can be as short as US: those to open questions, and the aliases of geography."""
        return "language" not in relation.tags and ("fact_type" in relation.tags or bool(self.question(relation)[0]))

    def _questions(self, relation: Relation, template: int) -> tuple[Questions, str]:
        text, system = self.question(relation)
        if text:
            return _own_questions(relation, text), system
        if "fact_type" in relation.tags:
            return _wh_questions(relation), SYSTEM_MESSAGES["en"]
        return _statements(relation, template), SYSTEM_MESSAGES["en"]

    def rows(
        self, model: LanguageModel, relation: Relation, template: int, settings: Settings
    ) -> Iterator[Row | TooLong]:
        continued = not self.chat and self._asks_statements(relation)

        def row(item: Item, question: str, names: Sequence[str], written: Continuation) -> Row:
            whole = str(written).strip()
            response = whole.partition("\n")[0] if continued else whole
            columns = response_row(relation, item, question, response, names, self._has_short_answers(relation))
            return {"relation": relation.label, "template": template} | columns | prompt_cells(written.prompt)

        questions, system = self._questions(relation, template)
        prompts = [f"{question}\nAnswer:" if continued else question for question, _ in questions]
        responses = model.generate(prompts, self.tokens, chat=self.chat, system=system)
        for item, (question, names), response in zip(relation.items, questions, responses, strict=False):
            yield unless_too_long(row, item, question, names, response)

    def frame(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float})

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        return answering_scores(rows, tag_columns(self, rows.columns))


def _own_questions(relation: Relation, text: str) -> Questions:
    return [
        (text.replace(SUBJECT_SLOT, item.subject), [relation.answer_space[answer] for answer in item.answers])
        for item in relation.items
    ]


def _statements(relation: Relation, template: int) -> Questions:
    """Return the statements with their blank, as multiple choice in a chat asks them."""
    return [
        (as_messages(relation, (), item, template)[-1], [relation.options_of(item)[answer] for answer in item.answers])
        for item in relation.items
    ]


def _wh_questions(relation: Relation) -> Questions:
    """Return the questions about facts of geography; whatever answers one in any item of the relation is right."""
    fact_type = FACT_TYPES[str(relation.tags["fact_type"])]
    right: dict[str, dict[str, None]] = {}

    def add(item: Item) -> str:
        question, names = wh_question(fact_type, item.names, about_subject=item.tags.get("masked") == "subject")
        aliases = (relation.answer_space[answer] for answer in item.answers[1:])
        right.setdefault(question, {}).update(dict.fromkeys([*names, *aliases]))
        return question

    for item in relation.pool:
        add(item)
    return [(question, tuple(right[question])) for question in [add(item) for item in relation.items]]


def response_row(
    relation: Relation, item: Item, question: str, response: str, labels: Sequence[str], whole_words: bool = False
) -> Row:
    """Return the columns of a row that depend on the item and the model's response; any of `labels` is right.

    `whole_words`: whether labels count in whole words once they are normalised: labels such as US are in many words.
    """
    normalised = contains(normalised_text(response), map(normalised_text, labels))
    return {
        **item_cells(item),
        "answer_label": relation.options_of(item)[item.answers[0]],
        "prediction_label": response.strip(),
        "correct": contains(response, labels),
        "correct_normalised": normalised and (not whole_words or names_word(response, labels)),
        "correct_exact": response.strip() in labels,
        "rank": None,
        "margin": None,
        "statement": question,
        **tag_cells(relation, item),
    }
