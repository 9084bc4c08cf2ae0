"""Freezing: tables of pages, read through their CSV, become a snapshot."""

import csv
from collections.abc import Iterator, Sequence
from inspect import unwrap
from io import StringIO
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from leaderboard.figures.history import FrozenTable, store
from leaderboard.models import Benchmark, Run, Snapshot
from leaderboard.models.benchmark import named
from leaderboard.probes import pages_of
from leaderboard.ui import labels
from probing.errors import BadInput

# The pages whose tables can be frozen. Items of a run have a file with a digest of its own.
PAGES = frozenset({"overview", "benchmark", "relation", "model", "training", "run", "compare"})
NEXT_STEP = "Follow “Freeze” in the menu “Use this” at the end of a page."
BYTE_ORDER_MARK = "\ufeff"


class OwnRequest(HttpRequest):
    """A request of the site to itself, which no network has seen and whose host is therefore not checked."""

    def get_host(self) -> str:
        return "localhost"


def can_be_frozen(request: HttpRequest) -> bool:
    """Tell whether the tables of a page can be frozen."""
    return request.resolver_match is not None and request.resolver_match.url_name in PAGES


def freeze_site(name: str = "") -> Snapshot:
    """Freeze the overview and the leaderboards of all benchmarks, under a name such as “November 2026”."""
    return freeze([f"{reverse('overview')}?topic=all", *_leaderboards()], ": ".join(filter(None, ["Whole site", name])))


def freeze(addresses: Sequence[str], title: str = "") -> Snapshot:
    """Freeze the tables at some addresses of the site, each a path with its query string.

    Raises `BadInput` if a page is none of those that can be frozen, or has no such table.
    """
    tables = [_frozen(address) for address in addresses]
    return store(title or tables[0].title, tables)


def _leaderboards() -> Iterator[str]:
    """Yield the address of the leaderboard of every benchmark that has finished runs, in alphabetical order."""
    benchmarks = Benchmark.objects.filter(current=True, runs__state="finished").distinct()
    for benchmark in benchmarks.order_by("slug", "-main", "probe"):
        yield benchmark.get_absolute_url()


def _frozen(address: str) -> FrozenTable:
    path, _, query = address.partition("?")
    parameters = QueryDict(query, mutable=True)
    parameters["format"] = "csv"
    match = _page(path)
    header, *rows = csv.reader(StringIO(_csv(match, path, parameters)))
    del parameters["format"]
    canonical = f"{path}?{parameters.urlencode()}" if parameters else path
    return FrozenTable(_title(match, parameters), canonical, header, rows)


def _page(path: str) -> ResolverMatch:
    try:
        match = resolve(path)
    except Resolver404 as error:
        raise BadInput(f"There is no page {path!r}.", NEXT_STEP) from error
    if match.url_name not in PAGES:
        raise BadInput(f"Tables of the page {path!r} cannot be frozen.", NEXT_STEP)
    return match


def _csv(match: ResolverMatch, path: str, query: QueryDict) -> str:
    """Return the CSV of a page, computed now and without the network."""
    request = OwnRequest()
    request.method, request.path, request.path_info = "GET", path, path
    request.GET = QueryDict(query.urlencode())
    response = unwrap(match.func)(request, *match.args, **match.kwargs)
    if not isinstance(response, HttpResponse) or not response["Content-Type"].startswith("text/csv"):
        raise BadInput(f"The page {path!r} has no table of that name.", NEXT_STEP)
    return str(response.content.decode()).removeprefix(BYTE_ORDER_MARK)


def _title(match: ResolverMatch, query: QueryDict) -> str:
    """Return what a table is about, in words."""
    table = f", table “{query['table']}”" if "table" in query else ""
    return f"{_page_title(match, query)}{table}"


def _page_title(match: ResolverMatch, query: QueryDict) -> str:
    values: dict[str, Any] = match.kwargs
    match match.url_name:
        case "benchmark":
            return f"Leaderboard of {_benchmark(values['name'])}"
        case "relation":
            return f"Relation {values['relation']} of {_benchmark(values['name'])}"
        case "model":
            return f"{values['org']}/{values['name']}"
        case "training":
            return f"Training of {values['org']}/{values['name']}"
        case "run":
            return f"Run {values['pk']}{_about(Run.objects.filter(pk=values['pk']))}"
        case "compare":
            return f"Comparison of {_compared(query)}"
        case _:
            topic = query.get("topic", "")
            return "Models and benchmarks" if topic in ("", "all") else f"Models on {topic}"


def _about(runs: QuerySet[Run]) -> str:
    """Return the model, the benchmark and the metric of a run, behind a colon."""
    run = runs.select_related("model", "benchmark").first()
    return f": {run.name} on {_with_metric(run.benchmark)}" if run else ""


def _with_metric(benchmark: Benchmark) -> str:
    """Return the title of a benchmark with the metric by which its models are ranked."""
    pages = pages_of(benchmark)
    return f"{benchmark.title} by {labels.within(pages.metric_label(pages.main_metric(benchmark)))}"


def _compared(query: QueryDict) -> str:
    """Return what a comparison is of: the models of runs, and on which benchmark."""
    names = [*query.getlist("m"), *query.getlist("model")]
    runs = Run.objects.select_related("model", "benchmark").in_bulk([int(name) for name in names if name.isdecimal()])
    models = [runs[int(name)].name if name.isdecimal() and int(name) in runs else name for name in names]
    benchmarks = {_with_metric(run.benchmark) for run in runs.values()}
    return " and ".join(models) + (f" on {benchmarks.pop()}" if len(benchmarks) == 1 else "")


def _benchmark(name: str) -> str:
    benchmark = Benchmark.objects.filter(named(name), current=True).first()
    return _with_metric(benchmark) if benchmark else ""
