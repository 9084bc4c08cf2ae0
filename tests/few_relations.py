"""Benchmarks that ship, with few of their relations, on which a probe does all that it does in less time."""

from functools import cache

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark

FEW, OF_CULTURES = 3, 1  # of pairs of cultures, a predicate has twelve relations


@cache
def few_relations(slug: str) -> Benchmark:
    """Return the benchmark with its first relations; all that share a label, as those of one predicate, count once."""
    content = open_benchmark(slug)
    labels = [*dict.fromkeys(relation.label for relation in content.relations)]
    return content.select(labels[: OF_CULTURES if slug == "culture" else FEW])
