"""Simulate how often 95 % intervals contain the true value: on the same relations, and on other relations like these.

A relation's true share of right answers is drawn from a beta distribution, and its number of items from the sizes that
benchmarks have; its items are right at random. `python -m speed.interval_coverage` prints the tables of
docs/methods.md: for several ways to compute an interval that is clustered by relation, and for several ways to compute
the interval of a mean of relations on the same relations.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from probing.analysis.clustered import cluster_interval, jackknife_error
from probing.analysis.intervals import mean_of_shares, percentile_interval, wilson
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

    @property
    def parts(self) -> Floats:
        parts: Floats = self.weights / self.weights.sum()
        return parts

    @property
    def mean(self) -> float:
        return float(self.parts @ self.shares)


Bounds = tuple[float, float]
Method = Callable[[Sample, np.random.Generator], Bounds]


def even_sizes(relations: int, generator: np.random.Generator) -> Floats:
    """Return sizes like those of BEAR, whose relations have 60 or 150 items."""
    sizes: Floats = generator.choice([60.0, 150.0], p=[0.25, 0.75], size=relations)
    return sizes


def wide_sizes(relations: int, generator: np.random.Generator) -> Floats:
    """Return sizes of which some are many times as large as others: log-normal around 80 items."""
    sizes: Floats = np.maximum(5, np.round(80 * np.exp(generator.normal(0, 0.9, relations))))
    return sizes


Sizes = Callable[[int, np.random.Generator], Floats]
SIZES: Mapping[str, Sizes] = {"60 or 150 items": even_sizes, "unequal sizes": wide_sizes}


def samples(
    population: Population, relations: int, sizes: Sizes, macro: bool, count: int, seed: int = 0
) -> Iterator[Sample]:
    """Yield simulated benchmarks, each with relations of its own."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        items = sizes(relations, generator)
        truth = generator.beta(population.right, population.wrong, relations)
        shares = generator.binomial(items.astype(int), truth) / items
        yield Sample(shares, items, np.ones(relations) if macro else items)


def coverage(method: Method, truth: float, simulated: Iterator[Sample], seed: int = 0) -> float:
    """Return the share of simulated benchmarks whose interval contains the true mean."""
    generator = np.random.default_rng(seed)
    contained = [low <= truth <= high for low, high in (method(sample, generator) for sample in simulated)]
    return float(np.mean(contained))


def clustered(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute the interval that every result has."""
    return cluster_interval(sample.shares, sample.weights, float(sample.items.sum()))


def jackknife(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute the mean plus and minus the jackknife's standard error times the quantile of Student's t."""
    return _symmetric(sample, jackknife_error(sample.shares - sample.mean, sample.parts))


def sandwich(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute the same with the robust error of a regression on a constant, corrected for leverage (CR2)."""
    parts = sample.parts
    scores = parts * (sample.shares - sample.mean)
    return _symmetric(sample, float(np.sqrt((scores**2 / (1 - parts)).sum())))


def wilson_of_jackknife(sample: Sample, generator: np.random.Generator) -> Bounds:
    """Compute Wilson's interval with the jackknife's error, and k - 1 degrees of freedom for k relations."""
    error, mean = jackknife_error(sample.shares - sample.mean, sample.parts), sample.mean
    items = float(sample.items.sum())
    independent = min(mean * (1 - mean) / error**2, items) if error > 0 else items
    return wilson(mean, independent, float(t.ppf(0.975, len(sample.shares) - 1)))


def bootstrap(sample: Sample, generator: np.random.Generator, studentised: bool) -> Bounds:
    """Compute the percentile or the studentised interval of a bootstrap that resamples relations."""
    relations = len(sample.shares)
    counts = generator.multinomial(relations, np.full(relations, 1 / relations), size=BOOTSTRAP_DRAWS)
    weights = counts * sample.weights
    totals = weights.sum(axis=1)
    means = weights @ sample.shares / totals
    if not studentised:
        return percentile_interval(means)
    errors = np.sqrt((weights * sample.weights * (sample.shares - means[:, None]) ** 2).sum(axis=1)) / totals
    error = float(np.sqrt(((sample.parts * (sample.shares - sample.mean)) ** 2).sum()))
    has_spread = errors > 0
    if not has_spread.any():
        return sample.mean, sample.mean
    low, high = np.quantile((means[has_spread] - sample.mean) / errors[has_spread], [0.025, 0.975])
    return sample.mean - float(high) * error, sample.mean - float(low) * error


def _symmetric(sample: Sample, error: float) -> Bounds:
    half = float(t.ppf(0.975, len(sample.shares) - 1)) * error
    return sample.mean - half, sample.mean + half


METHODS: Mapping[str, Method] = {
    "chosen": clustered,
    "jackknife, Wilson": wilson_of_jackknife,
    "jackknife, t": jackknife,
    "CR2, t": sandwich,
    "bootstrap": partial(bootstrap, studentised=False),
    "bootstrap, t": partial(bootstrap, studentised=True),
}


def item_coverage(population: Population, relations: int, templates: int, count: int, seed: int = 0) -> float:
    """Return how often the interval over items (Wilson's) contains the true accuracy on the same relations.

    The wordings of a relation share half of the variance of its items, so that with several templates an item is right
    in some and wrong in others.
    """
    generator = np.random.default_rng(seed)
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


# Numbers of items of the relations of a macro-average: few or many, equal or very unequal.
MEANS_OF_FEW = ((8, 8), (100, 10), (8,) * 5, (200, 100, 50, 20, 8), (8,) * 16, (100,) * 23)
EQUAL_SHARES = (0.002, 0.01, 0.05, 0.3)  # each is the share of all relations of a macro-average


def mover(shares: Floats, items: Floats, generator: np.random.Generator) -> Bounds:
    """Compute the interval that joins the parts' Wilson intervals as for a sum (Zou and Donner's MOVER)."""
    bounds = np.array([wilson(share, n) for share, n in zip(shares, items, strict=True)])
    below, above = np.sqrt(((shares[:, None] - bounds) ** 2).sum(axis=0)) / len(shares)
    return float(shares.mean() - below), float(shares.mean() + above)


def item_bootstrap(shares: Floats, items: Floats, generator: np.random.Generator) -> Bounds:
    """Compute the percentile interval of a bootstrap that resamples the items of each relation."""
    hits = generator.binomial(items.astype(int), shares, size=(BOOTSTRAP_DRAWS, len(items)))
    return percentile_interval((hits / items).mean(axis=1))


MEANS: Mapping[str, Callable[[Floats, Floats, np.random.Generator], Bounds]] = {
    "chosen": lambda shares, items, generator: mean_of_shares(shares, items),
    "MOVER": mover,
    "bootstrap": item_bootstrap,
}


def coverage_of_means(sizes: tuple[int, ...], count: int, seed: int = 0) -> dict[str, list[float]]:
    """Return how often the interval of a macro-average contains the true one, by rule and for each kind of truth.

    The relations have one of the `EQUAL_SHARES`, or shares spread from 0.02 to 0.98, or 0.01 and 0.99 in turn.
    """
    generator, items = np.random.default_rng(seed), np.array(sizes, float)
    relations = len(sizes)
    in_turn = np.where(np.arange(relations) % 2, 0.01, 0.99)
    truths = [*(np.full(relations, share) for share in EQUAL_SHARES), np.linspace(0.02, 0.98, relations), in_turn]
    covered: dict[str, list[float]] = {name: [] for name in MEANS}
    for truth in truths:
        samples_of_shares = [generator.binomial(items.astype(int), truth) / items for _ in range(count)]
        for name, method in MEANS.items():
            bounds = [method(shares, items, generator) for shares in samples_of_shares]
            covered[name].append(float(np.mean([low <= truth.mean() <= high for low, high in bounds])))
    return covered


def _print_means(count: int) -> None:
    print(f"\nmean of relations, on the same relations\n\n| items by relation | {' | '.join(MEANS)} |")
    print(f"|{'---|' * (1 + len(MEANS))}")
    for sizes in MEANS_OF_FEW:
        covered = coverage_of_means(sizes, count)
        shares = [f"{100 * np.mean(cases):.1f} ({100 * min(cases):.1f})" for cases in covered.values()]
        title = ", ".join(map(str, sizes)) if len(set(sizes)) > 1 else f"{len(sizes)} × {sizes[0]}"
        print(f"| {title} | {' | '.join(shares)} |", flush=True)


def _print_clustered(relations: int, count: int) -> None:
    print(f"\n{relations} relations\n\n| relations' accuracies | mean over | sizes | {' | '.join(METHODS)} |")
    print(f"|{'---|' * (3 + len(METHODS))}")
    for population in POPULATIONS:
        for macro in (False, True):
            for title, sizes in SIZES.items():
                simulate = partial(samples, population, relations, sizes, macro, count)
                shares = [f"{coverage(method, population.mean, simulate()):.1%}" for method in METHODS.values()]
                over = "relations" if macro else "items"
                print(f"| {population.name} | {over} | {title} | {' | '.join(shares)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.interval_coverage", description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="simulated benchmarks for each figure")
    parser.add_argument("--relations", type=int, nargs="*", default=[5, 20, 40, 60])
    arguments = parser.parse_args()
    for relations in arguments.relations:
        _print_clustered(relations, arguments.samples)
    print("\ninterval over items, on the same 60 relations\n\n| relations' accuracies | 1 template | 3 templates |")
    print("|---|---|---|")
    for population in POPULATIONS:
        shares = [f"{item_coverage(population, 60, templates, arguments.samples):.1%}" for templates in (1, 3)]
        print(f"| {population.name} | {' | '.join(shares)} |", flush=True)
    _print_means(arguments.samples)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
