"""The site that browser tests and pictures show."""

import pytest
from django.test import Client

from tests import filled_site
from tests.leaderboard import factories as make
from tests.tools.page_kinds import SUBMISSIONS


@pytest.mark.django_db
def test_a_submission_in_each_lasting_state_and_one_of_several_revisions_is_shown(client: Client) -> None:
    on = make.benchmark()
    make.finished(on, 0.4)
    filled_site.add_submissions(on)
    for address in SUBMISSIONS.values():
        assert client.get(address).status_code == 200
