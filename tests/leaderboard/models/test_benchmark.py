"""What a version of a benchmark says of itself."""

import pytest

from leaderboard.models import Benchmark


@pytest.mark.parametrize(("probe", "metric"), [("multiple_choice", "accuracy"), ("ranking", "p_at_1")])
def test_the_main_metric_of_a_benchmark_is_that_of_its_probe(probe: str, metric: str) -> None:
    assert Benchmark(probe=probe).main_metric == metric
