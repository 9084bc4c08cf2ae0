"""How often 95 % intervals contain the true value: on the same relations, and on other relations like these.

A relation's true share of right answers is drawn from a beta distribution, and its number of items from the sizes that
benchmarks have; its items are right at random. The figures that docs/methods/statistics.md states of the chosen rules
are repeated here with the same seeds.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from probing.analysis.intervals import cluster_interval, mean_of_shares, percentile_interval, wilson
from probing.arrays import Floats

BOOTSTRAP_DRAWS = 999


class Population(NamedTuple):
    """Relations from which those of a benchmark are drawn: the two parameters of the beta distribution."""

    name: str
    right: float
    wrong: float

    @property
    def mean(self) -> float:
        return self.right / (self.right + self.wrong)


POPULATIONS = (
    Population("mean 5 %, SD 7", 0.5, 9.5),
    Population("mean 15 %, SD 13", 0.9, 5.2),
    Population("mean 30 %, SD 5", 25, 58),
    Population("mean 35 %, SD 19", 1.64, 3.05),
    Population("mean 50 %, SD 37", 0.4, 0.4),
    Population("mean 60 %, SD 25", 1.7, 1.14),
    Population("mean 90 %, SD 12", 4.5, 0.5),
)


class Sample(NamedTuple):
    """One benchmark as a model answered it: the share of right items and the number of items of each relation.

    `weights`: those of the relations in the mean.
    """

    shares: Floats
    items: Floats
    weights: Floats


Bounds = tuple[float, float]
Method = Callable[[Sample, np.random.Generator], Bounds]
Sizes = Callable[[int, np.random.Generator], Floats]


def even_sizes(relations: int, generator: np.random.Generator) -> Floats:
    """Return sizes like those of BEAR, whose relations have 60 or 150 items."""
    sizes: Floats = generator.choice([60.0, 150.0], p=[0.25, 0.75], size=relations)
    return sizes


def wide_sizes(relations: int, generator: np.random.Generator) -> Floats:
    """Return sizes of which some are many times as large as others: log-normal around 80 items."""
    sizes: Floats = np.maximum(5, np.round(80 * np.exp(generator.normal(0, 0.9, relations))))
    return sizes


SIZES: Mapping[str, Sizes] = {"60 or 150 items": even_sizes, "unequal sizes": wide_sizes}


def samples(
    population: Population, relations: int, sizes: Sizes, macro: bool, count: int, seed: int = 0
) -> Iterator[Sample]:
    """Simulate benchmarks. `macro`: whether their relations have the same weight, or that of their items."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        items = sizes(relations, generator)
        truth = generator.beta(population.right, population.wrong, relations)
        shares = generator.binomial(items.astype(int), truth) / items
        yield Sample(shares, items, np.ones(relations) if macro else items)


def coverage(method: Method, truth: float, simulated: Iterator[Sample]) -> float:
    """Return the share of simulated benchmarks whose interval contains the true mean."""
    generator = np.random.default_rng(0)
    contained = [low <= truth <= high for low, high in (method(sample, generator) for sample in simulated)]
    return float(np.mean(contained))


def clustered(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute the interval that every result has."""
    return cluster_interval(sample.shares, sample.weights, float(sample.items.sum()))


def bootstrap(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute the percentile interval of a bootstrap that resamples relations."""
    relations = len(sample.shares)
    counts = generator.multinomial(relations, np.full(relations, 1 / relations), size=BOOTSTRAP_DRAWS)
    weights = counts * sample.weights
    return percentile_interval(weights @ sample.shares / weights.sum(axis=1))


def item_coverage(population: Population, relations: int, templates: int, count: int) -> float:
    """Return how often the interval over items (Wilson's) contains the true accuracy on the same relations.

    The wordings of a relation share half of the variance of its items, so that with several templates an item is right
    in some and wrong in others.
    """
    generator = np.random.default_rng(0)
    contained = []
    for _ in range(count):
        truth = generator.beta(population.right, population.wrong, relations)
        items = even_sizes(relations, generator).astype(int)
        shares = np.repeat(truth, items)
        same = generator.random((len(shares), templates)) < np.sqrt(0.5)
        common = (generator.random(len(shares)) < shares)[:, None]
        right = np.where(same, common, generator.random((len(shares), templates)) < shares[:, None])
        low, high = wilson(float(right.mean()), len(shares))
        contained.append(low <= float(shares.mean()) <= high)
    return float(np.mean(contained))


def item_bootstrap(shares: Floats, items: Floats, generator: np.random.Generator) -> Bounds:
    """Compute the percentile interval of a bootstrap that resamples the items of each relation."""
    hits = generator.binomial(items.astype(int), shares, size=(BOOTSTRAP_DRAWS, len(items)))
    return percentile_interval((hits / items).mean(axis=1))


MEANS: Mapping[str, Callable[[Floats, Floats, np.random.Generator], Bounds]] = {
    "chosen": lambda shares, items, generator: mean_of_shares(shares, items),
    "bootstrap": item_bootstrap,
}
EQUAL_SHARES = (0.002, 0.01, 0.05, 0.3)  # each is the share of all relations of a macro-average


def coverage_of_means(sizes: tuple[int, ...], count: int, rule: str) -> list[float]:
    """Return how often the interval of a macro-average contains the true one, for each kind of truth.

    The relations have one of the `EQUAL_SHARES`, or shares spread from 0.02 to 0.98, or 0.01 and 0.99 in turn.
    """
    generator, items = np.random.default_rng(0), np.array(sizes, float)
    relations = len(sizes)
    in_turn = np.where(np.arange(relations) % 2, 0.01, 0.99)
    truths = [*(np.full(relations, share) for share in EQUAL_SHARES), np.linspace(0.02, 0.98, relations), in_turn]
    covered = []
    for truth in truths:
        samples_of_shares = [generator.binomial(items.astype(int), truth) / items for _ in range(count)]
        bounds = [MEANS[rule](shares, items, generator) for shares in samples_of_shares]
        covered.append(float(np.mean([low <= truth.mean() <= high for low, high in bounds])))
    return covered


# The average and the lowest coverage in percent, of which docs/methods/statistics.md states the extremes.
STATED: Mapping[tuple[int, str], tuple[float, float]] = {
    (5, "60 or 150 items"): (94.4, 90.5),
    (5, "unequal sizes"): (96.2, 92.2),
    (20, "60 or 150 items"): (94.7, 93.4),
    (20, "unequal sizes"): (95.5, 93.1),
    (40, "60 or 150 items"): (94.8, 94.1),
    (40, "unequal sizes"): (95.2, 94.0),
    (60, "60 or 150 items"): (94.9, 93.5),
    (60, "unequal sizes"): (95.0, 93.9),
}


@pytest.mark.slow
@pytest.mark.parametrize(("relations", "sizes"), STATED)
def test_the_clustered_interval_covers_as_often_as_the_methods_say(relations: int, sizes: str) -> None:
    shares = [
        100 * coverage(clustered, population.mean, samples(population, relations, SIZES[sizes], macro, 2000))
        for population in POPULATIONS
        for macro in (False, True)
    ]
    assert (np.mean(shares), min(shares)) == pytest.approx(STATED[relations, sizes], abs=0.1)


def test_a_percentile_bootstrap_of_relations_would_cover_too_seldom() -> None:
    population = POPULATIONS[0]
    simulate = partial(samples, population, 20, SIZES["unequal sizes"], False, 200)
    assert coverage(bootstrap, population.mean, simulate()) < 0.91 < coverage(clustered, population.mean, simulate())


def test_the_interval_over_items_covers_the_same_relations_at_least_as_often_as_it_says() -> None:
    shares = [item_coverage(population, 60, 1, 200) for population in POPULATIONS]
    assert np.mean(shares) > 0.96
    assert item_coverage(POPULATIONS[1], 60, 3, 200) > 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("templates", "lowest", "highest"), [(1, 0.94, 0.998), (3, 0.98, 0.9995)])
def test_the_interval_over_items_covers_as_often_as_is_stated(templates: int, lowest: float, highest: float) -> None:
    shares = [item_coverage(population, 60, templates, 2000) for population in POPULATIONS]
    assert lowest <= min(shares) <= max(shares) <= highest


# Numbers of items of the relations of a macro-average, few or many, equal or very unequal; and the average and the
# lowest coverage in percent, of which docs/methods/statistics.md states the extremes.
STATED_OF_MEANS: Mapping[tuple[int, ...], tuple[float, float]] = {
    (8, 8): (95.1, 84.1),
    (100, 10): (96.2, 88.8),
    (8,) * 5: (95.6, 92.3),
    (200, 100, 50, 20, 8): (96.3, 92.6),
    (8,) * 16: (96.9, 94.5),
    (100,) * 23: (95.9, 94.3),
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", STATED_OF_MEANS)
def test_the_interval_of_a_mean_covers_as_often_as_the_methods_say(sizes: tuple[int, ...]) -> None:
    shares = [100 * share for share in coverage_of_means(sizes, 1000, "chosen")]
    average, lowest = STATED_OF_MEANS[sizes]
    assert np.mean(shares) == pytest.approx(average, abs=0.6)
    assert min(shares) >= lowest - 1  # a standard error, as these are other simulations than those of the table


def test_a_bootstrap_of_items_would_cover_rare_hits_too_seldom() -> None:
    assert min(coverage_of_means((8,) * 5, 200, "bootstrap")) < 0.5
