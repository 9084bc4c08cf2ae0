"""The table of standings: the filter that a query string asks for, and its rows and columns for page and file.

A row of the table has the values of its CSV by the names of the columns, the row of `figures.standings` that they come
from as `standing`, and `scores`, the figures that its page shows with their intervals.
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.text import get_text_list

from leaderboard.figures.board import FACTS, ON_BENCHMARK_PAGES
from leaderboard.figures.filters import models_of, near_models
from leaderboard.figures.runs import read_records, runs_on
from leaderboard.figures.scores import OVERALL_SLICE, Slice, baselines_of, chance_of, slices
from leaderboard.figures.standings import (
    FACETS,
    LeaderboardFilter,
    Row,
    chosen_facets,
    chosen_slices,
    facet_choices,
    figures_of,
    narrowed,
    standings,
)
from leaderboard.models import Benchmark, Run, RunRank, Score
from leaderboard.probes import pages_of
from leaderboard.probes.benchmark_words import baselines_in_words
from leaderboard.probes.culture.pairs import (
    PairInLanguage,
    parts_asked,
    settings_in_words,
    sides_and_gap,
)
from leaderboard.probes.culture.sides import GAP
from leaderboard.probes.wording import group_title, read_relations, relation_name
from leaderboard.tables import ENDS, filled, ordered, page_of, sorting, values_of
from leaderboard.ui import labels, spelled
from leaderboard.ui.table_files import wants_file
from probing.benchmark import Relation

MODEL = ("rank", "model", *ON_BENCHMARK_PAGES, "active_parameters", "tie_group", "settings")
RUN = ("provenance", "date", "group", "way", "run", "commit", "version")


def offered_slices(benchmark: Benchmark) -> list[Slice]:
    """Return the slices that can be columns of the benchmark's leaderboard; before any run, the parts that it asks."""
    pages = pages_of(benchmark)
    groups = slices(benchmark, benchmark.main_metric, pages.fine_dimensions)
    return groups or parts_asked(read_relations(benchmark))


def read_filter(
    query: QueryDict, benchmark: Benchmark, offered: Sequence[Slice], pair: PairInLanguage | None = None
) -> LeaderboardFilter:
    """Return what the query string asks for; what does not exist is left out. `pair`: what the rows are about."""
    pages = pages_of(benchmark)
    defaults = pages.default_dimensions if pair is None else ()
    return LeaderboardFilter(
        benchmark,
        benchmark.main_metric,
        [*pages.metrics_beside(benchmark), *([GAP] if pair else [])],
        chosen=chosen_facets(query),
        search=query.get("search", "").strip(),
        slices=chosen_slices(query, offered, defaults),
        part=pair.part if pair else OVERALL_SLICE,
        sides=pair.sides if pair else (),
        limits=pair.limits if pair else {},
    )


def models_table(
    request: HttpRequest, filters: LeaderboardFilter, pair: PairInLanguage | None, offered: Sequence[Slice]
) -> dict[str, Any]:
    """Return the standings with all that their template shows, and the columns and rows of their file.

    `standings` are the rows that pass the filter.
    """
    pages, figures = pages_of(filters.benchmark), figures_of(filters)
    everything = standings(filters, figures, runs_on(filters.benchmark))
    passing = narrowed(everything, filters, figures)
    columns, common = csv_columns(passing, filters, pair), common_metrics(passing)
    if wants_file(request) or sorting(request.GET)[0]:  # by values that the page needs of its own rows alone
        rows = table_rows(passing, filters, pair, common)
        if wants_file(request) or sorting(request.GET)[0] == "settings":
            add_settings(rows)
        rows = ordered(rows, request, columns, within="within", keys={"rank": lambda row: row["standing"]["rank"]})
        page = page_of(rows, request)
        shown = list(page)
    else:
        page = page_of(passing, request)
        rows = shown = table_rows(list(page), filters, pair, common)
    add_settings(shown)
    headings = {"", *(row["standing"]["group"] for row in shown)}
    has_settings = filters.part == OVERALL_SLICE and any(row["settings"] not in headings for row in shown)
    chance = chance_of(filters.benchmark, filters.part) if filters.metric == filters.benchmark.main_metric else None
    has_bars = any(row[filters.metric] is not None and 0 <= row[filters.metric] <= 1 for row in shown)
    title, scored = pages.metric_label(filters.metric), score_columns(shown, filters, pair)
    of_page = filled(shown, columns) - (set() if has_settings else {"settings"})
    return {
        "caption": f"{labels.sentence(title)} of every model{f': {pair.title}' if pair else ''}",
        "standings": passing,
        "figures": figures,
        "columns": columns,
        "file": shown if request.GET.get("page") else rows,
        "rows": shown,
        "page": page,
        "filled": of_page,
        "facts": {name: FACTS[name] for name in ON_BENCHMARK_PAGES if name in of_page},
        **scored,
        "metric": filters.metric,
        "beside": [(name, pages.metric_label(name)) for name in pages.metrics_beside(filters.benchmark)],
        "count_title": pages.count_title,
        "has_sources": len({row["run"].provenance for row in passing}) > 1,
        "chance": chance,
        "scale": (f"0 to 1, chance {spelled.figure(chance)}" if chance is not None else "0 to 1") if has_bars else "",
        "facets": facet_choices(everything, filters, figures),
        "narrowed": bool(filters.search or filters.chosen),
        "empty": nothing_passes(filters),
        "title": title,
        **_glossary(filters, passing, offered),
    }


def _glossary(filters: LeaderboardFilter, rows: Sequence[Row], offered: Sequence[Slice]) -> dict[str, Any]:
    """Return what the lines below the table say of its rows, and of what is reached without a model."""
    return {
        "averaging": averaging(filters.benchmark, rows, offered),
        "items": compared_items(filters.benchmark),
        "has_ranks": any(row["rank"] for row in rows),
        "has_common": bool(common_metrics(rows)),
        "baselines": baselines_in_words(filters.benchmark, baselines_of(filters.benchmark, filters.part)),
    }


def compared_items(benchmark: Benchmark) -> str:
    """Return what ranks are based on: the benchmark's items, or facts, which count once in several languages."""
    return "facts" if pages_of(benchmark).of_parts else benchmark.nouns


# The columns.


def csv_columns(rows: Sequence[Row], filters: LeaderboardFilter, pair: PairInLanguage | None) -> list[str]:
    """Return the columns of the file, in order."""
    pages, sided = pages_of(filters.benchmark), pair is not None and len(pair.sides) > 1
    return [
        *MODEL,
        *(f"{metric}_common{end}" for metric in common_metrics(rows) for end in ("", "_low", "_high")),
        *([f"{filters.metric}_common_n"] if common_metrics(rows) else []),
        *(filters.metric, *ENDS),
        *(name for side in ("first", "second", "gap") if sided for name in with_ends(side)),
        *(["sem"] if any(row["spread"] is not None for row in rows) else []),
        *(["n"] if pages.count_title else []),
        *pages.metrics_beside(filters.benchmark),
        *(name for part in filters.slices for name in with_ends(labels.group_column(*part))),
        *RUN,
    ]


def with_ends(name: str) -> list[str]:
    return [name, *(f"{name}_{end}" for end in ENDS)]


def common_metrics(rows: Sequence[Row]) -> list[str]:
    """Return the metrics with figures on common items, where these are not all items of every ranked run."""
    ranks = [rank for row in rows for rank in row["ranks"].values()]
    alike = all(rank.n == rank.counted for rank in ranks)
    return [] if alike else list(dict.fromkeys(rank.metric for rank in ranks))


def score_columns(
    shown: Sequence[dict[str, Any]], filters: LeaderboardFilter, pair: PairInLanguage | None
) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of scores that the rows of a page fill, as pairs of name and title: first ones, and slices."""
    title = pages_of(filters.benchmark).metric_label(filters.metric)
    sides = list(zip(("first", "second"), pair.cultures, strict=False)) if pair else []
    common = (f"{filters.metric}_common", f"On common {compared_items(filters.benchmark)}")
    leading = [common, (filters.metric, title), *sides]
    names = [(labels.group_column(*part), labels.sentence(group_title(*part, {}))) for part in filters.slices]

    def filled(columns: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(name, title) for name, title in columns if any(row.get(name) is not None for row in shown)]

    return {"leading": filled(leading), "slices": filled(names)}


# The rows.


def table_rows(
    rows: Sequence[Row], filters: LeaderboardFilter, pair: PairInLanguage | None, common: Collection[str]
) -> list[dict[str, Any]]:
    """Return rows with their values, but for the settings, which `add_settings` reads; `common`: `common_metrics`."""
    return [_table_row(row, filters, pair, common) | {"heading": _heading(row, filters)} for row in rows]


def _table_row(
    row: Row, filters: LeaderboardFilter, pair: PairInLanguage | None, common: Collection[str]
) -> dict[str, Any]:
    run, figures, metric = row["run"], row["figures"], filters.metric
    scores = {
        metric: row["main"],
        **sides_and_gap(figures, metric, pair),
        **{labels.group_column(*part): figures.get((metric, part)) for part in filters.slices},
    }
    band = "ranked" if row["rank"] else "reported"
    beside = pages_of(filters.benchmark).metrics_beside(filters.benchmark)
    return {
        "standing": row,
        "scores": {**scores, f"{metric}_common": _common_score(row["paired"])},
        "band": band,
        "too_few": row["paired"].counted if row["paired"] and not row["rank"] else None,
        "within": (row["place"], band),
        **{name: getattr(figures.get((name, OVERALL_SLICE)), "value", None) for name in beside},
        **_common_values(row, metric, common),
        **values_of(scores),
        **{end: getattr(row["main"], end, None) for end in ENDS},
        "sem": row["spread"],
        "n": (row["main"].n or None) if row["main"] else None,
        **_run_values(row, run),
    }


def _run_values(row: Row, run: Run) -> dict[str, Any]:
    return {
        "rank": row["rank_text"] or None,
        "model": run.model.title,
        **{name: getattr(run.model, name) for name in (*ON_BENCHMARK_PAGES, "active_parameters")},
        "tie_group": row["paired"].tie_group if row["paired"] else None,
        "provenance": run.source,
        "date": timezone.localtime(run.finished).date().isoformat() if run.finished else None,
        "group": run.settings_group,
        "way": row["way"],
        "run": run.pk,
        "commit": run.model.commit,
        "version": run.benchmark.version,
    }


def _common_values(row: Row, main: str, metrics: Collection[str]) -> dict[str, Any]:
    """Return the figures on the items that count for all ranked runs, and how many these are."""
    values: dict[str, Any] = {}
    for metric in metrics:
        rank = row["ranks"].get(metric)
        has_figure = rank is not None and rank.value is not None
        values[f"{metric}_common"] = rank.value if has_figure else None
        values |= {f"{metric}_common_{end}": getattr(rank, end, None) for end in ("low", "high")}
    return values | {f"{main}_common_n": row["paired"].n if row["paired"] else None}


def _common_score(rank: RunRank | None) -> Score | None:
    """Return a figure on common items as cells show it."""
    if rank is None or rank.value is None:
        return None
    return Score(metric=rank.metric, value=rank.value, low=rank.low, high=rank.high)


def add_settings(rows: Sequence[dict[str, Any]]) -> None:
    """Give rows the words that tell runs of one model apart, for which their records are read. One query at most."""
    runs = [row["standing"]["run"] for row in rows]
    read_records(runs)
    for row, run in zip(rows, runs, strict=True):
        row["settings"] = labels.variant(run)


# Words above and below the rows.


def _heading(row: Row, filters: LeaderboardFilter) -> str:
    """Return the text above the rows of a group: other settings than the usual ones, and what counts as right."""
    if not row["settings_heading"]:
        return f"Right: {row['way']}" if row["way"] else ""
    words = settings_in_words(row["run"]) if filters.part == OVERALL_SLICE else row["group"]
    return ", ".join(filter(None, [f"{row['settings_heading'].partition(':')[0]}: {words}", row["way"]]))


def averaging(benchmark: Benchmark, rows: Sequence[Row], offered: Sequence[Slice]) -> str:
    """Return what the figures are: "the mean of up to 23 fact types, 1,381 to 2,362 sentences"."""
    numbers = [row["main"].n for row in rows if row["main"] and row["main"].n]
    if not numbers:
        return ""
    nouns = pages_of(benchmark).count_title.lower() or benchmark.nouns
    least, most = (spelled.items(end(numbers)) for end in (min, max))
    counted = f"{least if least == most else f'{least} to {most}'} {nouns}"
    if not benchmark.correctness.macro:
        return f"{'the share of' if benchmark.correctness.column else 'computed from'} {counted}"
    for dimension in ("fact_type", "relation"):
        if groups := sum(part.dimension == dimension for part in offered):
            of_all = labels.number_of(groups, labels.dimension(dimension).lower())
            return f"the mean of {'' if least == most else 'up to '}{of_all}, {counted}"
    return f"a mean over relations, {counted}"


def nothing_passes(filters: LeaderboardFilter) -> str:
    """Say why there are no rows: name the filters that a reader can drop, and models whose names are near."""
    names = [f"{FACETS[name][0].lower()} “{FACETS[name][1][choice]}”" for name, choice in filters.chosen.items()]
    if filters.search:
        names.insert(0, f"the search for “{filters.search}”")
    if not names:
        return "No model has been measured here yet."
    drop = f"No model passes {' and '.join(names)}. Drop {'it' if len(names) == 1 else 'one of them'} to see more."
    near = near_models(filters.search, models_of(filters.benchmark)) if filters.search else []
    return f"{drop} Did you mean {get_text_list(near, 'or')}?" if near else drop


def column_choices(
    offered: Sequence[Slice], chosen: Collection[Slice], relations: Sequence[Relation]
) -> dict[str, list[tuple[Slice, str, bool]]]:
    """Return the column chooser: by dimension, each group with its name and with whether it is a column."""
    names = {relation.label: relation_name(relation) for relation in relations}
    groups: dict[str, list[tuple[Slice, str, bool]]] = {}
    for part in offered:
        title = group_title(*part, names)
        groups.setdefault(labels.dimension(part.dimension), []).append((part, title, part in chosen))
    return groups
