"""What a run's page says of single answers: surprising ones, how far wordings matter, and the place of the blank."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from leaderboard.figures.highlights import highlights
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, RunOutcomes, outcomes_of
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import item_url
from leaderboard.probes.wording import (
    group_title,
    in_words,
    read_relations,
    relation_names,
    row_key,
    sentences,
    several_answers,
)
from leaderboard.tables import Row
from probing.analysis.intervals import figure_interval
from probing.analysis.wording_sensitivity import FLIPS, RANGE, VARIANCE_SHARES
from probing.arrays import Floats
from probing.benchmark import Item, Relation
from probing.kinds import KINDS
from probing.probes.choices import slotted
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

SURPRISES = ("subject", "relation", "answer", "prediction", "margin")
DEPENDS_ON = {
    "relation": "the relation",
    "item": "the question",
    "template": "the wording",
    "item_template": "the question in a particular wording",
}


def surprises(run: Run) -> list[Row]:
    """Return the wrong answers of which the model was surest; none for a run whose stored items have no margins."""
    rows = highlights(run)
    questions = sentences(run, rows, pages_of(run.benchmark).question_form)
    return [
        {
            **facts,
            "question": questions.get(row_key(row), row["subject"]),
            "prediction": row["prediction_label"],
            "margin": row["margin"],
        }
        for row, facts in zip(rows, _facts(run, rows), strict=True)
    ]


def _facts(run: Run, rows: Sequence[Row]) -> list[Row]:
    """Return the subject of each answer, its relation in words, and the right answers, for the page and its CSV."""
    names = relation_names(run)
    answers = several_answers(run, rows, pages_of(run.benchmark).question_form)
    return [
        {
            "href": item_url(run, row),
            "language": str(row.get("language") or ""),
            "every_answer": answers.get((row["relation"], row["index"])) or row["answer_label"],
            "subject": row["subject"],
            "relation": group_title("relation", row["relation"], names),
            "answer": row["answer_label"],
        }
        for row in rows
    ]


# How far wordings matter, in a sentence.


def wording_in_words(scores: Iterable[Score]) -> str:
    """Say how much the wording matters; nothing for a run whose items were asked with one template each."""
    overall = {score.metric: score.value or 0.0 for score in scores if score.dimension == "overall"}
    if FLIPS not in overall:
        return ""
    lead = f"{100 * overall[FLIPS]:.0f} % of the questions get another answer when the sentence is worded differently"
    if RANGE in overall:
        lead += f"; the best wording is right {100 * overall[RANGE]:.1f} points more often than the worst"
    shares = [
        f"{100 * overall[metric]:.0f} % with {DEPENDS_ON[name]}"
        for name, metric in VARIANCE_SHARES.items()
        if metric in overall
    ]
    return f"{lead}. Right and wrong answers vary {', '.join(shares)}." if shares else f"{lead}."


# Right answers by the place of the blank, which stand beside the figure and in its breakdown.


LAST, INSIDE, FIRST = "last", "inside", "first"
TITLES: Mapping[str, str] = {LAST: "blank last", INSIDE: "blank inside", FIRST: "blank before the subject"}
ANOTHER_TEST = (
    "A causal model reads from left to right: where the blank comes before the subject, it has not read what it is "
    "asked about when it reaches the blank. That is another test than a sentence which ends with the blank."
)
ONLY_FIRST = "In all sentences the blank comes before the subject, which a causal model reads only after the blank."
OfRelation = tuple[str, Floats, str]  # a place, the shares of right answers to questions there, and an example


def place_of_blank(template: str) -> str:
    """Return where the blank of a sentence with slots stands; nothing for a sentence without a blank."""
    if ANSWER_SLOT not in template:
        return ""
    before, _, after = template.partition(ANSWER_SLOT)
    if SUBJECT_SLOT in after or not any(map(str.isalnum, before)):
        return FIRST
    return INSIDE if any(map(str.isalnum, after)) else LAST


def by_place(run: Run, pair: PairInLanguage | None = None) -> list[Row]:
    """Return the figures of the places that the run's sentences have, in the order of `TITLES`.

    `pair`: the items that they are about, where not all. It needs the files of the benchmark, and answers that are
    right or wrong. One query.
    """
    outcomes = outcomes_of(run)
    relations = [relation for relation in read_relations(run.benchmark) if pair is None or pair.has(relation)]
    found = [of for relation in relations if relation.label in outcomes for of in _of(relation, outcomes)]
    by_name = {place: [of for of in found if of[0] == place] for place in TITLES}
    macro = run.benchmark.correctness.macro
    return [_row(place, of_place, macro=macro) for place, of_place in by_name.items() if of_place]


def _of(relation: Relation, outcomes: Mapping[str, RunOutcomes]) -> Iterator[OfRelation]:
    """Yield the shares of right answers by place: of each question over its sentences with the blank there."""
    stored = outcomes[relation.label]
    indices = np.array([item.index for item in relation.items], dtype=np.int64)
    columns = np.searchsorted(stored.items, indices).clip(max=len(stored.items) - 1)
    is_stored = stored.items[columns] == indices
    items = [item for item, was_asked in zip(relation.items, is_stored, strict=True) if was_asked]
    values = stored.values[:, columns[is_stored]]
    texts = _sentences_of_items(relation, items, len(values))
    places = np.array([[place_of_blank(text) for text in row] for row in texts])
    for place in TITLES:
        counted = np.broadcast_to(places == place, values.shape) & (values != NOT_COUNTED)
        numbers = counted.sum(axis=0)
        if numbers.any():
            shares = ((values == RIGHT) & counted).sum(axis=0)[numbers > 0] / numbers[numbers > 0]
            row, column = np.argwhere(counted)[0]
            yield place, shares, in_words(texts[row][min(column, len(texts[row]) - 1)])


def _sentences_of_items(relation: Relation, items: Sequence[Item], templates: int) -> list[list[str]]:
    """Return the sentences of each template: one for all items, or one for each where items have their own."""
    numbers, has_template = range(templates), range(len(relation.templates))
    if any(item.wording for item in items):
        return [
            [slotted(relation, item, number) if item.wording or number in has_template else "" for item in items]
            for number in numbers
        ]
    return [[relation.templates[number] if number in has_template else ""] for number in numbers]


def _row(place: str, of_relations: Sequence[OfRelation], *, macro: bool) -> Row:
    """Return a row of the breakdown: the share of right answers in sentences with the blank in one place."""
    shares = np.concatenate([of_relation for _, of_relation, _ in of_relations])
    sizes = [len(of_relation) for _, of_relation, _ in of_relations]
    parts = np.repeat(np.arange(len(sizes)), sizes) if macro else np.zeros(len(shares), dtype=np.int64)
    value = float(np.mean(np.bincount(parts, shares) / np.bincount(parts)))
    low, high = figure_interval(shares, parts)
    figures = {"value": value, "low": low, "high": high, "n": len(shares)}
    title = f"{TITLES[place].capitalize()}, for example “{of_relations[0][2]}”"
    shown = {"title": title, "href": "", "scores": [Score(**figures)], "wordings": None}
    return {"place": TITLES[place], **shown, **figures, "group": place}


def is_only_first(run: Run, places: Sequence[Row]) -> bool:
    """Tell whether all sentences of a model that reads from left to right have the blank before the subject."""
    return [row["group"] for row in places] == [FIRST] and not reads_right(run)


def reads_right(run: Run) -> bool:
    """Tell whether the model reads the text to the right of a blank; of an unknown kind it is taken to."""
    return all(facts.reads_right for kind, facts in KINDS.items() if kind == run.model.kind)
