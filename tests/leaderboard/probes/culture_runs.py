"""Runs of ranking on culture pairs."""

from leaderboard.models import Benchmark, Run
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make


def culture_run_of(on: Benchmark, hub_id: str) -> Run:
    """A run of a model that knows some of it, with its items and scores stored."""
    model = FakeModel(knows=["People of Egypt speak Arabic", "People of France speak Dutch"])
    return make.probed(on, make.model(hub_id), model, Settings(probe="ranking"))
