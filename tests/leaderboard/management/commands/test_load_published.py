"""manage.py load_published: the figures that ship with the project."""

import re

import pytest

from leaderboard.models import Run
from tests.leaderboard.management.commands.output import output_of


@pytest.mark.django_db
def test_it_counts_what_it_loads_and_loads_nothing_twice() -> None:
    printed = output_of("load_published")
    count = Run.objects.filter(provenance=Run.Provenance.PUBLISHED).count()
    assert int(re.match(r"(\d+) published results\.", printed)[1]) >= count > 100
    assert output_of("load_published") == printed
    assert Run.objects.filter(provenance=Run.Provenance.PUBLISHED).count() == count
