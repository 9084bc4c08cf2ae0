"""Parts of a benchmark's page besides its standings: published figures and relations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from leaderboard.figures.questions import PAIR_TAGS
from leaderboard.figures.scores import OVERALL_SLICE, RELATION, Slice, dot_scores, part_of
from leaderboard.figures.standings import published_version
from leaderboard.models import Benchmark, Printed, PrintedRow, Run, Score
from leaderboard.models.printed import printed_rows
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import PairInLanguage, settings_in_words, sides_and_gap
from leaderboard.probes.culture.sides import GAP
from leaderboard.probes.probe_pages import Parts
from leaderboard.probes.wording import example_pieces, group_title, language_of, relation_name, tag_text
from leaderboard.tables import filled, ordered, page_of, values_of
from leaderboard.ui import labels
from probing.benchmark import Relation

Row = dict[str, Any]
PREFIX = "published-"  # of tables and charts that stand beside those of measured runs


# Published figures, which have no rank: those about exactly this version, and those about others.


def published_table(
    request: HttpRequest,
    benchmark: Benchmark,
    part: Slice = OVERALL_SLICE,
    pair: PairInLanguage | None = None,
    slices: Sequence[Slice] = (),
) -> dict[str, Any]:
    """Return the published figures of a part with the columns of their CSV, sorted and paged as a request asks.

    Rows with the same source and settings stand together. Those of a pair have the figures of its two cultures beside
    them, and all have those of the chosen `slices` in the main metric. Nothing where there are none.
    """
    rows = _published_rows(benchmark, part, pair, slices)
    if not rows:
        return {}
    label = pages_of(benchmark).metric_label
    metrics = dict.fromkeys(name for row in rows for name in row["of_part"])
    sides = [("first", pair.cultures[0]), ("second", pair.cultures[1])] if pair and len(pair.sides) > 1 else []
    of_part = [(name, label(name)) for name in metrics if not (sides and name == GAP)]  # which has a column of its own
    of_slices = [(labels.group_column(*of), labels.sentence(group_title(*of, {}))) for of in slices]
    published = filled(rows, (name for name, _ in of_slices))
    scores = [*of_part, *sides, *((name, title) for name, title in of_slices if name in published)]
    names = dict.fromkeys(name for name, _ in scores)
    columns = ["model", "settings", *names, *(["gap"] if sides else []), *filled(rows, ["error"])]
    columns += ["differs", "provenance"]
    rows = [{**dict.fromkeys(columns), **row, "scores": names | row["scores"]} for row in rows]
    printed = [row["run"] for row in rows]
    rows = ordered(rows, request, columns, "published", within="heading")
    return {
        "columns": columns,
        "file": rows,
        "page": page_of(rows, request, "published"),
        "scores": scores,
        "has_gap": bool(sides),
        "has_errors": "error" in columns,
        "is_open": any(name.startswith(PREFIX) for name in request.GET),
        "differences": " ".join(filter(None, dict.fromkeys(row.differs for row in printed))),
        "sources": list(dict.fromkeys((row.citation, row.reference_url) for row in printed if row.reference_url)),
    }


def _published_rows(
    benchmark: Benchmark, part: Slice, pair: PairInLanguage | None, slices: Sequence[Slice]
) -> list[Row]:
    """Return the printed rows with their figures of a part, and of a pair with those of both cultures, by source.

    Of a row of which only other groups were published, its model's page has the figures.
    """
    versions = filter(None, (benchmark, published_version(benchmark)))
    figures = Printed.objects.filter(benchmark__in=versions)
    if part != OVERALL_SLICE:
        of_part = figures.filter(dimension=part.dimension, part=part.group)
        figures = figures.filter(row__in=of_part.values("row"))
    printed = printed_rows(figures)
    rows = [_published_row(run, benchmark.main_metric, part, pair, slices) for run in printed]
    shown = [row for row in rows if row["of_part"] or any(row["scores"].values())]
    return sorted(shown, key=lambda row: (row["heading"], -row["first_value"], row["run"].model.hub_id))


def _published_row(
    run: PrintedRow, metric: str, part: Slice, pair: PairInLanguage | None, slices: Sequence[Slice]
) -> Row:
    """Return a printed row; `error` is that of its figure in the main metric, where the source prints one."""
    figures = {(score.metric, part_of(score)): score for score in run.scores}
    of_part = {name: score for (name, of), score in figures.items() if of == part}
    of_slices = {labels.group_column(*of): figures.get((metric, of)) for of in slices}
    scores = {**of_part, **sides_and_gap(figures, metric, pair), **of_slices}
    errors = [one.error for one in run.figures if (one.metric, one.dimension, one.part) == (metric, *part)]
    group = run.group_without(pair.limits if pair else ())
    settings = group if pair else settings_in_words(run)
    return {
        "run": run,
        "group": group,
        "heading": ", ".join(filter(None, [run.citation, settings])),
        "figures": figures,
        "main": of_part.get(metric),
        "of_part": of_part,
        "first_value": next((score.value for score in of_part.values() if score.value is not None), 0.0),
        "scores": scores,
        "model": run.model.title,
        "settings": labels.variant(run),
        "error": next(iter(errors), None),
        **values_of(scores),
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
Strips = Mapping[Slice, Sequence[tuple[Run, Score]]]


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
    columns = ("name", "relation", "example", "difficulty", *tags, "items", "options", "template")
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


def _strip(scores: Sequence[tuple[Run, Score]]) -> dict[str, Any]:
    """Return the mean of scores, which come the lowest first, with what their dots show."""
    values = [score.value or 0.0 for _, score in scores]
    names = [run.model.hub_id for run, _ in scores]
    ends = f"From {values[0]:.3f} ({names[0]}) to {values[-1]:.3f} ({names[-1]})" if len(values) > 1 else ""
    return {
        "difficulty": mean(values) if values else None,
        "dots": values,
        "ends": ends,
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
