"""How well each culture is known (methods 4.4, 4.5): ranks, gaps, origins of wrong predictions, and answers given.

A gap is the first culture's P@1 minus that of the West (or of the second in the alphabet). Its interval is recovered
from those of both sides, which share no items, and its p-value belongs to this interval.

The entropy of right answers tells how easy they are to guess: the more often the same object is right, the easier.

The answers that a model gives are counted by the language of the prompts (DLAMA, section 3, Figure 1). Answers are the
same in all languages if they have the same id, and also if the user merges them, as *Muslim* and *Islam*. Beside the
share of an answer stands how often it is right: a model that always gives a common right answer looks as if it knew the
facts.

How near a wrong answer is to a right one is told by the countries in which both lie (DLAMA, the colours of Table 3,
here by machine). Which country a place lies in, and which countries share a border, say the facts of the benchmark
itself: those of the predicates P17 (country), P36 (capital), P1376 (capital of) and P47 (shares border with). Answers
that are no places, such as languages, and places about which there are no such facts are of an unknown country.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

import numpy as np
import pandas as pd

from probing.analysis.accuracy import ScoreRow, chance, proportion, tidy
from probing.analysis.breakdowns import ALL, BY_CULTURE, BY_LANGUAGE, CULTURE, OVERALL, with_crossed
from probing.analysis.intervals import group_means, recovered
from probing.analysis.verdicts import p_of_interval
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.formats.dlama import WEST, common_name, natural

# The dimension whose groups have one figure each: a pair asked in one language. Others pool pairs or languages.
PAIR_IN_LANGUAGE = "culture_pair_language"
WITH_GAP = ("culture_pair", PAIR_IN_LANGUAGE, "culture_pair_language_relation")
WITH_ORIGIN = (OVERALL, CULTURE, "culture_pair_culture", "culture_pair_language_culture")
# Where a wrong prediction is a valid object: only in the item's own culture, only in the other, in both, in neither.
ORIGINS = ("wrong_own_culture", "wrong_other_culture", "wrong_both_cultures", "wrong_no_culture")
# Each metric with the column that tells which rows are right.
RANKING_METRICS = {"p_at_1": "correct", "p_at_1_statement": "correct_statement"}
ANSWERING_METRICS = {
    "accuracy_substring": "correct",
    "accuracy_substring_normalised": "correct_normalised",
    "accuracy_exact": "correct_exact",
}
ENTROPY_COLUMNS = ["culture_pair", "language", "objects", "relation", "culture", "items", "entropy"]
SHARE_COLUMNS = ["relation", "language", "answer", "predictions", "share", "correct_share", "right_share"]
BETWEEN = "\t"  # a group and a culture, where both are in one name
NAMING_LANGUAGE = "en"  # of the labels by which answers are called, where the benchmark has it
# How near the country of a predicted answer is to that of a right one, and the predicates that tell countries.
RIGHT, SAME, NEIGHBOUR, ELSEWHERE, UNKNOWN = NEARNESS = ("right", "same country", "neighbour", "elsewhere", "unknown")
COUNTRY, CAPITAL, CAPITAL_OF, BORDER = "P17", "P36", "P1376", "P47"
OF_COUNTRIES = (CAPITAL, BORDER)  # whose subjects are countries


def ranking_scores(rows: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return P@1, P@5, mean reciprocal rank and chance in all groups; gaps and origins where there are two cultures."""
    tables = [table for dimension in (OVERALL, "relation", *dimensions) for table in _rank_scores(rows, dimension)]
    if has_cultures(rows):
        rows = with_crossed(rows, BY_CULTURE)
        tables += [*_by_culture(rows, RANKING_METRICS), *_beside_p_at_1(rows, PAIR_IN_LANGUAGE)]
        tables += [table for dimension in WITH_ORIGIN for table in _origins(rows, dimension)]
    elif "language" in rows:
        rows = with_crossed(rows, BY_LANGUAGE)
        tables += [table for name in BY_LANGUAGE for table in _right_shares(rows, RANKING_METRICS, name)]
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def answering_scores(rows: pd.DataFrame, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return the shares of right responses by three rules in all groups; gaps go by the first rule."""
    tables = [
        table
        for dimension in (OVERALL, "relation", *dimensions)
        for table in _right_shares(rows, ANSWERING_METRICS, dimension)
    ]
    if has_cultures(rows):
        tables += _by_culture(with_crossed(rows, BY_CULTURE), ANSWERING_METRICS)
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def has_cultures(rows: pd.DataFrame) -> bool:
    return {"culture_pair", "language", CULTURE} <= set(rows.columns)


def _by_culture(rows: pd.DataFrame, metrics: Mapping[str, str]) -> list[pd.DataFrame]:
    shares = [table for dimension in BY_CULTURE for table in _right_shares(rows, metrics, dimension)]
    return [*shares, *(gaps(rows, dimension) for dimension in WITH_GAP)]


def _right_shares(rows: pd.DataFrame, metrics: Mapping[str, str], dimension: str) -> list[pd.DataFrame]:
    stored = {metric: column for metric, column in metrics.items() if column in rows}
    return [proportion(rows, metric, rows[column], dimension) for metric, column in stored.items()]


def _rank_scores(rows: pd.DataFrame, dimension: str) -> list[pd.DataFrame]:
    return [*_right_shares(rows, RANKING_METRICS, dimension), *_beside_p_at_1(rows, dimension)]


def _beside_p_at_1(rows: pd.DataFrame, dimension: str) -> list[pd.DataFrame]:
    """Return chance, and where every rank is known also P@5 and the mean reciprocal rank.

    With `decide` the ranks of wrongly answered items are unknown.
    """
    tables = [chance(rows, dimension)]
    if not rows["rank"].isna().any():
        ranks = rows["rank"].astype(int)
        tables += [
            proportion(rows, "p_at_5", ranks <= 5, dimension),
            proportion(rows, "mean_reciprocal_rank", 1 / ranks, dimension),
        ]
    return tables


def gaps(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return `culture_gap` and `culture_gap_p` of each group with two cultures; `n` counts the items of both."""
    columns = ["relation", "index", "subject_id", "language", "correct"]
    names = rows[dimension].astype(str) + BETWEEN + rows[CULTURE].astype(str)
    named = rows[[name for name in columns if name in rows]].assign(side=names)
    means = group_means(named, named["correct"], "side").set_index("group")
    sides: defaultdict[str, dict[str, pd.Series]] = defaultdict(dict)
    for name, mean in means.iterrows():
        group, _, culture = str(name).partition(BETWEEN)
        sides[group][culture] = mean
    scores: list[ScoreRow] = []
    for group, of_cultures in sides.items():
        if len(of_cultures) == 2:
            first, second = sorted(of_cultures, key=west_last)
            scores += _gap(dimension, group, of_cultures[first], of_cultures[second])
    return tidy(scores)


def west_last(culture: str) -> tuple[bool, str]:
    """Return a sort key that puts the West behind the other culture of a pair, and else goes by the alphabet."""
    return culture == WEST, culture


def _gap(dimension: str, group: str, first: pd.Series, second: pd.Series) -> list[ScoreRow]:
    difference, n = first["value"] - second["value"], first["n"] + second["n"]
    low, high = recovered(
        first["value"], (first["low"], first["high"]), second["value"], (second["low"], second["high"])
    )
    return [
        ("culture_gap", dimension, group, difference, n, low, high),
        ("culture_gap_p", dimension, group, p_of_interval(difference, low, high), n, np.nan, np.nan),
    ]


def _origins(rows: pd.DataFrame, dimension: str) -> list[pd.DataFrame]:
    """Return for wrong predictions the shares of `ORIGINS`; `n` counts the wrong items."""
    columns = rows.columns.intersection(["relation", "index", CULTURE, "prediction_cultures", dimension])
    wrong = rows.loc[~rows["correct"].astype(bool), columns]
    if wrong.empty:
        return []

    def cultures() -> Iterator[tuple[str, set[str]]]:
        """Yield the culture of each item with those of its prediction."""
        return zip(wrong[CULTURE], map(set, wrong["prediction_cultures"]), strict=True)

    own = pd.Series([culture in predicted for culture, predicted in cultures()], wrong.index)
    other = pd.Series([bool(predicted - {culture}) for culture, predicted in cultures()], wrong.index)
    holds = (own & ~other, other & ~own, own & other, ~own & ~other)
    return [proportion(wrong, metric, values, dimension) for metric, values in zip(ORIGINS, holds, strict=True)]


def common_predictions(rows: pd.DataFrame, most: int = 3) -> pd.DataFrame:
    """Return the `most` common right and wrong predictions of each relation and culture, in each pair and language.

    `share` is of all predictions of that relation and culture (the paper's Table 3); predictions that are equally
    common are in order of label. `prediction_cultures`: those in which the predicted candidate is a valid object.
    """
    keys = ["culture_pair", "language", "relation", CULTURE]
    same = rows.groupby([*keys, "correct", "prediction_label"], sort=True)["prediction_cultures"]
    counts = same.agg(items="size", prediction_cultures="first").reset_index()
    counts["share"] = counts["items"] / counts.groupby(keys)["items"].transform("sum")
    ordered = counts.sort_values("items", ascending=False, kind="stable")
    kept = ordered.groupby([*keys, "correct"], sort=False).head(most)
    return kept.sort_values([*keys, "correct"], ascending=[True] * 4 + [False], kind="stable").reset_index(drop=True)


def entropy(objects: Sequence[Collection[str]]) -> float:
    """Return the entropy in bits of the items' objects; `objects` has the ids of each item's valid objects.

    Each item is reduced to the one of its objects that is most frequent over all items, or to the first id of several.
    """
    frequency = Counter(object_id for ids in objects for object_id in ids)
    kept = Counter(min(ids, key=lambda object_id: (-frequency[object_id], natural(object_id))) for ids in objects)
    shares = [count / len(objects) for count in kept.values()]
    return sum(-share * log2(share) for share in shares)


def entropies(benchmark: Benchmark) -> pd.DataFrame:
    """Return one row for each relation and culture: the number of items and the entropy of their objects in bits."""
    rows = [row for relation in benchmark.relations for row in _of_relation(relation)]
    return pd.DataFrame(rows, columns=ENTROPY_COLUMNS)


def totals(by_relation: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of items and the plain means of entropies over the relations of each pair and culture."""
    keys = ["culture_pair", "language", "objects", "culture"]
    columns = {"items": ("items", "sum"), "entropy": ("entropy", "mean")}
    table = by_relation.groupby(keys, sort=False, as_index=False).agg(**columns)
    return table.assign(relation=ALL)[ENTROPY_COLUMNS]


def _of_relation(relation: Relation) -> Iterable[tuple[object, ...]]:
    by_culture: dict[str, list[tuple[str, ...]]] = {}
    for item in relation.items:
        culture = str(relation.tags_of(item).get("culture", ""))
        by_culture.setdefault(culture, []).append(relation.right_ids(item))
    tags = [str(relation.tags.get(name, "")) for name in ENTROPY_COLUMNS[:3]]
    for culture, objects in by_culture.items():
        yield (*tags, relation.label, culture, len(objects), entropy(objects))


def answer_names(benchmark: Benchmark, merged: Mapping[str, str]) -> Callable[[Relation, Item, int], str]:
    """Return a function that names options: by the user's common name, else the label of the id, else their own label.

    Labels of ids are English if there are English ones.
    """
    by_id: dict[str, str] = {}
    for relation in sorted(benchmark.relations, key=lambda relation: relation.tags.get("language") != NAMING_LANGUAGE):
        for id, label in zip(relation.answer_ids, relation.answer_space, strict=False):
            by_id.setdefault(id, label)

    def name(relation: Relation, item: Item, option: int) -> str:
        label = relation.options_of(item)[option]
        id = relation.answer_ids[option] if relation.answer_ids and not item.options else ""
        common = by_id.get(id, label)
        return common_name(merged, id, label, common) or common

    return name


def prediction_shares(rows: pd.DataFrame, benchmark: Benchmark, merged: Mapping[str, str]) -> pd.DataFrame:
    """Return the share of each answer among the predictions of a relation and language, most common first.

    `correct_share`: the part of that share which is right, answers being merged; over a relation's answers it adds up
    to P@1. `right_share`: the share of each answer among the right answers; several right answers of an item share its
    weight equally. Raises `BadInput` if the rows hold no predictions of options.
    """
    if not pd.api.types.is_integer_dtype(rows.get("prediction", pd.Series(dtype=object))):
        raise BadInput("This result has no predicted options.", "Give one of multiple choice or ranking.")
    predicted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    correct: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for key, prediction, answers in _named_rows(rows, benchmark, answer_names(benchmark, merged)):
        predicted[key][prediction] += 1
        correct[key][prediction] += prediction in answers
        for answer in answers:
            right[key][answer] += 1 / len(answers)
    table = [
        (
            *(*key, answer, counts[answer], counts[answer] / counts.total()),
            *(correct[key][answer] / counts.total(), right[key].get(answer, 0.0) / counts.total()),
        )
        for key, counts in sorted(predicted.items(), key=lambda entry: (natural(entry[0][0]), entry[0][1]))
        for answer in sorted(counts.keys() | right[key].keys(), key=lambda name: (-counts[name], name))
    ]
    return pd.DataFrame(table, columns=SHARE_COLUMNS)


def _named_rows(
    rows: pd.DataFrame, benchmark: Benchmark, name: Callable[[Relation, Item, int], str]
) -> Iterator[tuple[tuple[str, str], str, Collection[str]]]:
    """Yield for each row its relation and language, the name of its prediction, and those of its right answers."""
    items = benchmark.items_by_key()
    for label, index, prediction in zip(rows["relation"], rows["index"], rows["prediction"], strict=True):
        relation, item = items[label, index]
        language = str(relation.tags.get("language", ""))
        answers = {name(relation, item, answer) for answer in item.answers}
        yield (label, language), name(relation, item, prediction), answers


@dataclass(frozen=True)
class Map:
    """The countries that places lie in, and the neighbours of countries, by id."""

    countries: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    neighbours: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, benchmark: Benchmark) -> "Map":
        """Read the map from the facts of a benchmark that has ids."""
        places = cls()
        for predicate, subject, objects in _facts(benchmark):
            if predicate in OF_COUNTRIES:
                places.countries[subject].add(subject)
            for place in objects:
                if predicate in (COUNTRY, CAPITAL_OF):
                    places.countries[subject].add(place)
                    places.countries[place].add(place)
                elif predicate == CAPITAL:
                    places.countries[place].add(subject)
                elif predicate == BORDER:
                    places.countries[place].add(place)
                    places.neighbours[subject].add(place)
                    places.neighbours[place].add(subject)
        return places

    def nearness(self, predicted: str, right: Collection[str]) -> str:
        """Return how near a predicted answer is to the nearest right one: one of `NEARNESS`."""
        if predicted in right:
            return RIGHT
        own, others = self._countries(right), self._countries([predicted])
        if not own or not others:
            return UNKNOWN
        if own & others:
            return SAME
        around = set().union(*(self.neighbours.get(country, ()) for country in own))
        return NEIGHBOUR if around & others else ELSEWHERE

    def _countries(self, places: Collection[str]) -> set[str]:
        return set().union(*(self.countries.get(place, ()) for place in places))


def _facts(benchmark: Benchmark) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the predicate, the subject's id and the objects' ids of each item that has ids."""
    for relation in benchmark.relations:
        if relation.answer_ids:
            for item in relation.items:
                if item.subject_id and not item.options:
                    yield relation.label, item.subject_id, [relation.answer_ids[answer] for answer in item.answers]


def nearness(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return the shares of `NEARNESS` among the predictions of each relation and language of which a country is known.

    `predictions`: their number. Relations of which no answer has a known country are left out.
    """
    places, items = Map.of(benchmark), benchmark.items_by_key()
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for label, index, prediction in zip(rows["relation"], rows["index"], rows["prediction"], strict=True):
        relation, item = items[label, index]
        if relation.answer_ids and not item.options:
            right = [relation.answer_ids[answer] for answer in item.answers]
            key = (label, str(relation.tags.get("language", "")))
            counts[key][places.nearness(relation.answer_ids[prediction], right)] += 1
    table = [
        (*key, of.total(), *(of[name] / of.total() for name in NEARNESS))
        for key, of in counts.items()
        if of[SAME] + of[NEIGHBOUR] + of[ELSEWHERE]
    ]
    return pd.DataFrame(table, columns=["relation", "language", "predictions", *NEARNESS])
