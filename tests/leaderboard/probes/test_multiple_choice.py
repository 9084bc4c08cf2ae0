"""Pages of multiple choice, which are the default ones."""

import pytest
from django.test import Client

from leaderboard.figures import scores
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make
from tests.leaderboard.probes.default_pages import assert_every_page_opens


def test_a_run_opens_on_every_page_with_the_same_main_score(client: Client, small: Benchmark) -> None:
    assert_every_page_opens(client, small, "multiple_choice")


@pytest.mark.parametrize(("most", "are_some"), [(scores.MOST_DOTS, False), (1, True)])
def test_that_some_models_are_drawn_is_said_only_where_it_is_so(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch, most: int, are_some: bool
) -> None:
    monkeypatch.setattr(scores, "MOST_DOTS", most)
    for number in range(2):
        make.measured(small, make.model(f"org/{number}"), skill=number + 1, seed=number)
    small.settings = {"templates": [0, 1]}
    small.save()
    make.restore_figures(small)
    page = client.get(small.get_absolute_url()).content.decode()
    assert ("Some of the models are drawn" in page) == are_some
