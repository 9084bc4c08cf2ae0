"""The relations of a benchmark in rows, each with an example, the mean of all models, and a dot for each of them."""

from collections.abc import Collection, Mapping, Sequence
from statistics import mean
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from leaderboard.figures.questions import PAIR_TAGS
from leaderboard.figures.scores import RELATION, Slice, dot_scores
from leaderboard.figures.standings import Row as Standing
from leaderboard.models import Benchmark, Entry, Score
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.wording import example_pieces, language_of, relation_name, tag_text
from leaderboard.tables import filled, ordered, page_of
from leaderboard.ui import labels
from probing.benchmark import Relation

HIDDEN_TAGS = (*PAIR_TAGS, "predicate", "fact_type")
ON_A_PAGE = 20  # relations
Row = dict[str, Any]
Strips = Mapping[Slice, Sequence[tuple[Entry, Score]]]


def relations_table(
    request: HttpRequest,
    benchmark: Benchmark,
    relations: Sequence[Relation],
    pair: PairInLanguage | None,
    standings: Sequence[Standing],
) -> dict[str, Any]:
    """Return the relations, those of the chosen pair if there is one; those of several pairs stand in groups.

    The dots are those of models with the usual settings among `standings`.
    """
    pages = pages_of(benchmark)
    dimensions = {RELATION, *(pages.relation_slice(relation, relation.id)[0] for relation in relations)}
    runs = [row["run"] for row in standings if not row["group"]]
    strips = dot_scores(runs, pages.main_metric(benchmark), dimensions)
    chosen = [relation for relation in relations if pair is None or pair.has(relation)]
    tags = _tag_columns(chosen)
    columns = ("name", "relation", "example", "difficulty", *tags, "items", "options", "best", "template")
    rows = [_row(benchmark, relation, tags, strips) for relation in chosen]
    if pair:
        rows = [row | {"heading": ""} for row in rows]
    rows = ordered(rows, request, columns, "relations", within="heading")
    return {
        "columns": columns,
        "file": rows,
        "page": page_of(rows, request, "relations", ON_A_PAGE),
        "tags": tags,
        "difficulty": _difficulty_title(benchmark),
        "filled": filled(rows, ("difficulty", "options")),
    }


def _row(benchmark: Benchmark, relation: Relation, columns: Collection[str], strips: Strips) -> Row:
    scores = strips.get(Slice(*pages_of(benchmark).relation_slice(relation, relation.id)), [])
    tags = {name: tag_text(name, relation.tags.get(name, "")) for name in columns}
    before, answer, after = example_pieces(relation)
    return {
        "href": reverse("relation", args=[benchmark.name, relation.id]),
        "heading": ", ".join(tag_text(name, relation.tags[name]) for name in PAIR_TAGS if name in relation.tags),
        "name": relation_name(relation),
        "relation": relation.id,
        "pieces": (before, answer, after),
        "language": language_of(relation),
        "example": f"{before}{answer}{after}" or None,
        **_strip(scores),
        **tags,
        "items": len(relation.items),
        "options": len(relation.answer_space) or None,
        "template": relation.templates[0],
    }


def _strip(scores: Sequence[tuple[Entry, Score]]) -> dict[str, Any]:
    """Return the mean of scores, which come the lowest first, with what their dots show."""
    values = [score.value or 0.0 for _, score in scores]
    names = [run.model.hub_id for run, _ in scores]
    ends = f"From {values[0]:.3f} ({names[0]}) to {values[-1]:.3f} ({names[-1]})" if len(values) > 1 else ""
    return {
        "difficulty": mean(values) if values else None,
        "dots": [(score.value or 0.0, run.is_published) for run, score in scores],
        "ends": ends,
        "best": max(values, default=None),
    }


def _tag_columns(relations: Sequence[Relation]) -> dict[str, str]:
    """Return the tags in which relations differ, with their titles."""
    values: dict[str, set[str]] = {}
    for relation in relations:
        for name, value in relation.tags.items():
            if name not in HIDDEN_TAGS:
                values.setdefault(name, set()).add(str(value))
    return {name: labels.dimension(name) for name, different in values.items() if len(different) > 1}


def _difficulty_title(benchmark: Benchmark) -> str:
    """Return what the dots are: shares of right answers, or the main metric where answers are not right or wrong."""
    pages = pages_of(benchmark)
    if benchmark.correctness.column:
        return labels.sentence(pages.words.right)
    return pages.metric_label(pages.main_metric(benchmark))
