"""Rows of items whose options are scored: what every probe with options has in them, and their main scores.

Each token of a statement has a role: it is part of the subject, of the answer, of another blank, or of the template.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from probing.analysis.accuracy import baseline_scores, chance, with_ties
from probing.analysis.breakdowns import OVERALL, with_crossed
from probing.analysis.culture_metrics import PAIR_IN_LANGUAGE, has_cultures
from probing.analysis.details import detail_scores
from probing.arrays import Bools, Floats, Ints
from probing.benchmark import Item, Relation
from probing.errors import NonFiniteScores, UnsupportedModel
from probing.language_model import LanguageModel, OptionScores, Spans
from probing.probes.probe import ROW_COLUMNS, Probe, Row, item_cells, tag_cells, tag_columns
from probing.template import SUBJECT_SLOT, Prompt

# The columns of the rows of any probe with options, which are indices into the answer space.
CHOICE_COLUMNS = ROW_COLUMNS | {
    *("answer", "answers", "answer_label", "prediction", "prediction_label", "correct", "rank", "margin"),
    *("scores", "exact", "statement"),
}
OTHER_BLANK = "…"  # stands for a blank that is not scored
SUBJECT, ANSWER, TEMPLATE, BLANK = "subject", "answer", "template", "blank"
# Characters that stand for those of a part of the statement. A token that reaches into two parts has the first's role.
MARKS = {"\2": ANSWER, "\1": SUBJECT, "\0": BLANK}
ANSWER_MARK, SUBJECT_MARK, BLANK_MARK = MARKS


def slotted(relation: Relation, item: Item, template: int) -> str:
    """Return an item's sentence with slots for its subject and its answer.

    A sentence of the item's own has slots where the subject's name stands.
    """
    if item.wording and item.subject:
        return item.wording.replace(item.subject, SUBJECT_SLOT)
    return relation.template_of(item, template)


def choice_row(relation: Relation, text: Prompt, item: Item, scores: Floats, exact: Bools) -> dict[str, Any]:
    """Return the columns of a row that depend on the item and its option scores."""
    options = relation.options_of(item)
    prediction, correct, rank = ranked(scores, item)
    right = right_options(scores, item)
    all_exact = bool(exact.all())
    return {
        **item_cells(item),
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


def ranked(scores: Floats, item: Item) -> tuple[int, bool, int]:
    """Return the best option (the first of equals), whether it is right, and the rank of the best right option."""
    order = np.argsort(-scores, kind="stable")
    rank = int(np.argmax(right_options(scores, item)[order])) + 1
    return int(order[0]), rank == 1, rank


def right_options(scores: Floats, item: Item) -> Bools:
    """Tell which of the options that have these scores are right."""
    right = np.zeros(len(scores), bool)
    right[list(item.answers)] = True
    return right


def choice_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows with the columns of `choice_row` as a table whose types do not depend on what is missing."""
    return pd.DataFrame(rows).astype({"rank": "Int64", "margin": float})


def choice_baselines(rows: pd.DataFrame, probe: Probe) -> pd.DataFrame:
    """Return chance and the scores of both baselines, overall and in all groups that the main scores have."""
    crossed, tags = _with_pairs(rows, probe)
    guesses = [chance(crossed, dimension) for dimension in (OVERALL, "template", "relation", *tags)]
    return pd.concat([*guesses, baseline_scores(crossed, tags)], ignore_index=True)


def choice_scores(main: pd.DataFrame, rows: pd.DataFrame, probe: Probe) -> pd.DataFrame:
    """Return a probe's main scores, then those of the baselines, what the main figures hide, and ties."""
    tables = [main, baseline_scores(*_with_pairs(rows, probe)), detail_scores(rows, tag_columns(probe, rows.columns))]
    return with_ties(pd.concat([table for table in tables if len(table)], ignore_index=True), rows)


def _with_pairs(rows: pd.DataFrame, probe: Probe) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows, with a column of the culture pair in its language where there are cultures, and all tags."""
    pairs = [PAIR_IN_LANGUAGE] if has_cultures(rows) else []
    return with_crossed(rows, pairs), [*tag_columns(probe, rows.columns), *pairs]


def non_finite(model: LanguageModel, relation: Relation, item: Item, template: int) -> NonFiniteScores:
    """Return the error for an item whose scores are not finite."""
    return NonFiniteScores.of(model.card.id, f"on {relation.id}, item {item.index}, template {template}")


def marked(text: Prompt, option: str, statement: str) -> str:
    """Return the statement with marks in place of the option and of what a model put into the other blanks.

    `text`: the prompt, which may have marks in place of its subject. `statement`: the text that the model scored. Its
    first letter may have become two in upper case, which cannot be told apart from a longer blank if there are others.
    """
    others, longer = len(text.pieces) - 2, len(statement) - len(text.fill(ANSWER_MARK * len(option)).text)
    in_blank, in_first_letter = divmod(longer, others) if others else (0, longer)
    marks = text.fill(ANSWER_MARK * len(option), BLANK_MARK * in_blank).text
    return marks[:1] * in_first_letter + marks


def token_roles(marks: str, spans: Spans) -> list[str]:
    """Return the role of each token, given the marked statement and where its tokens begin and end."""
    parts = (marks[begin:end] for begin, end in spans)
    return [next((role for mark, role in MARKS.items() if mark in part), TEMPLATE) for part in parts]


# Columns with an entry for each scored token of an item's options, in their order.
ItemTokens = Mapping[str, Ints | Floats | list[str]]


def item_tokens(scores: OptionScores, marks: Iterable[str]) -> ItemTokens:
    """Return the tokens of an item's options, given the marked statement of each option.

    `option`: the number of the option. `position`: the token's place among the scored tokens of its option, from 0.
    `token`: the characters of the statement that it stands for.
    """
    if not scores.spans:
        raise UnsupportedModel("The model does not say which tokens it scores.", "Leave out --keep tokens.")
    texts = zip(scores.texts, scores.spans, strict=True)
    marked_texts = zip(marks, scores.spans, strict=True)
    return {
        "option": np.repeat(np.arange(len(scores.log_probs)), scores.lengths),
        "position": np.concatenate([np.arange(length) for length in scores.lengths]),
        "token": [text[begin:end] for text, spans in texts for begin, end in spans],
        "role": [role for text, spans in marked_texts for role in token_roles(text, spans)],
        "log_prob": np.concatenate(scores.log_probs),
    }
