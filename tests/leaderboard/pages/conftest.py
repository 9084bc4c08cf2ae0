"""A site with something on every page."""

from dataclasses import dataclass

import pytest

from leaderboard.comparison import compared
from leaderboard.models import Benchmark, Run
from leaderboard.sections.ranking import predicted, varied
from tests.leaderboard import factories as make


@dataclass
class Site:
    benchmark: Benchmark
    first: Run
    second: Run
    published: Run
    running: Run
    failed: Run

    @property
    def addresses(self) -> list[str]:
        """Every kind of page."""
        first = f"/runs/{self.first.pk}/"
        return [
            "/",
            "/?columns=domain:Geographic&published=ranked",
            f"/models/{self.first.model.hub_id}/",
            first,
            f"/runs/{self.running.pk}/",
            f"/runs/{self.failed.pk}/",
            f"{first}items/",
            f"{first}items/?correct=no&template=1",
            f"{first}items/P30/0/1/",
            f"/compare/?m={self.first.pk}&m={self.second.pk}",
            "/compare/",
            "/benchmarks/",
            "/benchmarks/small/",
            "/benchmarks/small/relations/P30/",
            "/submit/",
            "/queue/",
            "/methods/",
            "/api/",
        ]


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Each test has a database of its own, in which the numbers of runs and benchmarks come again."""
    for remembered in (compared, predicted, varied):
        remembered.cache_clear()


@pytest.fixture
def site(small: Benchmark) -> Site:
    return Site(
        benchmark=small,
        first=make.measured(small, make.model("org/first"), skill=1, seed=1),
        second=make.measured(small, make.model("org/second", kind="masked"), skill=3, seed=2),
        published=make.published(small),
        running=make.running(make.model("org/running"), small),
        failed=make.run(
            make.model("org/failed"), small, Run.State.FAILED, code="no-space", message="The disk is full."
        ),
    )
