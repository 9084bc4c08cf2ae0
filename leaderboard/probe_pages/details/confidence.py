"""The fold on confidence: measures over all items and by relation, and the two calibration curves."""

from collections.abc import Mapping, Sequence

from leaderboard.display import cells, charts
from leaderboard.display.charts import Chart, Point
from leaderboard.display.sections import Fold, Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.breakdowns import answer_space_titles, titled_cell
from probing.analysis.answer_spaces import VERSIONED
from probing.analysis.confidence import (
    BIN_ACCURACY,
    BIN_CONFIDENCE,
    BRIER,
    CALIBRATION_ERROR,
    CONFIDENCES,
    CURVES,
    ENTROPY,
    MARGIN,
    MAX_SOFTMAX,
)

NAME = "confidence"
TITLE = "Is the model sure, and rightly so?"
MEASURES: Mapping[str, tuple[str, str]] = {
    MAX_SOFTMAX: ("Largest probability", "The probability of the predicted option, on average."),
    MARGIN: ("Margin", "By how much the predicted option is more probable than the second, on average."),
    ENTROPY: ("Entropy", "0: all probability is on one option; 1: all options are equally probable."),
    BRIER: ("Brier score", "Squared distance of the probabilities from the right answer: 0 is best, 2 is worst."),
    CALIBRATION_ERROR: ("Calibration error", "Mean distance of confidence and accuracy over the bins of the curve."),
}
MEASURES_NOTE = "The probabilities that the model gives to the options of an item sum to 1."
CURVE_NOTES: Mapping[str, str] = {
    MAX_SOFTMAX: (
        "Items are sorted by the probability of the predicted option and cut into ten groups of equal size. Below the "
        "diagonal the model is surer than it is right, above it is right more often than it is sure."
    ),
    MARGIN: (
        "The same for the distance between the two most probable options. It says how accuracy grows with the margin; "
        "as a margin is no probability of being right, there is no diagonal to compare it with."
    ),
}
Bin = Mapping[str, Score]  # accuracy and mean confidence of a bin, by metric


def fold(run: Run, scores: Sequence[Score]) -> Fold | None:
    """Return the fold, or None for a run without scores of confidence."""
    overall = {score.metric: score for score in scores if score.dimension == "overall" and score.metric in MEASURES}
    if CALIBRATION_ERROR not in overall:
        return None
    curves = [_curve_section(dimension, _bins(scores, dimension)) for dimension in CURVES]
    sections = [_overall_section(overall), *curves, _relations_section(run, scores)]
    return Fold(NAME, TITLE, _lead(scores, overall), sections)


def _lead(scores: Sequence[Score], overall: Mapping[str, Score]) -> str:
    sure = overall[MAX_SOFTMAX].value or 0
    bins = [part[BIN_ACCURACY] for part in _bins(scores, "max_softmax_bin")]
    right = sum((part.value or 0) * part.n for part in bins) / sum(part.n for part in bins)
    figures = (
        f"On average it gives {100 * sure:.0f} % to its prediction, which is right in {100 * right:.0f} % of the cases"
    )
    return f"{figures}; the calibration error is {overall[CALIBRATION_ERROR].value:.3f}."


def _bins(scores: Sequence[Score], dimension: str) -> list[Bin]:
    """Return the bins of a calibration curve, the least confident first."""
    bins: dict[int, dict[str, Score]] = {}
    for score in scores:
        if score.dimension == dimension:
            bins.setdefault(int(score.group), {})[score.metric] = score
    return [bins[number] for number in sorted(bins)]


def _overall_section(overall: Mapping[str, Score]) -> Section:
    title = "Measures of confidence"
    table = Table(
        name="confidences",
        caption=title,
        columns=[
            Column("measure", "Measure", lambda row: cells.text(MEASURES[row.metric][0]), align="head"),
            Column("value", "Value", lambda row: cells.number(row.value), align="number"),
            Column("meaning", "In words", lambda row: cells.text(MEASURES[row.metric][1]), align="wide"),
        ],
        rows=[overall[metric] for metric in MEASURES if metric in overall],
        sortable=False,
    )
    return Section("confidences", title, table, note=MEASURES_NOTE)


def _curve_section(dimension: str, bins: Sequence[Bin]) -> Section:
    measure = CURVES[dimension]
    name = MEASURES[measure][0]
    title = f"Accuracy by {name.lower()}"
    table = Table(
        name=dimension,
        caption=title,
        columns=[
            Column("bin", "Group", lambda row: cells.number(int(row[BIN_ACCURACY].group)), align="number"),
            Column("confidence", name, lambda row: cells.number(row[BIN_CONFIDENCE].value), align="number"),
            Column("accuracy", "Accuracy", lambda row: cells.of_score(row[BIN_ACCURACY]), align="score"),
            Column("low", "", lambda row: cells.number(row[BIN_ACCURACY].low), shown=False),
            Column("high", "", lambda row: cells.number(row[BIN_ACCURACY].high), shown=False),
            Column("n", "Questions", lambda row: cells.items(row[BIN_ACCURACY].n), align="number"),
        ],
        rows=bins,
        sortable=False,
    )
    points = [_point(part) for part in bins]
    summary = f"{title}: {points[0].value:.2f} where it is least, {points[-1].value:.2f} where it is greatest."
    plot = charts.calibration(points, name.lower(), diagonal=measure == MAX_SOFTMAX)
    return Section(dimension, title, table, Chart(dimension, title, summary, plot), CURVE_NOTES[measure])


def _point(part: Bin) -> Point:
    accuracy = part[BIN_ACCURACY]
    return Point(
        f"group {accuracy.group}", accuracy.value or 0, accuracy.low, accuracy.high, part[BIN_CONFIDENCE].value
    )


def _relations_section(run: Run, scores: Sequence[Score]) -> Section:
    title = "Confidence by relation"
    relations: dict[str, dict[str, Score]] = {}
    for score in scores:
        if score.metric in CONFIDENCES and score.dimension in ("relation", VERSIONED):
            relations.setdefault(score.group, {})[score.metric] = score
    titles = answer_space_titles(run, relations)
    table = Table(
        name="relation-confidences",
        caption=title,
        columns=[
            Column("relation", "Relation", lambda row: titled_cell(row[0], titles[row[0]]), align="head"),
            *map(_measure_column, CONFIDENCES),
            Column("n", "Questions", lambda row: cells.items(row[1][MAX_SOFTMAX].n), align="number"),
        ],
        rows=list(relations.items()),
        page_size=10,
    )
    return Section("relation-confidences", title, table)


def _measure_column(metric: str) -> Column[tuple[str, Mapping[str, Score]]]:
    title, help_text = MEASURES[metric]
    return Column(metric, title, lambda row: cells.number(row[1][metric].value), help_text, align="number")
