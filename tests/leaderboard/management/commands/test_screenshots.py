"""Which pages the pictures show, and the site that they are taken of."""

import urllib.request

import pytest
from django.core.management import CommandError

from leaderboard.management.commands import screenshots
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_without_a_finished_run_there_is_nothing_to_show() -> None:
    make.benchmark()
    with pytest.raises(CommandError, match="make demo ONCE=1"):
        screenshots.pages()


def test_the_pages_include_the_best_run() -> None:
    on = make.benchmark()
    make.finished(on, 0.4)
    best = make.finished(on, 0.8)
    assert screenshots.pages() == {
        "leaderboard": "/",
        "run": f"/runs/{best.pk}/",
        "items": f"/runs/{best.pk}/items/",
        "submit": "/submit/",
        "queue": "/queue/",
    }


def test_the_site_is_served_during_the_block() -> None:
    with screenshots.served() as address, urllib.request.urlopen(f"{address}/static/style.css") as response:
        assert response.status == 200
