"""/runs/<id>/map/ : the share of right answers by country on a map of the world."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from leaderboard.figures.comparisons import short_names
from leaderboard.figures.country_shares import (
    LEAST_COUNTRIES,
    CountryShare,
    countries_of,
    country_shares,
    tagged_relations,
)
from leaderboard.figures.runs import runs_with_items
from leaderboard.models import Run
from leaderboard.pages.rendering import page_reference, show
from leaderboard.probes.culture.pairs import PARAMETER, chosen_pair, pairs_of, switches
from leaderboard.ui import cells
from leaderboard.ui.cells import Cell
from leaderboard.ui.labels import number_of
from leaderboard.ui.links import link
from leaderboard.ui.tables import Column, Table
from leaderboard.ui.world_map import WorldMap, world, world_map
from probing.errors import BadInput, ProbingError

NUMBER = re.compile(r"[0-9]{1,18}")
SUMMARY_NAMES = 3  # countries that the summary names at each end
LEAST_QUESTIONS = 10  # about each country that the summary names
COUNTRY_HELP = "Select a country to see the questions that name it."


def map_view(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = get_object_or_404(Run.objects.select_related("model", "benchmark"), pk=pk)
    try:
        other = other_run(run, request.GET.get("other", ""))
        offered = pairs_of([run])
        pair = chosen_pair(request.GET, offered) if PARAMETER in request.GET else None
        tags = pair.tags if pair else {}
        countries = countries_of(run.benchmark, tags)
        rows = country_shares(run, other, countries)
        _refuse_empty(run, rows, 1 if pair else LEAST_COUNTRIES)
    except ProbingError as error:
        return _no_map(request, run, error)
    names = short_names([run, other] if other else [run])
    context = {
        "run": run,
        "other": other,
        "names": names,
        "map": run_map(names, rows),
        "counted": sum(row.items for row in rows),
        "with_country": len(countries),
        "all_items": sum(len(relation.items) for relation in tagged_relations(run.benchmark, tags)),
        "pair": pair,
        "switches": switches(request.GET, offered, pair, everything="All pairs and languages"),
        "alone": link(request.GET, other=None),
    }
    named = "; ".join(f"{each.model.title} (run {each.pk})" for each in (run, other) if each)
    details = f"{named}; benchmark version {run.benchmark.version[:12]}"
    reference = page_reference(request, f"map-{run.pk}", f"Answers by country on {run.benchmark.title}", details)
    return show(request, "world_map.html", context, [countries_table(run, names, rows, tags)], reference=reference)


def other_run(run: Run, number: str) -> Run | None:
    """Return the run to compare with, None if no number is given; raise `BadInput` if it cannot be compared."""
    if not number:
        return None
    runs = runs_with_items().filter(benchmark=run.benchmark).exclude(pk=run.pk)
    other = runs.filter(pk=number).first() if NUMBER.fullmatch(number) else None
    if other is None:
        raise BadInput(
            f"Run {number[:20]!r} cannot be compared with run {run.pk}.",
            f"Choose another finished run on {run.benchmark.title}.",
        )
    return other


def _refuse_empty(run: Run, rows: Sequence[CountryShare], least: int) -> None:
    if not run.benchmark.correctness.column:
        raise BadInput(
            f"Answers on {run.benchmark.title} are not right or wrong, so there is no share to map.",
            "Choose a benchmark with right answers.",
        )
    if len(rows) < least:
        raise BadInput(
            f"Run {run.pk} has answers about {len(rows)} countries, too few for a map.",
            "Choose a finished run of a benchmark about countries.",
        )


def _no_map(request: HttpRequest, run: Run, error: ProbingError) -> HttpResponse:
    return render(request, "problem.html", {"error": error, "title": "No map", "run": run}, status=404)


def run_map(names: Sequence[str], rows: Sequence[CountryShare]) -> WorldMap:
    """Return the map of the shares of a run, or of the differences of two; `names`: those of their models."""
    values = {row.code: row.share if row.difference is None else row.difference for row in rows}
    texts = {row.code: _text(row) for row in rows}
    return world_map(values, texts, _summary(names, rows), differences=len(names) > 1)


def _text(row: CountryShare) -> str:
    items = number_of(row.items, "question")
    if row.difference is None:
        return f"{_name(row)}: {row.share:.2f} right of {items}"
    return (
        f"{_name(row)}: {row.share:.2f} against {row.other:.2f} right of {items}, {cells.signed(row.difference).text}"
    )


def _name(row: CountryShare) -> str:
    return world().countries[row.code].name


def _summary(names: Sequence[str], rows: Sequence[CountryShare]) -> str:
    """Say in words what the map shows: the best and the worst countries, among those with enough questions."""
    many = [row for row in rows if row.items >= LEAST_QUESTIONS]
    if len(many) < 2:
        return f"Too few countries have {LEAST_QUESTIONS} questions or more to say about which of them most is known."
    ordered = sorted(many, key=lambda row: row.share if row.difference is None else row.difference)
    named = min(SUMMARY_NAMES, len(many) // 2)
    low, high = (", ".join(map(_named, part)) for part in (ordered[:named], ordered[-named:][::-1]))
    among = f"Among the {len(many)} countries with {LEAST_QUESTIONS} questions or more"
    if len(names) == 1:
        return f"{among}, {names[0]} is right most often about {high}, and least often about {low}."
    return f"{among}, {names[0]} is furthest ahead of {names[1]} about {high}, and least about {low}."


def _named(row: CountryShare) -> str:
    """Return the name of a country with the 95 % interval of its share, or with the difference of two shares."""
    if row.difference is not None:
        return f"{_name(row)} ({cells.signed(row.difference).text})"
    low, high = row.interval
    return f"{_name(row)} ({low:.2f} to {high:.2f})"


def countries_table(
    run: Run, names: Sequence[str], rows: Sequence[CountryShare], tags: Mapping[str, str]
) -> Table[CountryShare]:
    def country(row: CountryShare) -> Cell:
        query = urlencode({"search": _name(row), **tags})
        return cells.text(_name(row), f"{reverse('items', args=[run.pk])}?{query}")

    def share(row: CountryShare) -> Cell:
        return cells.score(row.share, *row.interval)

    columns: list[Column[CountryShare]] = [
        Column("country", "Country", country, COUNTRY_HELP, align="head"),
        Column("code", "Code", lambda row: cells.text(row.code), shown=False),
        Column("items", "Questions", lambda row: cells.number(row.items), align="number"),
        Column("share", "Share right" if len(names) == 1 else names[0], share, align="score"),
        Column("low", "", lambda row: cells.bound(row.interval[0]), shown=False),
        Column("high", "", lambda row: cells.bound(row.interval[1]), shown=False),
    ]
    if len(names) > 1:
        columns += [
            Column("other", names[1], lambda row: cells.score(row.other), align="score"),
            Column("difference", "Difference", lambda row: cells.signed(row.difference), align="number"),
        ]
    return Table("countries", "Countries", columns, rows, main=True, page_size=25)
