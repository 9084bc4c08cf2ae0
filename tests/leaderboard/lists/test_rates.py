"""How fast the runs were that finished last."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.lists.rates import DoneRun, RecentRates, recent_rates
from leaderboard.models import Benchmark, RunPart
from tests.leaderboard import factories as make


def test_rates_are_those_of_the_probe_from_slow_to_quick() -> None:
    rates = RecentRates({"cloze": [DoneRun(rate, 100) for rate in range(11)]})
    assert rates.of("cloze", 100) == rates.of("cloze") == pytest.approx((9, 1))
    assert rates.of("ranking") is None


def test_the_rate_falls_with_the_size_of_the_model() -> None:
    rates = RecentRates({"cloze": [DoneRun(8, 100)]})
    assert rates.of("cloze", 400) == pytest.approx((2, 2))
    assert RecentRates({"cloze": [DoneRun(8, None)]}).of("cloze", 400) == pytest.approx((8, 8))


def test_only_runs_of_the_lane_with_known_work_count(small: Benchmark) -> None:
    for lane, work in (("default", 600), ("large", 60)):
        run = make.finished(small, lane=lane)  # in ten minutes
        RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=work, done=True)
    make.finished(small)
    assert recent_rates("default").runs == {small.probe: [DoneRun(1.0, 135_000_000)]}


def test_rates_are_read_again_only_after_a_result(transactional_db: None) -> None:
    def number_of_queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            recent_rates("default")
        return len(captured)

    tiny = make.benchmark()
    assert recent_rates("default").runs == {}
    make.run(make.model(), tiny)
    assert number_of_queries() == 1
    run = make.finished(tiny)
    RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=600, done=True)
    assert number_of_queries() == 2
    assert recent_rates("default").of(tiny.probe) == pytest.approx((1, 1))
