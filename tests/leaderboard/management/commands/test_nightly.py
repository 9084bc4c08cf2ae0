"""manage.py nightly: what it does, and what it leaves out."""

from datetime import date

import pytest
from django.core.management import CommandError
from pytest_django.fixtures import Settings

from leaderboard.models import Run, Snapshot
from leaderboard.operations.freezing import freeze_when_due
from tests.leaderboard.conftest import Site
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db
MONDAY = date(2026, 11, 23)


def test_no_snapshot_is_made_unless_the_operator_asks_for_it(site: Site) -> None:
    assert freeze_when_due(MONDAY) is None
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize(
    ("every", "title", "same", "next_period"),
    [
        ("day", "Whole site: 23 November 2026", date(2026, 11, 23), date(2026, 11, 24)),
        ("week", "Whole site: week 48 of 2026", date(2026, 11, 29), date(2026, 11, 30)),
        ("month", "Whole site: November 2026", date(2026, 11, 30), date(2026, 12, 1)),
    ],
)
def test_the_site_is_frozen_once_in_each_period(
    site: Site, settings: Settings, every: str, title: str, same: date, next_period: date
) -> None:
    settings.SNAPSHOT_EVERY = every
    first = freeze_when_due(MONDAY)
    assert first is not None and first.title == title
    assert freeze_when_due(same) is None
    Run.objects.filter(pk=site.second.pk).delete()
    later = freeze_when_due(next_period)
    assert later is not None and later.digest != first.digest


def test_the_command_says_where_the_snapshot_is_and_makes_no_second_one(site: Site, settings: Settings) -> None:
    settings.SNAPSHOT_EVERY, settings.REMEASURE_ITEMS = "month", 0
    printed = output_of("nightly")
    assert f"/snapshots/{Snapshot.objects.get().digest}/" in printed
    assert output_of("nightly") == ""


def test_a_site_without_runs_of_its_own_says_that_nothing_can_be_measured_again(site: Site) -> None:
    with pytest.raises(CommandError, match="no such finished run"):
        output_of("nightly")
