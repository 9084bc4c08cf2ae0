"""The filters of the templates."""

import pytest

from leaderboard.models import Model, Run
from leaderboard.templatetags.clozeboard import submit_url
from tests.leaderboard import factories as make


@pytest.mark.django_db
def test_the_submit_form_is_filled_in_with_what_was_run() -> None:
    run = Run(model=Model(hub_id="org/name"), benchmark=make.benchmark("pairs"))
    run.settings = {"options": {"prompting": "few-shot", "note": "a b"}}
    assert submit_url(run) == "/submit/?model=org/name&benchmark=pairs&set-prompting=few-shot&set-note=a%20b"
