"""The addresses of the site, and three more to measure its pages: a bare view, changes, renewed lists."""

import random
from functools import lru_cache

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from leaderboard.data_version import ALL_BENCHMARKS, FIGURES_TABLE, QUEUE, TABLE
from leaderboard.figures.kept_lists import renew_lists
from leaderboard.models import Benchmark
from leaderboard.urls import (
    handler400,  # noqa: F401  # Django looks for them here
    handler500,  # noqa: F401  # Django looks for them here
)
from leaderboard.urls import urlpatterns as pages

ROW = '<tr><td><a href="/models/org/model-{0}/">org/model-{0}</a></td><td>{1:.3f}</td><td>± {2:.3f}</td></tr>\n'


def bare_view(request: HttpRequest) -> HttpResponse:
    """Return a table as long as asked, which no database was asked for."""
    return HttpResponse(_table(int(request.GET["bytes"])))


@lru_cache(maxsize=1)  # more would count as memory of the site
def _table(length: int) -> str:
    chance = random.Random(0)
    rows = (
        ROW.format(chance.randrange(10**6), chance.random(), chance.random()) for _ in range(length // len(ROW) + 1)
    )
    return "".join(rows)[:length]


def changed_view(request: HttpRequest) -> HttpResponse:
    """Change the version of the data, as when a model is described anew; the next page is computed anew.

    With `figures`, the versions of the queue and of the figures of all benchmarks change as well, as when a run of each
    of them finishes. The rows of benchmarks stay as they are.
    """
    value = str(random.random())
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {TABLE} SET value = %s", [value])
        if "figures" in request.GET:
            numbers = [QUEUE, *Benchmark.objects.values_list("pk", flat=True)]
            cursor.execute(f"DELETE FROM {FIGURES_TABLE} WHERE benchmark <> %s", [ALL_BENCHMARKS])
            rows = ", ".join(f"({number}, '{value}')" for number in numbers)
            cursor.execute(f"INSERT INTO {FIGURES_TABLE} (benchmark, value) VALUES {rows}")
    return HttpResponse()


def renewed_view(request: HttpRequest) -> HttpResponse:
    """Renew the lists whose figures have changed, as the thread of the web server does, and return their number."""
    return HttpResponse(str(renew_lists()))


urlpatterns = [
    *pages,
    path("speed/bare", bare_view),
    path("speed/changed", changed_view),
    path("speed/renewed", renewed_view),
]
