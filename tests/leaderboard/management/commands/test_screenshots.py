"""Which pages the pictures show, and the site that they are taken of."""

import shutil
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.management import page_kinds
from leaderboard.management.commands import screenshots
from tests import filled_site
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_without_a_finished_run_there_is_nothing_to_show() -> None:
    with screenshots.served() as url, pytest.raises(CommandError, match="make screenshots"):
        screenshots.pages(url)


def test_the_site_is_served_during_the_block() -> None:
    with screenshots.served() as address, urllib.request.urlopen(f"{address}/static/style.css") as response:
        assert response.status == 200


def test_without_chromium_nothing_is_photographed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(CommandError, match="apt-get install chromium"):
        call_command("screenshots", out=tmp_path / "images")
    assert not (tmp_path / "images").exists()


def test_a_submission_in_each_lasting_state_and_one_of_several_revisions_is_shown(client: Client) -> None:
    on = make.benchmark()
    make.finished(on, 0.4)
    filled_site.add_submissions(on)
    addresses = dict(page_kinds.of_submissions())
    assert addresses == filled_site.SUBMISSIONS
    for address in addresses.values():
        assert client.get(address).status_code == 200
