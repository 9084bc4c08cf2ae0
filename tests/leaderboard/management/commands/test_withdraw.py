"""`manage.py withdraw`: finished runs are deleted, and only these."""

import pytest
from django.core.management import CommandError
from django.test import Client

from leaderboard.models import Run
from tests.leaderboard.conftest import Site
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db


def test_a_withdrawn_run_is_on_no_page(client: Client, site: Site) -> None:
    number = site.first.pk
    assert output_of("withdraw", str(number)) == "1 runs withdrawn.\n"
    assert not Run.objects.filter(pk=number).exists()
    assert client.get(f"/runs/{number}/").status_code == 410
    assert f'href="/runs/{number}/"' not in client.get(site.benchmark.get_absolute_url()).content.decode()


def test_only_finished_runs_are_withdrawn(site: Site) -> None:
    for number in ("999", str(site.running.pk)):
        with pytest.raises(CommandError, match="no finished runs"):
            output_of("withdraw", number)
    assert Run.objects.filter(pk=site.running.pk).exists()
