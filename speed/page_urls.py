"""The addresses of the site, and two more to measure its pages: a bare view and changes."""

import random
from functools import lru_cache

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from leaderboard.data_version import TABLE
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
    """Change the version of the data, as when a run finishes; the next page is computed anew."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {TABLE} SET value = %s", [str(random.random())])
    return HttpResponse()


urlpatterns = [
    *pages,
    path("speed/bare", bare_view),
    path("speed/changed", changed_view),
]
