"""Which pages the pictures show, and the site that they are taken of."""

import urllib.request

import pytest
from django.core.management import CommandError

from leaderboard.management.commands import screenshots
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_without_two_finished_runs_there_is_nothing_to_show() -> None:
    make.finished(make.benchmark(), 0.4)
    with screenshots.served() as url, pytest.raises(CommandError, match="make screenshots"):
        screenshots.pages(url)


def test_the_site_is_served_during_the_block() -> None:
    with screenshots.served() as address, urllib.request.urlopen(f"{address}/static/style.css") as response:
        assert response.status == 200
