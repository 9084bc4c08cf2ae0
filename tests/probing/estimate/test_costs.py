"""Costs of statements, positions and passes: a guess at first, and soon those of the network at hand."""

from collections.abc import Iterator
from random import Random

import pytest

from probing.estimate.costs import FIRST_GUESS, Measured, fitted_costs
from probing.estimate.load import Load

NETWORKS = {
    "large, on a CPU": Load(0.1, 1, 20),
    "small, on a CPU": Load(2, 1, 100),
    "tiny, on a CPU": Load(50, 1, 300),
    "small, on a GPU": Load(5, 1, 2000),
    "whose passes cost nothing": Load(0.1, 1, 0),
}


def batches(costs: Load, count: int, noise: float, seed: int = 0) -> Iterator[Measured]:
    """Passes of various sizes; the time of each is off by a random factor."""
    draw = Random(seed)
    for _ in range(count):
        load = Load(draw.uniform(1, 50), draw.uniform(20, 1000), 1)
        yield Measured(load, load, load.cost(costs) / 1000 * draw.lognormvariate(0, noise))


def share_of_passes(costs: Load) -> float:
    """Return what share of the cost of a small batch its pass has."""
    return costs.passes / Load(10, 100, 1).cost(costs)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_costs_of_each_network_are_found(network: str) -> None:
    costs = fitted_costs(list(batches(NETWORKS[network], 300, noise=0.0)))
    for load in (Load(10, 100, 1), Load(0, 1000, 1), Load(50, 50, 1)):
        assert load.cost(costs) == pytest.approx(load.cost(NETWORKS[network]) / 1000, rel=0.15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("network", NETWORKS)
def test_noise_changes_them_little(network: str, seed: int) -> None:
    costs = fitted_costs(list(batches(NETWORKS[network], 200, noise=0.3, seed=seed)))
    assert share_of_passes(costs) == pytest.approx(share_of_passes(NETWORKS[network]), abs=0.25)


def test_with_guessed_costs_the_tests_above_would_fail() -> None:
    """Guards them: the networks differ enough."""
    shares = [share_of_passes(costs) for costs in NETWORKS.values()]
    assert max(shares) - share_of_passes(FIRST_GUESS) > 0.5


def test_one_batch_tells_the_speed_only() -> None:
    (batch,) = batches(FIRST_GUESS, 1, noise=0.0)
    costs = fitted_costs([batch])
    assert costs.passes / costs.positions == pytest.approx(FIRST_GUESS.passes, rel=0.5)
    assert batch.actual.cost(costs) == pytest.approx(batch.seconds, rel=0.1)


@pytest.mark.parametrize("network", ["large, on a CPU", "small, on a CPU"])
@pytest.mark.parametrize("place", [0, 30, 59])
def test_a_single_hitch_changes_them_little(place: int, network: str) -> None:
    stretches = list(batches(NETWORKS[network], 60, noise=0.1))
    without = share_of_passes(fitted_costs(stretches))
    stretches[place] = stretches[place]._replace(seconds=20 * stretches[place].seconds)
    assert share_of_passes(fitted_costs(stretches)) == pytest.approx(without, abs=0.1)


def test_no_cost_is_negative() -> None:
    """Larger batches took less time than smaller ones."""
    odd = [Measured(Load(1, size, 1), Load(1, size, 1), 1000 / size) for size in (100, 200, 400, 800)] * 20
    assert min(fitted_costs(odd)) >= 0


def test_without_time_or_work_costs_are_guessed() -> None:
    assert fitted_costs([Measured(Load(1, 10, 1), Load(1, 10, 1), 0.0)]) == FIRST_GUESS
    assert fitted_costs([Measured(Load(1, 10, 1), Load(), 1.0)]) == FIRST_GUESS
