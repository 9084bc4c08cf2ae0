"""Statements as a tree of distinct prefixes, and the tree packed into rows that a transformer can compute.

Nodes are numbered depth first, so that a node's descendants are the numbers up to its `end`; one comparison then
says who is an ancestor of whom, which is the whole attention mask.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# What a place that a row leaves free costs, in nodes that another row repeats: rows may be short if others are, too.
FREE = 0.5


@dataclass(frozen=True)
class PrefixTree:
    """`token`, `parent` (-1 for a root), `depth` and `end` (one past the last descendant), shape (nodes,).

    `counts` says whether a sequence scores the node. `paths` holds the nodes of each sequence, shape
    (sequences, longest), -1 past a sequence's end.
    """

    token: Ints
    parent: Ints
    depth: Ints
    end: Ints
    paths: Ints
    counts: NDArray[np.bool_]

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], scored: NDArray[np.bool_]) -> "PrefixTree":
        """Build the tree; each distinct prefix becomes one node. Cost: a sort of the sequences.

        `scored`: which tokens count, shape (sequences, longest).
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
    def inner(self) -> NDArray[np.bool_]:
        """Nodes with something after them: the only ones that a model has to compute."""
        inner = np.zeros(len(self.token), bool)
        inner[self.parent[self.parent >= 0]] = True
        return inner

    @property
    def passes(self) -> Ints:
        """How many sequences go through each node."""
        return np.bincount(self.paths[self.paths >= 0], minlength=len(self.token))

    def with_ancestors(self, nodes: Ints) -> Ints:
        """The nodes and everything before them, ascending."""
        wanted = np.zeros(len(self.token), bool)
        while len(nodes):
            wanted[nodes] = True
            nodes = self.parent[nodes]
            nodes = np.unique(nodes[nodes >= 0])
            nodes = nodes[~wanted[nodes]]
        return np.flatnonzero(wanted)

    def children(self, place: Ints) -> tuple[Ints, Ints]:
        """The nodes that count and whose parent has a place (not -1), and that place."""
        parents = np.where(self.counts & (self.parent >= 0), place[self.parent], -1)
        found = np.flatnonzero(parents >= 0)
        return found, parents[found]

    def rows(self, nodes: Ints, length: int, computed: NDArray[np.bool_] | None = None) -> Iterator[tuple[Ints, int]]:
        """Pack nodes into rows of at most `length`; (row, how many of its first nodes an earlier row has too).

        `nodes` must be ascending and contain the ancestors of each of its nodes that are not yet `computed`. A cut
        in depth-first order parts only one path, so a row repeats no more than the ancestors of its first node; a row
        ends where what it leaves free and what the next one repeats are least.
        """
        done = np.zeros(len(self.token), bool) if computed is None else computed
        parents = self.parent[nodes]
        repeats = np.append(np.where((parents < 0) | done[parents], 0, self.depth[nodes]), 0)
        start = 0
        while start < len(nodes):
            again = self._missing_before(int(nodes[start]), done)
            full = min(start + max(length - len(again), 1), len(nodes))
            ends = np.arange(full, start, -1)
            end = int(ends[np.argmin(repeats[ends] + FREE * (full - ends))])
            yield np.concatenate([again, nodes[start:end]]), len(again)
            start = end

    def _missing_before(self, node: int, done: NDArray[np.bool_]) -> Ints:
        """The node's ancestors that are not done, ascending."""
        found = []
        while (node := int(self.parent[node])) >= 0:
            if not done[node]:
                found.append(node)
        return np.array(found[::-1], np.int64)

    def even_rows(self, nodes: Ints, longest: int, computed: NDArray[np.bool_] | None = None) -> list[tuple[Ints, int]]:
        """As few rows of at most `longest` as there can be, each about as long as any other, so that few are padded.

        The longest come first, so that a batch of neighbours is padded least.
        """
        rows = list(self.rows(nodes, longest, computed))
        spare = longest * len(rows) - sum(len(row) for row, _ in rows)
        lengths = range(longest - spare // len(rows), longest + 1)

        def few(length: int) -> bool:
            return len(list(self.rows(nodes, length, computed))) <= len(rows)

        shortest = lengths[bisect_left(lengths[:-1], True, key=few)]
        return sorted(self.rows(nodes, shortest, computed), key=lambda row: len(row[0]), reverse=True)
