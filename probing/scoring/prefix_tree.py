"""Tree of the distinct prefixes of a window's statements, and its packing into rows that a transformer can compute.

Nodes are numbered depth first, so that the descendants of a node are the numbers between it and its `end`. Comparing
numbers therefore tells which nodes are ancestors of which, and that is the whole attention mask.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from probing.arrays import Bools, Ints

# Cost of a place that a row leaves free, in nodes that another row repeats. It is below 1 because a free place is
# padding only if other rows of the batch are longer.
FREE_PLACE_COST = 0.5


@dataclass(frozen=True)
class PrefixTree:
    """Tree in which every distinct prefix of some sequences is a node.

    `token`, `parent` (-1 for a root), `depth` and `end` (one past the last descendant) have shape (nodes,), as has
    `counts`: whether any sequence scores the node's token.
    `paths`: the nodes of each sequence, shape (sequences, longest), -1 past a sequence's end.
    """

    token: Ints
    parent: Ints
    depth: Ints
    end: Ints
    paths: Ints
    counts: Bools

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], scored: Bools) -> "PrefixTree":
        """Build the tree at the cost of sorting the sequences.

        `scored`: which tokens are scored, shape (sequences, longest).
        """
        longest = max(map(len, sequences))
        table = np.full((len(sequences), longest), -1, np.int64)
        for row, sequence in enumerate(sequences):
            table[row, : len(sequence)] = sequence
        order = np.lexsort(table.T[::-1])
        table = table[order]
        valid = table >= 0
        new = valid.copy()
        new[1:] &= ~np.logical_and.accumulate((table[1:] == table[:-1]) & valid[1:], axis=1)
        nodes = np.where(new, np.cumsum(new).reshape(new.shape) - 1, -1)
        nodes = np.where(valid, np.maximum.accumulate(nodes, axis=0), -1)
        rows, depth = np.nonzero(new)
        before = np.concatenate([np.full((len(nodes), 1), -1), nodes[:, :-1]], axis=1)
        end = np.zeros(len(rows), np.int64)
        np.maximum.at(end, nodes[valid], np.repeat(nodes.max(axis=1) + 1, valid.sum(axis=1)))
        paths = np.empty_like(nodes)
        paths[order] = nodes
        counts = np.zeros(len(rows), bool)
        counts[paths[scored]] = True
        return cls(table[rows, depth], before[rows, depth], depth.astype(np.int64), end, paths, counts)

    @property
    def inner(self) -> Bools:
        """Tell which nodes have children, shape (nodes,); a model has to compute only these."""
        inner = np.zeros(len(self.token), bool)
        inner[self.parent[self.parent >= 0]] = True
        return inner

    @property
    def before_scored(self) -> Ints:
        """Return the nodes that a model has to compute so that all scored tokens get a score, ascending."""
        parents = self.parent[self.counts]
        return self.with_ancestors(np.unique(parents[parents >= 0]))

    @property
    def passes(self) -> Ints:
        """Count the sequences that pass through each node, shape (nodes,)."""
        return np.bincount(self.paths[self.paths >= 0], minlength=len(self.token))

    def with_ancestors(self, nodes: Ints) -> Ints:
        """Return the nodes and their ancestors, ascending."""
        included = np.zeros(len(self.token), bool)
        while len(nodes):
            included[nodes] = True
            nodes = self.parent[nodes]
            nodes = np.unique(nodes[nodes >= 0])
            nodes = nodes[~included[nodes]]
        return np.flatnonzero(included)

    def children(self, place: Ints) -> tuple[Ints, Ints]:
        """Return the scored nodes whose parents have a place (not -1), and the places of their parents."""
        parents = np.where(self.counts & (self.parent >= 0), place[self.parent], -1)
        nodes = np.flatnonzero(parents >= 0)
        return nodes, parents[nodes]

    def rows(self, nodes: Ints, length: int, computed: Bools | None = None) -> Iterator[tuple[Ints, int]]:
        """Pack nodes into rows of at most `length`; yield each with the number of its first nodes that are repeated.

        `nodes` must be ascending and contain all ancestors of its nodes that are not yet `computed`. Repeated nodes
        belong to an earlier row too. Since a cut in depth-first order divides only one path, a row repeats at most the
        ancestors of its first own node. Each row ends where the cost of the places that it leaves free, plus that of
        the nodes that the next row repeats, is least.
        """
        computed = np.zeros(len(self.token), bool) if computed is None else computed
        parents = self.parent[nodes]
        repeats = np.append(np.where((parents < 0) | computed[parents], 0, self.depth[nodes]), 0)
        start = 0
        while start < len(nodes):
            repeated = self._missing_ancestors(int(nodes[start]), computed)
            full = min(start + max(length - len(repeated), 1), len(nodes))
            ends = np.arange(full, start, -1)
            end = int(ends[np.argmin(repeats[ends] + FREE_PLACE_COST * (full - ends))])
            yield np.concatenate([repeated, nodes[start:end]]), len(repeated)
            start = end

    def _missing_ancestors(self, node: int, computed: Bools) -> Ints:
        """Return the node's ancestors that are not computed, ascending."""
        ancestors = []
        while (node := int(self.parent[node])) >= 0:
            if not computed[node]:
                ancestors.append(node)
        return np.array(ancestors[::-1], np.int64)

    def even_rows(self, nodes: Ints, longest: int, computed: Bools | None = None) -> list[tuple[Ints, int]]:
        """Pack nodes into the fewest rows of at most `longest`, of about the same length, so that padding is little.

        The longest rows come first, so that batches of consecutive rows are padded least. Each is a pair as in `rows`.
        """
        rows = list(self.rows(nodes, longest, computed))
        spare = longest * len(rows) - sum(len(row) for row, _ in rows)
        lengths = range(longest - spare // len(rows), longest + 1)

        def suffices(length: int) -> bool:
            return len(list(self.rows(nodes, length, computed))) <= len(rows)

        shortest = lengths[bisect_left(lengths[:-1], True, key=suffices)]
        return sorted(self.rows(nodes, shortest, computed), key=lambda row: len(row[0]), reverse=True)
