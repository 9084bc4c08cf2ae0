"""Answers that a run's page shows one by one: the surprising ones, and those that change with the wording."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leaderboard.figures import item_rows
from leaderboard.figures.highlights import highlights
from leaderboard.figures.scores import group_url
from leaderboard.models import Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.breakdowns import answer_space_titles
from leaderboard.probes.items import item_url
from leaderboard.probes.wording import (
    OUTCOMES,
    AnswerWords,
    group_title,
    in_words,
    read_relations,
    relation_names,
    row_key,
    sentences,
    several_answers,
    wording,
)
from leaderboard.tables import Row
from probing.analysis.breakdowns import BY_CULTURE, join_group, split_group
from probing.analysis.option_scores import VERSIONED, space_dimension
from probing.analysis.wording_sensitivity import FLIPS, RANGE, VARIANCE_SHARES
from probing.benchmark import Relation

SURPRISES = ("subject", "relation", "answer", "prediction", "margin")
DEPENDS_ON = {
    "relation": "the relation",
    "item": "the question",
    "template": "the wording",
    "item_template": "the question in a particular wording",
}


def surprises(run: Run) -> list[Row]:
    """Return the wrong answers of which the model was surest; none for a run whose stored items have no margins."""
    rows = highlights(run).sure or []
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


# What depends on the wording: in a sentence, by relation, and question by question.


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


def by_wording(run: Run) -> tuple[list[str], list[Row]]:
    """Return the accuracy of each relation with each of its wordings, those whose wordings differ most first."""
    rows = highlights(run).wordings or []
    templates = [name for name in rows[0] if name.isdigit()] if rows else []
    titles, relations = answer_space_titles(run, [row["relation"] for row in rows]), _relations(run)
    shown = [
        {
            **{f"template_{name}": row[name] for name in templates},
            **{name: row[name] for name in ("relation", "range", "flips")},
            "items": int(row["items"]),
            "worst": _worst_wording(row, templates, relations.get(row["relation"])),
            "title": titles[row["relation"]],
            "href": group_url(run.benchmark, "relation", split_group(_dimension(run), row["relation"])[-1]),
            "accuracies": [(wording(name), row[name]) for name in templates],
        }
        for row in rows
    ]
    return ["relation", *(f"template_{name}" for name in templates), "range", "flips", "items", "worst"], shown


def _dimension(run: Run) -> str:
    return space_dimension(item_rows.names(run))


def _relations(run: Run) -> Mapping[str, Relation]:
    """Return the benchmark's relations by the names that their answer spaces have; none without its files."""
    is_plain = _dimension(run) == "relation"
    return {
        relation.label if is_plain else join_group([*_tag_values(relation), relation.label]): relation
        for relation in read_relations(run.benchmark)
    }


def _tag_values(relation: Relation) -> list[str]:
    return [str(relation.tags.get(tag, "")) for tag in BY_CULTURE[VERSIONED][:-1]]


def _worst_wording(row: Row, templates: Iterable[str], relation: Relation | None) -> str:
    """Return the sentence of the template that is right least often; empty where the files are not here."""
    worst = int(min((name for name in templates if row[name] is not None), key=lambda name: row[name]))
    return in_words(relation.templates[worst]) if relation and worst < len(relation.templates) else ""


def changing_answers(run: Run) -> tuple[list[str], list[Row]]:
    """Return the items whose answer changes with the wording, each with the answer that every wording got."""
    flips = highlights(run).flips or []
    templates = sorted({number for _, answers in flips for number, *_ in answers})
    words = pages_of(run.benchmark).words
    rows = [
        {
            **facts,
            **{f"template_{number}": "" for number in templates},
            **{f"template_{number}": answer for number, answer, _ in answers},
            "answers": [_given(answers, number, words) for number in templates],
        }
        for (_, answers), facts in zip(flips, _facts(run, [row for row, _ in flips]), strict=True)
    ]
    return ["subject", "relation", "answer", *(f"template_{number}" for number in templates)], rows


def _given(answers: Sequence[tuple[int, str, bool]], number: int, words: AnswerWords) -> dict[str, Any]:
    """Return what the page shows of the answer to one wording: its mark, its colour, and what it is called."""
    by_template = {template: (answer, right) for template, answer, right in answers}
    answer, right = by_template.get(number, ("", None))
    mark, kind = OUTCOMES[right] if answer and not words.both_true else ("", "")
    return {"title": wording(number), "answer": answer, "mark": mark, "kind": kind, "word": words.of(right)}
