"""Serve the site as `manage.py serve` does, with a header that says how many queries a page has made.

`python -m speed.page_server ADDRESS:PORT` is started by `speed.pages`.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from leaderboard.serving import web_server

QUERIES = "X-Database-Queries"


def counted_queries(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """State in a header of every response how many queries it took (middleware)."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        queries = 0

        def count(execute: Callable[..., Any], *arguments: Any) -> Any:
            nonlocal queries
            queries += 1
            return execute(*arguments)

        with connection.execute_wrapper(count):
            response = get_response(request)
        response.headers[QUERIES] = str(queries)
        return response

    return middleware


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    settings.ROOT_URLCONF = "speed.page_urls"
    settings.MIDDLEWARE = ["speed.page_server.counted_queries", *settings.MIDDLEWARE]
    django.setup()
    web_server.serve(sys.argv[1])


if __name__ == "__main__":
    main()
