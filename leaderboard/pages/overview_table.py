"""The table of the front page: its rows with the values of the CSV, and what its cells show of them."""

from collections.abc import Callable, Collection, Mapping, Sequence

from django.urls import reverse

from leaderboard.figures.board import FACTS, ON_FRONT_PAGE, figure_url
from leaderboard.figures.overview import Column, Figure, Row, key_of
from leaderboard.figures.progress import percent_done
from leaderboard.figures.runs import ANY_VERSION
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models.printed import PROVENANCES, PUBLISHED
from leaderboard.models.run import run_url
from leaderboard.ui import spelled
from leaderboard.ui.links import model_address

OTHER_ITEMS = "about other questions than the rest of this column"
OTHER_METRIC = "in another metric or with other settings than this column"
OTHER_PARTS = "about other pairs of cultures or in other languages than this column"
OF_FIGURE = ("low", "high", "standard_error", "n", "metric", "provenance", "version", "run", "published")


# The values of the CSV, by the names of its columns.


def leading_columns(is_of_topic: bool) -> list[str]:
    """Return the columns before those of benchmarks that pages show as well."""
    return ["model", *ON_FRONT_PAGE, *([] if is_of_topic else ["coverage"])]


def column_names(columns: Sequence[Column], is_of_topic: bool) -> list[str]:
    """Return the names in their order. Only the table of a topic, which shows intervals, has standard errors."""
    of_figure = [name for name in OF_FIGURE if is_of_topic or name != "standard_error"]
    of_benchmarks = [f"{column.slug}{name}" for column in columns for name in ("", *(f"_{one}" for one in of_figure))]
    in_files = [name for name in FACTS if name not in ON_FRONT_PAGE]
    return [*leading_columns(is_of_topic), "hub_id", *in_files, *of_benchmarks]


def sort_keys(columns: Sequence[Column]) -> dict[str, Callable[[Row], float | None]]:
    """Return what the columns of benchmarks are sorted by: only figures about the items of their column."""

    def key(column: Column) -> Callable[[Row], float | None]:
        comparable = column.comparable
        return lambda row: comparable[row["key"]].value if row["key"] in comparable else None

    return {column.slug: key(column) for column in columns}


def with_values(row: Row, columns: Sequence[Column]) -> Row:
    """Return a row with the values of its figures."""
    values: Row = dict(row)
    for column in columns:
        figure = row["figures"].get(column.slug)
        published = column.published.get(row["key"])
        facts = _facts(column, figure) if figure else dict.fromkeys(OF_FIGURE)
        if column.slug in row["apart"]:  # what it has is not in this column, and the file says whose it is
            facts["provenance"] = PUBLISHED
        facts["published"] = published.value if published else None
        values[column.slug] = figure.value if figure else None
        values |= {f"{column.slug}_{name}": facts[name] for name in OF_FIGURE}
    return values


def _facts(column: Column, figure: Figure) -> Row:
    return {
        **{name: getattr(figure, name) for name in ("low", "high", "metric", "provenance")},
        "run": figure.run if figure.run > 0 else None,
        "standard_error": figure.error,
        "n": figure.n or None,
        "version": ANY_VERSION if column.is_about_other_items(figure) else column.version.version,
    }


# What the heads and the cells of a page show.


def heads(columns: Sequence[Column]) -> list[Row]:
    """Return the heads of benchmarks; a line stands before the first one of each topic."""
    before = ["", *(column.topic for column in columns)]
    return [
        {
            "slug": column.slug,
            "title": column.title,
            "note": "\n".join(f"{name} {value:.3f}" for name, value in column.references.items()),
            "align": f"score{'' if column.topic == topic else ' first'}",
        }
        for column, topic in zip(columns, before, strict=False)
    ]


def lines(rows: Sequence[Row], columns: Sequence[Column], main: Column | None) -> list[Row]:
    """Return the rows of a page with their cells. Two queries, for sources and for the progress of open runs."""
    origins = _origins(rows, columns)
    waiting = (column.waiting.get(row["key"]) for row in rows for column in columns)
    percents = percent_done([run for run, _ in filter(None, waiting)])
    best = [column.best_of(row["key"] for row in rows) for column in columns]
    shown = list(zip(columns, best, heads(columns), strict=True))

    def cells_of(row: Row) -> list[Row]:
        return [
            {**head, **_cell(row, column, origins, percents, best), "has_bar": column is main}
            for column, best, head in shown
        ]

    return [
        {
            **row,
            "weights": row["key"][1],
            "href": model_address(row["hub_id"]),
            "has_answers": has_answers(row),
            "cells": cells_of(row),
            "variants": [
                {
                    **other,
                    "href": model_address(other["hub_id"]),
                    "has_answers": has_answers(other),
                    "words": _variant(other, columns, main),
                }
                for other in row.get("others", ())
            ],
        }
        for row in rows
    ]


def has_answers(row: Row) -> bool:
    """Tell whether a model has runs on these benchmarks, whose answers can be compared."""
    return any(figure.provenance != PUBLISHED for figure in row["figures"].values())


def _origins(rows: Sequence[Row], columns: Sequence[Column]) -> dict[int, str]:
    """Say of the figures of rows, by their runs, how they were measured or what they are cited from."""
    plans = {column.slug: f"measured here, {column.version.plan}" for column in columns}
    return {
        figure.run: plans[slug]
        if figure.is_measured
        else f"{PROVENANCES[figure.provenance].lower()}: {figure.citation}"
        for row in rows
        for slug, figure in row["figures"].items()
    }


def _cell(
    row: Row, column: Column, origins: Mapping[int, str], percents: Mapping[int, int], best: Collection[int]
) -> Row:
    """Return a figure, an open run, or a link to published figures which cannot stand in the column; or nothing."""
    key = row["key"]
    if figure := row["figures"].get(column.slug):
        return _figure(column, figure, origins[figure.run], best)
    if key in column.waiting:
        run, state = column.waiting[key]
        text = f"{percents[run]} %" if percents.get(run) else "waiting"
        return {"text": text, "note": f"{state}, no result yet", "href": run_url(run), "kind": "open"}
    return {"text": "other", "kind": "published", **_apart(column)} if column.is_apart(key) else {}


def _figure(column: Column, figure: Figure, origin: str, best: Collection[int]) -> Row:
    published = column.published.get(key_of(figure))
    kind, is_best = "measured" if figure.is_measured else "published", figure.run in best
    error = f"{figure.error:.3f}" if figure.error else ""
    facts = [
        spelled.interval_note(figure.low, figure.high) or (error and f"standard error over wordings {error}"),
        f"{figure.n:,.0f} questions" if figure.n else "",
        origin,
        f"○ published: {published.value:.3f}" if published else "",
        OTHER_ITEMS if column.is_about_other_items(figure) else "",
        "among the best of its column" if is_best else "",
    ]
    return {
        **{"value": figure.value, "low": figure.low, "high": figure.high, "chance": column.references.get("chance")},
        "text": spelled.figure(figure.value),
        "uncertainty": spelled.uncertainty(figure.value, figure.low, figure.high) or (error and f"SE {error}"),
        "note": " · ".join(filter(None, facts)),
        "href": figure_url(figure),
        "kind": kind,
        "is_best": is_best,
        "spoken": ", ".join([PROVENANCES[figure.provenance].lower()] * (not figure.is_measured) + ["best"] * is_best),
    }


def _apart(column: Column) -> Row:
    address = reverse("benchmark", args=[column.slug])
    if column.part != OVERALL_SLICE:
        return {"href": address, "note": f"published, {OTHER_PARTS}"}
    anchor = "" if column.versions[0].version == ANY_VERSION else "#section-published"
    return {"href": f"{address}{anchor}", "note": f"published, {OTHER_METRIC}"}


def _variant(row: Row, columns: Sequence[Column], main: Column | None) -> str:
    """Return what the row of a model says of one of its variants: all its figures, that of the main column first."""
    words = {
        column.slug: f"{_in_words(row['figures'][column.slug])}{'' if column is main else f' on {column.title}'}"
        for column in columns
        if column.slug in row["figures"]
    }
    of_main = [words.pop(main.slug, f"not on {main.title}")] if main else []
    return ", ".join([*of_main, *words.values()])


def _in_words(figure: Figure) -> str:
    mark = "●" if figure.is_measured else "○"
    return f"{mark} {spelled.figure_with_uncertainty(figure.value, figure.low, figure.high)}"
