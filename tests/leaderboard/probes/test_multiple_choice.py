"""Pages of multiple choice, which are the default ones."""

from django.test import Client

from leaderboard.models import Benchmark
from tests.leaderboard.probes.default_pages import assert_every_page_opens


def test_a_run_opens_on_every_page_with_the_same_main_score(client: Client, small: Benchmark) -> None:
    assert_every_page_opens(client, small, "multiple_choice")
