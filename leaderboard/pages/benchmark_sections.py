"""Parts of a benchmark's page besides its standings: published figures and relations."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from leaderboard.figures.questions import PAIR_TAGS
from leaderboard.figures.scores import OVERALL_SLICE, RELATION, Slice, dot_scores, part_of
from leaderboard.models import Benchmark, Entry, PrintedRow, Score
from leaderboard.models.printed import printed_rows
from leaderboard.pages.standings_table import values_of, with_ends
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, settings_in_words, sides_and_gap
from leaderboard.probes.probe_pages import Parts
from leaderboard.probes.wording import example_pieces, language_of, relation_name, tag_text
from leaderboard.tables import filled, ordered, page_of
from leaderboard.ui import labels
from leaderboard.ui.labels import PUBLISHED
from probing.benchmark import Relation

Row = dict[str, Any]
PREFIX = "published-"  # of tables and charts that stand beside those of measured runs


# Published figures that share no column, axis or rank with measured ones.


def published_table(
    request: HttpRequest, version: Benchmark | None, part: Slice = OVERALL_SLICE, pair: PairInLanguage | None = None
) -> dict[str, Any]:
    """Return the published figures of a slice with the columns of their CSV, sorted and paged as a request asks.

    Those of a pair have the figures of its two cultures beside them. Nothing where there are none. `version`: that of
    these figures (`published_version`).
    """
    rows = _published_rows(version, part, pair) if version else []
    if version is None or not rows:
        return {}
    label = pages_of(version).metric_label
    metrics = [(name, label(name)) for name in dict.fromkeys(name for row in rows for name in row["scores"])]
    sides = [("first", pair.cultures[0]), ("second", pair.cultures[1])] if pair and len(pair.sides) > 1 else []
    of_pair = [name for side in ("first", "second", "gap") if sides for name in with_ends(side)]
    columns = ["model", "settings", *(name for name, _ in metrics), *of_pair, "differs", "provenance"]
    for row in rows:
        row["scores"] = dict.fromkeys(name for name, _ in metrics) | row["scores"]
        row |= {name: getattr(row["scores"][name], "value", None) for name, _ in metrics}
    rows = ordered(rows, request, columns, "published", within="source")
    return {
        "columns": columns,
        "file": rows,
        "page": page_of(rows, request, "published"),
        "scores": [*metrics, *sides],
        "has_gap": bool(sides),
        "is_open": any(name.startswith("published-") for name in request.GET),
        "has_settings": any(row["settings"] for row in rows),
        "differences": differences(row["run"] for row in rows),
    }


def differences(rows: Iterable[PrintedRow]) -> str:
    """Return in what printed figures differ from measured ones, each difference once."""
    return " ".join(filter(None, dict.fromkeys(row.differs for row in rows)))


def _published_rows(version: Benchmark, part: Slice, pair: PairInLanguage | None) -> list[Row]:
    """Return the printed rows with their scores of a slice, and of a pair with those of both cultures, by source.

    In the slice of everything there is a row also if only figures of single groups were published.
    """
    rows = []
    for run in sorted(printed_rows(version.printed.all()), key=lambda row: (row.model.hub_id, -row.pk)):
        of_run = {(score.metric, part_of(score)): score for score in run.scores}
        scores = {metric: score for (metric, of), score in of_run.items() if of == part}
        if scores or part == OVERALL_SLICE:
            rows.append(_published_row(run, scores, sides_and_gap(of_run, version.main_metric, pair)))
    return sorted(rows, key=lambda row: (row["source"], settings_in_words(row["run"]), -row["first_value"]))


def _published_row(run: PrintedRow, scores: Mapping[str, Score], sides: Mapping[str, Any]) -> Row:
    values = (score.value for score in scores.values() if score.value is not None)
    return {
        "run": run,
        "source": f"{PUBLISHED}: {run.citation}",
        "scores": {**scores, **sides},
        "first_value": next(values, 0.0),
        "model": run.model.title,
        "settings": labels.variant(run),
        **values_of(sides),
        "differs": run.differs,
        "provenance": run.source,
    }


def published_parts(version: Benchmark | None, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    """Return what the probe shows of a benchmark's published figures, with names of their own for tables and charts."""
    parts = pages_of(version).benchmark_parts(version, query, pair) if version else {}
    if not parts:
        return {}
    charts = {name: replace(chart, name=f"{PREFIX}{chart.name}") for name, chart in parts["charts"].items()}
    files = {f"{PREFIX}{name}": file for name, file in parts["files"].items()}
    return {**parts, "charts": charts, "files": files, "prefix": PREFIX}


# The relations in rows, each with an example, the mean of all models, and a dot for each of them.


HIDDEN_TAGS = (*PAIR_TAGS, "predicate", "fact_type")
ON_A_PAGE = 20  # relations
Strips = Mapping[Slice, Sequence[tuple[Entry, Score]]]


def relations_table(
    request: HttpRequest,
    benchmark: Benchmark,
    relations: Sequence[Relation],
    pair: PairInLanguage | None,
    standings: Sequence[Row],
) -> dict[str, Any]:
    """Return the relations, those of the chosen pair if there is one; those of several pairs stand in groups.

    The dots are those of models with the usual settings among `standings`.
    """
    pages = pages_of(benchmark)
    dimensions = {RELATION, *(pages.relation_slice(relation, relation.id)[0] for relation in relations)}
    runs = [row["run"] for row in standings if not row["group"]]
    strips = dot_scores(runs, benchmark.main_metric, dimensions)
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
    return pages.metric_label(benchmark.main_metric)
