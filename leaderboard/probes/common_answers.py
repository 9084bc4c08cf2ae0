"""Compared runs of specificity on the pairs, and among the answers, that all of their models have as single tokens."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import records, short_names, stored_results
from leaderboard.models import Run, Score
from leaderboard.ui import cells
from leaderboard.ui.columns import interval_columns
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.breakdowns import OVERALL
from probing.analysis.specificity_metrics import common_answers, common_pairs, unified_scores
from probing.benchmark import ROW_KEY

TITLES = {
    "specificity": "Specificity",
    "naturalness": "Naturalness",
    "relatedness": "Relatedness",
    "acc_at_10_either": "Acc@10, either answer",
    "acc_at_10_fine": "Acc@10, fine answer",
}
NUMBERS = {"specificity": "Pairs", "acc_at_10_fine": "Pairs of Acc@10"}  # which a page shows; the CSV has all of them
LEAD = "Acc@10 among the answers that all these models have as single tokens, beside specificity and its factors."
PAIR = ("answer_label", "coarse_label", "specific", "best")
VALUES = ("rank", "natural_log_prob", "cosine")
COLUMNS = (*ROW_KEY, *PAIR, *(f"{side}_{value}" for side in ("fine", "coarse") for value in VALUES))


class ComparedLine(NamedTuple):
    """A run, what it is called, and its scores by metric."""

    run: Run
    name: str
    scores: dict[str, Score]


def comparison_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the section with all metrics of the runs on what their models have in common; nothing where it is none."""
    number, scores = in_common(*stored_results([run.pk for run in runs]))
    if not scores:
        return []
    rows = [ComparedLine(*line) for line in zip(runs, short_names(runs), scores, strict=True)]
    columns: list[Column[ComparedLine]] = [Column("run", "Run", lambda row: cells.text(row.name), align="head")]
    columns += [column for metric, title in TITLES.items() for column in _columns(metric, title)]
    table = Table("common_answers", "Common pairs and answers", columns, rows, sortable=False)
    note = (
        "On the pairs whose answers are single tokens of all these models. Acc@10 does not depend on the size of a "
        f"vocabulary here: it ranks an answer among the {number:,} answers of the benchmark that all of them have, and "
        "counts the pairs whose hundred best tokens include ten of these."
    )
    return [replace(section(table, note=note, title="On common pairs and answers"), lead=LEAD)]


def _columns(metric: str, title: str) -> list[Column[ComparedLine]]:
    def score(row: ComparedLine) -> Score | None:
        return row.scores.get(metric)

    return [
        Column(metric, title, lambda row: cells.of_score(score(row)), align="score"),
        *interval_columns(score, metric),
        Column(
            f"{metric}_n",
            NUMBERS.get(metric, ""),
            lambda row: cells.items(getattr(score(row), "n", None)),
            align="number",
            shown=metric in NUMBERS,
        ),
    ]


@lru_cache(maxsize=8)
def in_common(*stored: tuple[int, str]) -> tuple[int, list[dict[str, Score]]]:
    """Return the number of common answers, and the overall scores of each run, of runs by `stored_results`.

    It is cached, as the folder of a result never changes.
    """
    runs = Run.objects.select_related("benchmark").in_bulk([number for number, _ in stored])
    rows = {str(number): item_rows.frame(runs[number], COLUMNS) for number, _ in stored}
    answers = common_answers(rows)
    words = next(iter(answers.values()))
    if not words:
        return 0, []
    table = unified_scores(common_pairs(rows, words), answers).astype(object)
    scores: dict[str, dict[str, Score]] = {name: {} for name in rows}
    for values in records(table.where(table.notna(), None)):
        if values["dimension"] == OVERALL:
            result = values.pop("result")
            scores[result][values["metric"]] = Score(**values)
    return len(words), list(scores.values())
