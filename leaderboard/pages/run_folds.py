"""What a run's main figure hides: the folds of its page, on confidence and on wording, and the place of the blank.

A causal model reads from left to right. Where the blank comes before the subject it has not read what it is asked about
when it reaches the blank, so that this is another test than a sentence that ends with the blank.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.http import QueryDict

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.comparisons import records
from leaderboard.figures.highlights import MOST_FLIPS, Flip, highlights
from leaderboard.figures.item_rows import Row
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, RunOutcomes, outcomes_of
from leaderboard.figures.scores import group_url
from leaderboard.models import Run, Score
from leaderboard.pages import bias_fold
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import answer_space_titles, titled_cell
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import item_url
from leaderboard.probes.wording import (
    AnswerWords,
    answer_cell,
    group_title,
    in_words,
    read_relations,
    relation_names,
    several_answers,
    wording,
)
from leaderboard.ui import cells, charts
from leaderboard.ui.charts.basics import Point
from leaderboard.ui.sections import Fold, Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.breakdowns import BY_CULTURE, join_group, split_group
from probing.analysis.confidence import (
    BIN_ACCURACY,
    BIN_CONFIDENCE,
    BRIER,
    CALIBRATION_ERROR,
    CURVES,
    ENTROPY,
    MARGIN,
    MAX_SOFTMAX,
)
from probing.analysis.intervals import mean_of_shares, wilson
from probing.analysis.option_scores import VERSIONED, space_dimension
from probing.analysis.wording_sensitivity import FLIPS, RANGE, VARIANCE_SHARES
from probing.arrays import Floats
from probing.benchmark import Item, Relation
from probing.errors import ProbingError
from probing.kinds import KINDS
from probing.probes.choices import slotted
from probing.template import ANSWER_SLOT, SUBJECT_SLOT


def folds(run: Run, scores: Sequence[Score], query: QueryDict) -> list[Fold]:
    """Return the folds of a run that has the scores for them; none for a run of which no items are stored."""
    if not run.artefact:
        return []
    optional_folds = (
        wording_fold(run, scores),
        bias_fold.bias_fold(run, scores, query),
        confidence_fold(scores),
    )
    return [fold for fold in optional_folds if fold]


# The fold on confidence: measures over all items, and the two calibration curves.


CONFIDENCE = "confidence"
CONFIDENCE_TITLE = "Is the model sure, and rightly so?"
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


def confidence_fold(scores: Sequence[Score]) -> Fold | None:
    """Return the fold, or None for a run without scores of confidence."""
    overall = {score.metric: score for score in scores if score.dimension == "overall" and score.metric in MEASURES}
    if CALIBRATION_ERROR not in overall:
        return None
    curves = [_curve_section(dimension, _bins(scores, dimension)) for dimension in CURVES]
    sections = [_overall_section(overall), *curves]
    return Fold(CONFIDENCE, CONFIDENCE_TITLE, _confidence_lead(scores, overall), sections)


def _confidence_lead(scores: Sequence[Score], overall: Mapping[str, Score]) -> str:
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
    table = Table(
        name="confidences",
        caption="Measures of confidence",
        columns=[
            Column("measure", "Measure", lambda row: cells.text(MEASURES[row.metric][0]), align="head"),
            Column("value", "Value", lambda row: cells.number(row.value), align="number"),
            Column("meaning", "In words", lambda row: cells.text(MEASURES[row.metric][1]), align="wide"),
        ],
        rows=[overall[metric] for metric in MEASURES if metric in overall],
        sortable=False,
    )
    return section(table, note=MEASURES_NOTE)


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
    points = [_bin_point(part) for part in bins]
    summary = f"{title}: {points[0].value:.2f} where it is least, {points[-1].value:.2f} where it is greatest."
    plot = charts.calibration(points, name.lower(), diagonal=measure == MAX_SOFTMAX)
    return section(table, (summary, plot), CURVE_NOTES[measure])


def _bin_point(part: Bin) -> Point:
    accuracy = part[BIN_ACCURACY]
    return Point(
        f"group {accuracy.group}", accuracy.value or 0, accuracy.low, accuracy.high, part[BIN_CONFIDENCE].value
    )


# The fold on template sensitivity: components of variance, and the accuracy of each relation with each template.


# What each component of variance means to a reader.
MEANINGS: Mapping[str, tuple[str, str]] = {
    "relation": ("Relation", "Some relations are easier than others."),
    "item": ("Question", "Within a relation, some questions are known and some are not, however they are put."),
    "template": ("Wording", "Within a relation, some sentences do worse for all questions: a bad wording."),
    "item_template": (
        "Question × wording",
        "A question is right with one sentence and wrong with another: luck, or knowledge that is not firm.",
    ),
}
VARIANCE_NOTE = (
    "Whether an answer is right varies. The shares say how much of that variance goes back to the relation, the "
    "question, the sentence, and the question in a particular sentence. Of firm knowledge, little goes back to the "
    "last two."
)
WORDING_NOTE = (
    "Accuracy of each relation with each of its wordings; the relations whose wordings differ most come first. A "
    "difference of a few questions is chance."
)
FLIPS_HELP = "Share of questions whose prediction is not the same with all wordings."
Relations = Mapping[str, Relation]  # by the name of the answer space


def wording_fold(run: Run, scores: Sequence[Score]) -> Fold | None:
    """Return the fold, or None for a run whose items were asked with one template each."""
    overall = {score.metric: score for score in scores if score.dimension == "overall"}
    if FLIPS not in overall:
        return None
    changing = changing_answers(run)
    sections = [*_variance_sections(overall), _wording_section(run), *([changing] if changing else [])]
    return Fold("wording", "Does the wording matter?", _wording_lead(overall), sections)


def _wording_lead(overall: Mapping[str, Score]) -> str:
    share = 100 * (overall[FLIPS].value or 0)
    flips = f"{share:.0f} % of the questions get another answer when the sentence is worded differently"
    if RANGE not in overall:
        return f"{flips}."
    points = 100 * (overall[RANGE].value or 0)
    return f"{flips}; the best wording is right {points:.1f} points more often than the worst."


def _variance_sections(overall: Mapping[str, Score]) -> list[Section]:
    shares = [(name, overall[metric].value or 0.0) for name, metric in VARIANCE_SHARES.items() if metric in overall]
    if not shares:
        return []
    table = Table(
        name="variance",
        caption="What right and wrong answers depend on",
        columns=[
            Column("component", "Depends on", lambda row: cells.text(MEANINGS[row[0]][0]), align="head"),
            Column("share", "Share", lambda row: cells.share(row[1]), align="score"),
            Column("meaning", "In words", lambda row: cells.text(MEANINGS[row[0]][1]), align="wide"),
        ],
        rows=shares,
        sortable=False,
    )
    return [section(table, note=VARIANCE_NOTE)]


def _wording_section(run: Run) -> Section:
    rows = pd.DataFrame(highlights(run).wordings)
    templates = [name for name in rows.columns if name.isdigit()]
    return section(_wordings_table(run, rows, templates), note=WORDING_NOTE)


def _wordings_table(run: Run, rows: pd.DataFrame, templates: Sequence[str]) -> Table[Row]:
    relations = _relations(run, space_dimension(item_rows.names(run)))
    titles = answer_space_titles(run, rows["relation"])

    def name(row: Row) -> cells.Cell:
        return titled_cell(row["relation"], titles[row["relation"]], _relation_href(run, row["relation"]))

    def worst(row: Row) -> cells.Cell:
        return cells.text(_worst_wording(row, templates, relations))

    def accuracy(template: str, row: Row) -> cells.Cell:
        sentence = _sentence(row, int(template), relations)
        return replace(cells.number(None if pd.isna(row[template]) else row[template]), note=sentence)

    return Table(
        name="wordings",
        caption="Accuracy by relation and wording",
        columns=[
            Column("relation", "Relation", name, align="head"),
            *(Column(f"template_{t}", wording(t), partial(accuracy, t), align="number") for t in templates),
            Column("range", "Best − worst", lambda row: cells.number(row["range"]), align="number"),
            Column("flips", "Flips", lambda row: cells.number(row["flips"]), FLIPS_HELP, align="number"),
            Column("items", "Questions", lambda row: cells.number(int(row["items"])), align="number"),
            Column("worst", "Worst wording", worst, align="wide"),
        ],
        rows=records(rows),
        page_size=20,
    )


def _relation_href(run: Run, name: str) -> str:
    """Return the address of the relation of an answer space."""
    relation = split_group(space_dimension(item_rows.names(run)), name)[-1]
    return group_url(run.benchmark, "relation", relation)


def _relations(run: Run, dimension: str) -> Relations:
    """Return the benchmark's relations by the names that their answer spaces have; none without its files."""
    try:
        content = benchmarks.read(run.benchmark).relations if run.benchmark.path else ()
    except ProbingError:
        return {}
    if dimension == "relation":
        return {relation.label: relation for relation in content}
    return {join_group(_tag_values(relation)): relation for relation in content}


def _tag_values(relation: Relation) -> list[str]:
    return [*(str(relation.tags.get(tag, "")) for tag in BY_CULTURE[VERSIONED][:-1]), relation.label]


def _worst_wording(row: Mapping[str, Any], templates: Sequence[str], relations: Relations) -> str:
    """Return the sentence of the template that is right least often; empty where the files are not here."""
    accuracies = {int(name): row[name] for name in templates if not pd.isna(row[name])}
    return _sentence(row, min(accuracies, key=lambda name: accuracies[name]), relations)


def _sentence(row: Mapping[str, Any], number: int, relations: Relations) -> str:
    """Return the sentence of a relation's template; empty where the files are not here."""
    relation = relations.get(row["relation"])
    return in_words(relation.templates[number]) if relation and number < len(relation.templates) else ""


# The items whose answer changes with the wording, each with the answer that every wording got.


FLIPS_ON_A_PAGE = 10
FLIPS_NOTE = (
    "Questions that get different answers when the sentence is worded differently; those that are right with one "
    "wording and wrong with another come first."
)


def changing_answers(run: Run) -> Section | None:
    """Return the section; None for a run whose stored items have no labels or do not change."""
    rows = highlights(run).flips
    if not rows:
        return None
    names = relation_names(run)
    pages = pages_of(run.benchmark)
    words, answers = pages.words, several_answers(run, [flip.row for flip in rows], pages.question_form)
    templates = sorted({number for flip in rows for number, *_ in flip.answers})
    table = Table(
        name="flips",
        caption="Answers that change with the wording",
        columns=[
            Column(
                "subject",
                "Subject",
                lambda flip: cells.text(flip.row["subject"], item_url(run, flip.row), lang=_lang(flip)),
                align="head",
            ),
            Column(
                "relation", "Relation", lambda flip: cells.text(group_title("relation", flip.row["relation"], names))
            ),
            Column("answer", words.answer, lambda flip: answer_cell(flip.row, answers)),
            *(
                Column(f"template_{number}", wording(number), partial(_flip_cell, number, words))
                for number in templates
            ),
        ],
        rows=rows,
        page_size=FLIPS_ON_A_PAGE,
        sortable=False,
    )
    note = f"{FLIPS_NOTE} The first {MOST_FLIPS} are listed." if len(rows) == MOST_FLIPS else FLIPS_NOTE
    return section(table, note=note)


def _flip_cell(number: int, words: AnswerWords, flip: Flip) -> cells.Cell:
    answers = {template: (answer, right) for template, answer, right in flip.answers}
    if number not in answers:
        return cells.text("")
    answer, right = answers[number]
    return words.cell(right, answer, lang=_lang(flip))


def _lang(flip: Flip) -> str:
    """Return the language of the question's texts, empty if it is that of the page."""
    return str(flip.row.get("language") or "")


# Right answers by the place of the blank, which stand beside the run's figure and in a breakdown.


LAST, INSIDE, FIRST = "last", "inside", "first"
PLACE_TITLES: Mapping[str, str] = {LAST: "blank last", INSIDE: "blank inside", FIRST: "blank before the subject"}
ANOTHER_TEST = (
    "A causal model reads from left to right: where the blank comes before the subject, it has not read what it is "
    "asked about when it reaches the blank. That is another test than a sentence which ends with the blank."
)
ONLY_FIRST = "In all sentences the blank comes before the subject, which a causal model reads only after the blank."


class PlaceFigure(NamedTuple):
    """The share of right answers to the sentences with the blank in one place, with its 95 % interval.

    `n`: how many questions were asked in such a sentence. `example`: one of these sentences.
    """

    place: str
    value: float
    n: int
    low: float
    high: float
    example: str

    @property
    def title(self) -> str:
        return PLACE_TITLES[self.place]


class _PlaceAnswers(NamedTuple):
    """The shares of right answers to the questions of one relation in sentences with the blank in one place."""

    place: str
    shares: Floats
    example: str


def place_of_blank(template: str) -> str:
    """Return where the blank of a sentence with slots stands; nothing for a sentence without a blank."""
    if ANSWER_SLOT not in template:
        return ""
    before, _, after = template.partition(ANSWER_SLOT)
    if SUBJECT_SLOT in after or not any(map(str.isalnum, before)):
        return FIRST
    return INSIDE if any(map(str.isalnum, after)) else LAST


def by_place(run: Run, pair: PairInLanguage | None = None) -> list[PlaceFigure]:
    """Return the figures of the places that the run's sentences have, in the order of `PLACE_TITLES`.

    `pair`: the items that they are about, where not all. It needs the files of the benchmark, and answers that are
    right or wrong. One query.
    """
    outcomes = outcomes_of(run)
    relations = [relation for relation in read_relations(run.benchmark) if pair is None or pair.has(relation)]
    by_name: dict[str, list[_PlaceAnswers]] = {}
    for relation in relations:
        if relation.label in outcomes:
            for answers in _answers_by_place(relation, outcomes[relation.label]):
                by_name.setdefault(answers.place, []).append(answers)
    macro = run.benchmark.correctness.macro
    return [_place_figure(place, by_name[place], macro) for place in PLACE_TITLES if place in by_name]


def _answers_by_place(relation: Relation, outcomes: RunOutcomes) -> Iterator[_PlaceAnswers]:
    """Yield the shares of right answers by place: of each question over its sentences with the blank there."""
    indices = np.array([item.index for item in relation.items], dtype=np.int64)
    columns = np.searchsorted(outcomes.items, indices).clip(max=len(outcomes.items) - 1)
    is_stored = outcomes.items[columns] == indices
    asked = [item for item, stored in zip(relation.items, is_stored, strict=True) if stored]
    values = outcomes.values[:, columns[is_stored]]
    texts = _sentences_of_items(relation, asked, len(values))
    places = np.array([[place_of_blank(text) for text in row] for row in texts])
    for place in PLACE_TITLES:
        counted = np.broadcast_to(places == place, values.shape) & (values != NOT_COUNTED)
        numbers = counted.sum(axis=0)
        if numbers.any():
            shares = ((values == RIGHT) & counted).sum(axis=0)[numbers > 0] / numbers[numbers > 0]
            row, column = np.argwhere(counted)[0]
            yield _PlaceAnswers(place, shares, in_words(texts[row][min(column, len(texts[row]) - 1)]))


def _sentences_of_items(relation: Relation, items: Sequence[Item], templates: int) -> list[list[str]]:
    """Return the sentences of each template: one for all items, or one for each where items have their own."""
    numbers, has_template = range(templates), range(len(relation.templates))
    if any(item.wording for item in items):
        return [
            [slotted(relation, item, number) if item.wording or number in has_template else "" for item in items]
            for number in numbers
        ]
    return [[relation.templates[number] if number in has_template else ""] for number in numbers]


def _place_figure(place: str, answers: Sequence[_PlaceAnswers], macro: bool) -> PlaceFigure:
    sizes = np.array([len(of_relation.shares) for of_relation in answers], dtype=float)
    n = int(sizes.sum())
    if macro:
        means = np.array([of_relation.shares.mean() for of_relation in answers])
        return PlaceFigure(place, float(means.mean()), n, *mean_of_shares(means, sizes), answers[0].example)
    value = float(np.concatenate([of_relation.shares for of_relation in answers]).mean())
    return PlaceFigure(place, value, n, *wilson(value, n), answers[0].example)


def place_section(run: Run, places: Sequence[PlaceFigure]) -> list[Section]:
    """Return the section with the figures by place; nothing where all sentences have the blank in the same place."""
    if len(places) < 2:
        return []
    table = Table(
        name="places",
        caption="Right answers by the place of the blank",
        columns=[
            Column("place", "Sentences with the", lambda row: cells.text(row.title), align="head"),
            Column("value", "Right", lambda row: cells.score(row.value, row.low, row.high), align="score"),
            Column("low", "", lambda row: cells.number(row.low), shown=False),
            Column("high", "", lambda row: cells.number(row.high), shown=False),
            Column("n", "Questions", lambda row: cells.number(row.n), align="number"),
            Column("example", "For example", lambda row: cells.text(row.example), align="wide"),
        ],
        rows=places,
        sortable=False,
    )
    return [Section("places", "By the place of the blank", table, note="" if _reads_right(run) else ANOTHER_TEST)]


def cautions(run: Run, places: Sequence[PlaceFigure]) -> list[str]:
    """Return what a reader of the figure must know of a causal model whose sentences all begin with the answer."""
    only_first = [figure.place for figure in places] == [FIRST]
    return [ONLY_FIRST] if only_first and not _reads_right(run) else []


def _reads_right(run: Run) -> bool:
    """Tell whether the model reads the text to the right of a blank; of an unknown kind it is taken to."""
    return all(facts.reads_right for kind, facts in KINDS.items() if kind == run.model.kind)
