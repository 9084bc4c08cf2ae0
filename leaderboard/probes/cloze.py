"""The pages of cloze: averages without leaks, and encoders beside generators."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf, isnan
from typing import Any

import numpy as np
from django.http import QueryDict

from leaderboard.figures import benchmarks
from leaderboard.figures.comparisons import ModelAnswer, records
from leaderboard.figures.runs import with_printed
from leaderboard.figures.scores import scores_of
from leaderboard.models import Benchmark, Entry, Run, Score
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import (
    PLACE_COLUMNS,
    ColumnValues,
    ItemColumns,
    ItemRow,
    RunAnswer,
    facts_table,
    stored_answer,
)
from leaderboard.probes.probe_pages import Json, Parts, ProbePages, notes_of, parts, run_columns
from leaderboard.probes.wording import ONE_ANSWER, ONE_COUNTS
from leaderboard.tables import ENDS, INTERVAL, Row, figures_of
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point, kind_symbol, summary
from probing.analysis.accuracy import MAJORITY
from probing.analysis.breakdowns import CELL, split_group
from probing.analysis.cloze_metrics import MAJOR
from probing.analysis.intervals import cluster_interval, interval_of_shares
from probing.errors import ProbingError
from probing.formats.geography import LEFT_OUT
from probing.judging import QUESTIONS, stored_agreement
from probing.probes.cloze import INSTRUCTIONS, Cloze
from probing.template import BLANK_TEXT

METRIC_LABELS = {
    **{f"in_top_{k}": f"In top {k}" for k in (1, 5, 10)},
    "in_near_1": "Within 1 token",
    **{f"in_near_{k}": f"Within {k} tokens" for k in (5, 15)},
    "not_one_token": "Answer not one token",
    MAJORITY: "Commonest answers",  # as many as count
    "accuracy_with_aliases": "Accuracy, other names count",
    "relative_accuracy_lm_pub_quiz": "Accuracy kept after training, multiple choice",
    "relative_accuracy_mask_predict": "Accuracy kept after training, filled blank",
    "accuracy_lm_pub_quiz": "Accuracy before training, multiple choice",
    "accuracy_mask_predict": "Accuracy before training, filled blank",
}
BASELINE_NOTE = "Here, as many answers are given as count. There is no chance, because any word may stand at a blank."
INSTRUCTION_LABELS = {0: "0: none, the sentence alone"} | {
    number: f"{number}: {text.format('[sentence]')}" for number, text in enumerate(INSTRUCTIONS) if number
}

ScoresByFactType = dict[str, dict[str, Score]]  # by key of the fact type and metric
AVERAGES = ("choice", "fact_types", *INTERVAL, "n")
SIDE_BY_SIDE = ("model", "side", *INTERVAL, "n", "settings", "provenance")
JUDGED = ("question", "sample", "judges", "sentences", "yes", "agreement", "kappa")


# A run: its averages over fact types, of which readers may leave out small ones and leaky sentences (methods 5.5).


def run_parts(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    rows = averages(run)
    metrics = list(dict.fromkeys(metric for row in rows for metric in row["scores"] if metric != "accuracy"))
    for row in rows:
        row.update(figures_of(row["scores"].get("accuracy")))
        row.update({name: row["scores"][name].value if name in row["scores"] else None for name in metrics})
    titles = [(metric, PAGES.metric_label(metric)) for metric in metrics]
    return parts(query, {"averages": ((*AVERAGES, *metrics), rows)}, metrics=titles, major=MAJOR)


def averages(run: Run) -> list[Row]:
    """Return the averages over fact types: of all, of the major ones, and of both without leaky sentences. One query.

    Runs whose leaky sentences are not told apart, such as published ones, have none.
    """
    whole: ScoresByFactType = {}
    clean: ScoresByFactType = {}
    majors = set()
    for score in run.scores.filter(dimension__in=("fact_type", CELL)).order_by("pk"):
        if score.dimension == "fact_type":
            whole.setdefault(score.group, {})[score.metric] = score
            continue
        key, size, leak = split_group(CELL, score.group)
        majors |= {key} if size == "major" else set()
        if leak == "not leaky":
            clean.setdefault(key, {})[score.metric] = score
    if not clean:
        return []
    choices = {"all fact types": whole, "all fact types, without leaky sentences": clean}
    choices |= {
        name.replace("all", "major"): {key: scores for key, scores in types.items() if key in majors}
        for name, types in choices.items()
    }
    return [
        {"choice": name, "fact_types": sum(map(_is_asked, types.values())), "scores": mean_scores([*types.values()])}
        for name, types in choices.items()
        if any(map(_is_asked, types.values()))
    ]


def _is_asked(scores: Mapping[str, Score]) -> bool:
    """Tell whether any sentence of a fact type counts, as none does that a generator cannot continue."""
    return "accuracy" in scores


def mean_scores(types: Sequence[Mapping[str, Score]]) -> dict[str, Score]:
    """Return the mean of each metric over the fact types that were asked, unless one of them lacks it.

    The commonest answers are those of all fact types, as everywhere.
    """
    asked = [scores for scores in types if _is_asked(scores)]
    groups = {metric: types if metric == MAJORITY else asked for metric in asked[0]}
    return {
        metric: _mean([scores[metric] for scores in of])
        for metric, of in groups.items()
        if all(metric in scores for scores in of)
    }


def _mean(scores: Sequence[Score]) -> Score:
    values, numbers = (np.array([getattr(score, name) for score in scores], float) for name in ("value", "n"))
    total = float(numbers.sum())
    clustered = cluster_interval(values, np.ones(len(values)), total)
    ends = (None if isnan(end) else end for end in (*interval_of_shares(numbers, values), *clustered))
    figures = dict(zip(ENDS, ends, strict=True))
    return Score(metric=scores[0].metric, value=float(values.mean()), n=round(total, 9), **figures)


# A benchmark: encoders beside models that write, and how sentences were made.


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    rows = side_by_side(with_printed(benchmark))
    sides = rows if len({row["side"] for row in rows}) > 1 else []
    tables = {
        "sides": (SIDE_BY_SIDE, sides),
        "judged": (JUDGED, judged(benchmark)),
    }
    return parts(
        query,
        tables,
        _sides_chart(sides),
        judged=[(name, labels.sentence(name)) for name in JUDGED[2:]] if tables["judged"][1] else [],
        notes=notes_of(benchmark),
    )


def judged(benchmark: Benchmark) -> list[Row]:
    """Return how judges answered each question about the sentences; nothing where none were asked (section 2.2)."""
    with suppress(ProbingError):
        files = benchmarks.read(benchmark).files if benchmark.path else ()
        rows = [row for path in files if path.name == LEFT_OUT for row in records(stored_agreement(path))]
        return [{**row, "question": QUESTIONS[row["question"]]} for row in rows]
    return []


SIDES = {"masked": "encoders", "causal": "generators", "encoder-decoder": "encoder-decoders"}
# Symbol and colour of each group of models.
MARKERS = {
    side: (kind_symbol(kind), f"var(--series-{number})") for number, (kind, side) in enumerate(SIDES.items(), start=1)
}


def side_by_side(runs: Sequence[Entry]) -> list[Row]:
    """Return all kinds of model on the same sentences: those that end in their blank, the best first. One query."""
    by_pk = {run.pk: run for run in runs if run.model.kind in SIDES}
    at_the_end = [score for score in scores_of(by_pk.values(), ["accuracy"], ["blank"]) if score.group == "last"]
    scores = sorted(at_the_end, key=lambda score: -inf if score.value is None else score.value, reverse=True)
    return [
        {
            "score": score,
            "side": SIDES[by_pk[score.run_id].model.kind].removesuffix("s"),
            **run_columns(by_pk[score.run_id]),
            **figures_of(score),
        }
        for score in scores
    ]


def _sides_chart(rows: Sequence[Row]) -> list[Chart]:
    points = [
        Point(
            *(row["run"].name, row["value"], row["low"], row["high"]),
            group=f"{row['side']}s",
            href=row["run"].get_absolute_url(),
        )
        for row in rows
        if row["value"] is not None
    ]
    if not points:
        return []
    title = "Encoders and generators on the same sentences"
    heads = {point.label: point.group.capitalize() for point in points}
    figure = charts.headed_dots(points, heads, "accuracy", markers=MARKERS)
    return [Chart("sides", title, f"Only sentences that end in their blank. {summary(title, points)}", figure)]


def published_scores(settings: Json, scores: Sequence[Json]) -> list[Json]:
    """Return published shares within five as accuracies: that is what counts as right in a measured run."""
    return [{**score, "metric": "accuracy"} for score in scores if score["metric"] in ("in_top_5", "in_near_5")]


# Single items: how they are listed, and the page of one with the answer marked.


FIRST_WORDS = 5  # words at a blank that a comparison shows
RANKING = ("place", "word", "log_prob", "right")  # the columns of the words at a blank
ANSWER = {"answer_label": "Answer that counts"}
RANKED = ANSWER | {"prediction_label": "Ranked first", "correct": "In top {k}"}
WRITTEN = ANSWER | {"prediction_label": "Continuation", "correct": "Within {k} tokens", "rank": "Tokens needed"}
RANKED_NOTE = f"In top {{k}}: the answer is among the {{k}} most probable words at the blank. {ONE_COUNTS}"
WRITTEN_NOTE = (
    "Within {k} tokens: the answer is complete within the first {k} tokens that the model writes. "
    f"Sentences whose blank is not at their end are not asked. {ONE_COUNTS}"
)
# Columns that the page of a question shows above the table of facts.
ABOVE_FACTS = (
    *PLACE_COLUMNS,
    *("statement", "answer", "answers", "prediction", "correct", "rank", "method", "predictions", "continuation"),
)


def k_of(run: Run) -> int:
    """Return k: an answer counts as right among the first k words, or within the first k tokens."""
    return int(run.option("k", Cloze.k))


def _titles(run: Run, values: ColumnValues) -> dict[str, str]:
    titles = WRITTEN if "near" in values["method"] else RANKED
    return {name: title.format(k=k_of(run)) for name, title in titles.items()}


def _note(run: Run, values: ColumnValues) -> str:
    return (WRITTEN_NOTE if "near" in values["method"] else RANKED_NOTE).format(k=k_of(run))


ITEM_COLUMNS = ItemColumns(
    ("subject", "statement", "answer_label", "prediction_label", "correct", "rank", "margin"),
    titles=_titles,
    note=_note,
    file_only=("scores", "exact", "log_probs", "prompt"),
)


def _answer_text(row: Row) -> str:
    """Return the best words, at least as far as the right one, or the model's continuation."""
    if row.get("predictions"):
        return " · ".join(row["predictions"][: max(row["rank"] or 0, FIRST_WORDS)])
    return str(row["prediction_label"] or "")


MODEL_ANSWER = ModelAnswer(("predictions", "prediction_label", "rank"), _answer_text)


def run_answer(item: ItemRow) -> RunAnswer:
    """Return a sentence with its blank, and what the model put there."""
    row = item.row
    continuation = " ".join(row["continuation"].split())
    context: dict[str, Any] = {
        "row": row,
        "blank": row["statement"].partition(BLANK_TEXT),
        "said": verdict(row, k_of(item.run)),
        "written": around_answer(continuation, row["answer_label"]) if continuation else None,
    }
    tables = [facts_table(item, ITEM_COLUMNS, ABOVE_FACTS)]
    if row.get("predictions"):
        tables.insert(0, {"name": "ranking", "columns": RANKING, "rows": _ranking(row)})
    return stored_answer(tables, context)


def verdict(row: Row, k: int) -> str:
    """Return a sentence that says whether the model was right, and why."""
    if not row["method"]:
        return "The model was not asked: it can only continue a text, and this blank is not at the end of its sentence."
    right = "Right" if row["correct"] else "Wrong"
    if row["method"] == "near":
        if row["rank"]:
            return f"{right}: the answer is complete after token {row['rank']} (the first {k} tokens count)."
        return f"{right}: the answer does not occur in the continuation."
    if row["rank"]:
        return f"{right}: the answer is in place {row['rank']:,} (the first {k} places count)."
    return f"{right}: the answer is not a single token of the model's vocabulary and therefore has no place."


def around_answer(text: str, answer: str) -> tuple[str, str, str]:
    """Return the text before the first place that has the answer as a whole word, in any case, the answer, the rest.

    Without such a place the first piece is the whole text.
    """
    match = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE)
    return (text[: match.start()], match[0], text[match.end() :]) if match else (text, "", "")


def _ranking(row: Row) -> list[Row]:
    """Return the words that the model puts at the blank; places count from 1."""
    words = zip(row["predictions"], row["log_probs"], strict=True)
    return [
        {"place": place, "word": word, "log_prob": log_prob, "right": place == row["rank"]}
        for place, (word, log_prob) in enumerate(words, 1)
    ]


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    asked_by="a blank, filled with any word, for which one answer counts",
    baseline_note=BASELINE_NOTE,
    option_labels={
        "k": "Places that count",
        "closed": "Rank only the answers",
        "chat": "Use the chat template",
        "tokens": "Tokens to write",
    },
    choice_labels={"instruction": INSTRUCTION_LABELS},
    hidden_dimensions=(CELL,),
    secondary_metrics=("in_top_1", "in_top_10", "in_near_1", "in_near_15"),
    default_dimensions=("head",),
    published_scores=published_scores,
    item_columns=ITEM_COLUMNS,
    run_answer=run_answer,
    model_answer=MODEL_ANSWER,
    question_form=ONE_ANSWER,
    template="probes/cloze.html",
    run_parts=run_parts,
    benchmark_parts=benchmark_parts,
)
