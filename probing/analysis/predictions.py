"""Which answers a model gives, by the language of the prompts (DLAMA, section 3, Figure 1).

Answers are the same in all languages if they have the same id, and also if the user merges them, as *Muslim* and
*Islam*. Beside the share of an answer stands how often it is right: a model that always gives a common right answer
looks as if it knew the facts.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.formats.dlama import natural
from probing.formats.merged_answers import common_name

COLUMNS = ["relation", "language", "answer", "predictions", "share", "right_share"]
NAMING_LANGUAGE = "en"  # of the labels by which answers are called, where the benchmark has it


@dataclass(frozen=True)
class AnswerNames:
    """Names of answers: the user's common name, else the label of their id, else their own label."""

    merged: Mapping[str, str]
    by_id: Mapping[str, str]

    def name(self, relation: Relation, item: Item, option: int) -> str:
        label = relation.options_of(item)[option]
        id = relation.answer_ids[option] if relation.answer_ids and not item.options else ""
        common = self.by_id.get(id, label)
        return common_name(self.merged, id, label, common) or common


def answer_names(benchmark: Benchmark, merged: Mapping[str, str]) -> AnswerNames:
    """Return the names of a benchmark's answers; labels of ids are English if there are English ones."""
    by_id: dict[str, str] = {}
    for relation in sorted(benchmark.relations, key=lambda relation: relation.tags.get("language") != NAMING_LANGUAGE):
        for id, label in zip(relation.answer_ids, relation.answer_space, strict=False):
            by_id.setdefault(id, label)
    return AnswerNames(merged, by_id)


def prediction_shares(rows: pd.DataFrame, benchmark: Benchmark, merged: Mapping[str, str]) -> pd.DataFrame:
    """Return the share of each answer among the predictions of a relation and language, most common first.

    `right_share`: the same of the right answers; several right answers of an item share its weight equally. Raises
    `BadInput` if the rows hold no predictions of options.
    """
    if not pd.api.types.is_integer_dtype(rows.get("prediction", pd.Series(dtype=object))):
        raise BadInput("This result has no predicted options.", "Give one of multiple choice or ranking.")
    predicted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for key, prediction, answers in _named_rows(rows, benchmark, answer_names(benchmark, merged)):
        predicted[key][prediction] += 1
        for answer in answers:
            right[key][answer] += 1 / len(answers)
    table = [
        (*key, answer, counts[answer], counts[answer] / counts.total(), right[key].get(answer, 0.0) / counts.total())
        for key, counts in sorted(predicted.items(), key=lambda entry: (natural(entry[0][0]), entry[0][1]))
        for answer in sorted(counts.keys() | right[key].keys(), key=lambda name: (-counts[name], name))
    ]
    return pd.DataFrame(table, columns=COLUMNS)


def _named_rows(
    rows: pd.DataFrame, benchmark: Benchmark, names: AnswerNames
) -> Iterator[tuple[tuple[str, str], str, Collection[str]]]:
    """Yield for each row its relation and language, the name of its prediction, and those of its right answers."""
    items = benchmark.items_by_key()
    for label, index, prediction in zip(rows["relation"], rows["index"], rows["prediction"], strict=True):
        relation, item = items[label, index]
        language = str(relation.tags.get("language", ""))
        answers = {names.name(relation, item, answer) for answer in item.answers}
        yield (label, language), names.name(relation, item, prediction), answers
