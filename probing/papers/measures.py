"""What exhibits show of their runs, as tidy scores with the model and the way in front.

`MEASURES` are named by the declarations. Most exhibits show scores of results as they are; the others are here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

import probing
from probing.analysis import specificity_metrics
from probing.analysis.bias import BIAS_KINDS, answer_bias
from probing.analysis.breakdowns import ALL, CULTURE, OVERALL, join_group
from probing.analysis.cloze_metrics import MAJOR
from probing.analysis.confidence_estimates import KEPT, confidence_estimates, estimate_scores, rejection_curve
from probing.analysis.culture_metrics import common_predictions, entropies, prediction_shares, totals
from probing.analysis.steps import BOUNDS, relative_to_first
from probing.benchmark import Benchmark
from probing.papers.declarations import KEY
from probing.results.result import Result

COLUMNS = [*KEY, "value", "low", "high", "n"]
UNBOUNDED = np.nan, np.nan  # of figures without an interval
MOST_ANSWERS = 5  # that are shown for each language


@dataclass(frozen=True)
class ExhibitRuns:
    """The benchmarks of an exhibit by the names of its ways, and its results by model and way."""

    benchmarks: Mapping[str, Benchmark]
    results: Mapping[tuple[str, str], Result]

    @cached_property
    def models(self) -> list[str]:
        return list(dict.fromkeys(model for model, _ in self.results))


def scores(runs: ExhibitRuns) -> pd.DataFrame:
    tables = [result.scores.assign(model=model, way=way) for (model, way), result in runs.results.items()]
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def unified(runs: ExhibitRuns) -> pd.DataFrame:
    """Return specificity, its factors and Acc@10 on the pairs and words that all models have (S-TEST, section 4.1)."""
    items = {f"{model}\n{way}": result.items for (model, way), result in runs.results.items()}
    cards = {model: result.record["model"] for (model, _), result in runs.results.items()}
    answers = {answer for rows in items.values() for answer in chain(rows["answer_label"], rows["coarse_label"])}
    words = probing.unified({card["id"]: card["commit"] for card in cards.values()}, answers)
    rows = specificity_metrics.common_pairs(items, next(iter(words.values())))
    table = specificity_metrics.unified_scores(rows, {name: words[cards[name.split("\n")[0]]["id"]] for name in rows})
    named = table["result"].str.split("\n", expand=True)
    return table.assign(model=named[0], way=named[1])[COLUMNS]


def unified_changes(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the changes of Acc@10 for the fine answer against the first way, vanilla prompting (S-TEST, Table 8)."""
    table = unified(runs)
    fine = table[(table["metric"] == "acc_at_10_fine") & (table["dimension"] == OVERALL)]
    first = fine[fine["way"] == next(iter(runs.benchmarks))].set_index("model")["value"]
    changes = fine.assign(metric="acc_at_10_fine_change", value=fine["value"] - fine["model"].map(first))
    return changes.assign(low=np.nan, high=np.nan)


def correlation(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the mean correlation of the models' specificity over relations (S-TEST, section 4.2)."""
    table = unified(runs)
    if len(runs.models) < 2:
        return _table([])
    mean = specificity_metrics.mean_correlation(specificity_metrics.correlation(table.assign(result=table["model"])))
    way = next(iter(runs.benchmarks))
    return _table([("", way, "mean_correlation", OVERALL, ALL, mean, *UNBOUNDED, float(len(runs.models)))])


def answer_biases(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the mean probability of each option of a relation (LM-PUB-QUIZ, Figures 4 and 6).

    `low` and `high`: with the least and the greatest template. `generic`: with generic subjects.
    """
    return _table(
        (model, way, metric, "option", row["label"], row[metric], row[low], row[high], np.nan)
        for (model, way), result in runs.results.items()
        for row in result.with_labels(answer_bias(result.items)).to_dict("records")
        for metric, low, high in BIAS_KINDS.values()
    )


def calibration_of_estimates(runs: ExhibitRuns) -> pd.DataFrame:
    """Return how well each estimate of confidence is calibrated (Self-Aware Knowledge Probing, section 4)."""
    tables = [estimate_scores(result.items).assign(model=m, way=w) for (m, w), result in runs.results.items()]
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def kept_accuracies(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the accuracy of the items that reach a confidence, by estimate and threshold, with their number."""
    return _table(
        (model, way, KEPT, "threshold", f"{row['estimate']} ≥ {row['threshold']}", row[KEPT], *UNBOUNDED, row["kept"])
        for (model, way), result in runs.results.items()
        for row in rejection_curve(confidence_estimates(result.items)).to_dict("records")
        if row["kept"]
    )


def accuracies_by_way(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the accuracy of each way as a metric of its own, such as accuracy_bear, all under the first way."""
    table = scores(runs)
    accuracies = table[(table["metric"] == "accuracy") & (table["dimension"] == OVERALL)]
    return accuracies.assign(metric="accuracy_" + accuracies["way"], way=next(iter(runs.benchmarks)))


def relative_accuracies(runs: ExhibitRuns) -> pd.DataFrame:
    """Return what `accuracies_by_way` returns as shares of the first model's (LM-PUB-QUIZ, Table 2 and Figure 5)."""
    relative = relative_to_first(accuracies_by_way(runs), "model")
    shares = {name: relative[percent] / 100 for name, percent in BOUNDS.items()}
    return relative.assign(metric="relative_" + relative["metric"], **shares)[COLUMNS]


def most_common_predictions(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the shares of the most common right and wrong predictions (DLAMA, Tables 3, E6 and E7)."""
    return _table(
        (model, way, "share", "prediction", _prediction_name(row), row["share"], *UNBOUNDED, float(row["items"]))
        for (model, way), result in runs.results.items()
        for row in common_predictions(result.items).to_dict("records")
    )


def _prediction_name(row: Mapping[Any, Any]) -> str:
    verdict = "right" if row["correct"] else "wrong"
    return f"{row['relation']} {row[CULTURE]}, {verdict}: {row['prediction_label']}"


def answers_by_language(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the shares of the most common answers, and of them given rightly, by language (DLAMA, Figure 1)."""
    return _table(
        (model, way, metric, "answer", f"{row['language']}: {row['answer']}", row[share], *UNBOUNDED, np.nan)
        for (model, way), result in runs.results.items()
        for row in _most_given(result.items, runs.benchmarks[way])
        for metric, share in (("given", "share"), ("given_and_right", "correct_share"))
    )


def _most_given(rows: pd.DataFrame, benchmark: Benchmark) -> list[dict[Any, Any]]:
    return prediction_shares(rows, benchmark, {}).groupby("language", sort=False).head(MOST_ANSWERS).to_dict("records")


def means_of_kinds(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the mean over encoders and that over generators for each major fact type (Geography, Figure 1).

    A fact type is major where enough of its sentences count in the run of any model.
    """
    table = scores(runs)
    metrics = {"mean_of_encoders": "in_top_5", "mean_of_generators": "in_near_5"}
    types = table[(table["dimension"] == "fact_type") & table["metric"].isin([*metrics.values()])]
    major = types[types["group"].isin(types.loc[types["n"] >= MAJOR, "group"])]
    return _table(
        ("", way, name, "fact_type", group, part["value"].mean(), *UNBOUNDED, part["n"].iloc[0])
        for name, metric in metrics.items()
        for (way, group), part in major[major["metric"] == metric].groupby(["way", "group"], sort=False)
    )


def faulty_sentences(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the shares of sentences that a rule marks as leaky or as repeating a word (Geography, section 2.2)."""
    return _table(
        (
            "",
            way,
            metric,
            OVERALL,
            ALL,
            float(np.mean([item.tags[tag] == value for item in items])),
            *UNBOUNDED,
            len(items),
        )
        for way, benchmark in runs.benchmarks.items()
        for items in [[item for relation in benchmark.relations for item in relation.items]]
        for metric, tag, value in (("leaky", "leak", "leaky"), ("repeated_word", "repeats", "a word twice"))
    )


def item_counts(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the number of items of each relation, and of all."""
    return _table(
        ("", way, "items", dimension, group, float(number), *UNBOUNDED, float(number))
        for way, benchmark in runs.benchmarks.items()
        for dimension, group, number in [
            *(("relation", relation.id, len(relation.items)) for relation in benchmark.relations),
            (OVERALL, ALL, benchmark.size),
        ]
    )


def object_entropies(runs: ExhibitRuns) -> pd.DataFrame:
    """Return the entropy in bits of the right answers by relation and culture, and their means (DLAMA, Table 2)."""
    return _table(
        ("", way, "entropy_of_objects", dimension, group, value, *UNBOUNDED, float(n))
        for way, benchmark in runs.benchmarks.items()
        for dimension, group, value, n in _entropies(benchmark)
    )


def _entropies(benchmark: Benchmark) -> Iterator[tuple[str, str, float, int]]:
    by_relation = entropies(benchmark)
    for row in by_relation.to_dict("records"):
        yield "relation_culture", join_group((row["relation"], row["culture"])), row["entropy"], row["items"]
    for row in totals(by_relation).to_dict("records"):
        yield "culture", row["culture"], row["entropy"], row["items"]


def _table(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


MEASURES: Mapping[str, Callable[[ExhibitRuns], pd.DataFrame]] = {
    "scores": scores,
    "unified": unified,
    "unified_changes": unified_changes,
    "correlation": correlation,
    "answer_biases": answer_biases,
    "calibration_of_estimates": calibration_of_estimates,
    "kept_accuracies": kept_accuracies,
    "accuracies_by_way": accuracies_by_way,
    "relative_accuracies": relative_accuracies,
    "most_common_predictions": most_common_predictions,
    "answers_by_language": answers_by_language,
    "means_of_kinds": means_of_kinds,
    "faulty_sentences": faulty_sentences,
    "item_counts": item_counts,
    "object_entropies": object_entropies,
}
OF_BENCHMARKS = ("faulty_sentences", "item_counts", "object_entropies")  # those that need no answers of models


def measured_scores(measure: str, runs: ExhibitRuns) -> pd.DataFrame:
    """Return the scores (`COLUMNS`) that a measure makes from runs; none where it needs answers and there are none."""
    return MEASURES[measure](runs) if runs.results or measure in OF_BENCHMARKS else _table([])
