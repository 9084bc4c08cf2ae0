"""Tree of the distinct prefixes of a window's statements, and its packing into rows that a transformer can compute.

Nodes are numbered depth first, so that the descendants of a node are the numbers between it and its `end`. Comparing
numbers therefore tells which nodes are ancestors of which, and that is the whole attention mask. The nodes are packed
into rows and batches of one pass each; keys and values that earlier rounds computed are kept by node.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from transformers import DynamicCache

from probing.arrays import Bools, Ints
from probing.scoring.tensors import to_device

# Cost of a place that a row leaves free, in nodes that another row repeats. It is below 1 because a free place is
# padding only if other rows of the batch are longer.
FREE_PLACE_COST = 0.5
# Long rows repeat fewer ancestors; short rows spend less on attention between unrelated statements.
NODES_PER_ROW = 256
# Repeated nodes are computed once, in a pass before the others, where this saves so large a share of all positions.
MIN_SAVING = 0.1


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
        lengths = np.array([len(sequence) for sequence in sequences])
        table = np.full((len(sequences), lengths.max()), -1, np.int64)
        tokens = np.fromiter(chain.from_iterable(sequences), np.int64, lengths.sum())
        table[np.arange(table.shape[1]) < lengths[:, None]] = tokens
        # In sorted order, sequences with a common beginning are neighbours: a token is a new node where its row differs
        # from the row above up to here, and otherwise has the node that the row above has in this column.
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


class PackedRow(NamedTuple):
    """Nodes to compute in one row of a batch.

    `repeated`: how many of the first nodes belong to another row; `past`: ancestors of the nodes in the KV cache.
    """

    nodes: Ints
    repeated: int
    past: Ints


@dataclass(frozen=True)
class PackedBatch:
    """Rows in one table: `table` has their nodes, `past` their cached ancestors; shape (rows, longest), padded by -1.

    `place`: each node's place in the flattened table, shape (nodes,); -1 if it is not in the batch or only repeated.
    """

    table: Ints
    past: Ints
    place: Ints

    @classmethod
    def of(cls, tree: PrefixTree, rows: Sequence[PackedRow]) -> "PackedBatch":
        table, past = _padded([row.nodes for row in rows]), _padded([row.past for row in rows])
        place = np.full(len(tree.token), -1)
        for index, row in enumerate(rows):
            place[row.nodes[row.repeated :]] = index * table.shape[1] + np.arange(row.repeated, len(row.nodes))
        return cls(table, past, place)


class KVCache:
    """Keys and values of each layer for nodes with a child that is computed too; shape (places, heads, size).

    It holds the first `capacity` such nodes; later ones are computed again whenever they are needed. `nodes`: hold only
    these.
    """

    def __init__(self, tree: PrefixTree, capacity: int, nodes: Ints | None = None) -> None:
        self._tree = tree
        self.capacity = capacity
        self._held = np.zeros(len(tree.token), bool)
        self._held[tree.parent[tree.inner & (tree.parent >= 0)] if nodes is None else nodes] = True
        self._place = np.full(len(tree.token), -1)
        self._count = 0
        self._layers: list[list[torch.Tensor]] = []

    @property
    def cached(self) -> Bools:
        """Tell which nodes are in the cache, shape (nodes,)."""
        return self._place >= 0

    @property
    def room(self) -> int:
        """The number of nodes that can be added."""
        return self.capacity - self._count

    def missing(self, nodes: Ints) -> Ints:
        """Return what must be computed for these nodes: they and their ancestors that are not cached, ascending."""
        path = self._tree.with_ancestors(nodes)
        return path[~self.cached[path]]

    def cached_ancestors(self, nodes: Ints) -> Ints:
        """Return the cached ancestors of nodes that are about to be computed, ascending."""
        path = self._tree.with_ancestors(nodes)
        return np.setdiff1d(path[self.cached[path]], nodes)

    def gather(self, past: Ints) -> DynamicCache:
        """Return a cache for the network that holds the given nodes; the network's pass appends the new ones to it.

        `past`: cached nodes, shape (rows, nodes), -1 if a row has fewer. Each layer has shape (rows, heads, nodes,
        size).
        """
        network_cache = DynamicCache()
        if past.shape[1]:
            index = _on_devices(np.where(past < 0, 0, self._place[past]), self._layers)
            for number, (keys, values) in enumerate(self._layers):
                places = index[keys.device]
                network_cache.update(keys[places].transpose(1, 2), values[places].transpose(1, 2), number)
        return network_cache

    def add(self, network_cache: DynamicCache, past: int, place: Ints) -> None:
        """Store what a pass has appended after its first `past` keys.

        `place`: the place of each node in the flattened batch, -1 if it has none. If memory runs out here, only nodes
        that are complete in every layer count as cached.
        """
        new = np.flatnonzero(self._held & ~self.cached & (place >= 0))[: self.capacity - self._count]
        end = self._count + len(new)
        room = min(max(end, self._count + self._count // 4), self.capacity)
        computed = [(layer.keys, layer.values) for layer in network_cache.layers]
        index = _on_devices(place[new], computed)
        self._layers = self._layers or [[_no_places(tensor) for tensor in layer] for layer in computed]
        for layer, tensors in zip(self._layers, computed, strict=True):
            for side, tensor in enumerate(tensors):
                places, length = index[tensor.device], tensor.shape[2] - past
                layer[side] = _with_room(layer[side], room)
                layer[side][self._count : end] = tensor[places // length, :, past + places % length]
        self._place[new] = np.arange(self._count, end)
        self._count = end


def pack(tree: PrefixTree, nodes: Ints, cache: KVCache | None) -> list[PackedRow]:
    """Pack the nodes and their missing ancestors into rows of about the same length, the longest first."""
    missing = cache.missing(nodes) if cache else nodes
    levels = int(tree.depth[missing].max() - tree.depth[missing].min())
    rows = tree.even_rows(missing, max(NODES_PER_ROW, 2 * levels), cache.cached if cache else None)
    nothing = np.zeros(0, np.int64)
    return [PackedRow(row, repeated, cache.cached_ancestors(row) if cache else nothing) for row, repeated in rows]


def often_repeated(rows: Sequence[PackedRow]) -> Ints:
    """Return the nodes that some rows repeat, ascending; none where computing them beforehand would save little.

    They contain their own missing ancestors. The examples before all questions of a relation are the usual case.
    """
    repeated = np.concatenate([row.nodes[: row.repeated] for row in rows])
    positions = sum(len(row.nodes) for row in rows)
    return np.unique(repeated) if len(repeated) >= MIN_SAVING * positions else repeated[:0]


def within_capacity(rows: list[PackedRow], capacity: int) -> list[PackedRow]:
    """Return the first rows, as many as have keys and values for at most `capacity` positions, but at least one."""
    past = np.maximum.accumulate([len(row.past) for row in rows])
    positions = np.arange(1, len(rows) + 1) * (len(rows[0].nodes) + past)
    return rows[: max(int((positions <= capacity).sum()), 1)]


def _padded(rows: Sequence[Ints]) -> Ints:
    """Arrange rows as a table of shape (rows, longest), padded by -1."""
    table = np.full((len(rows), max(map(len, rows))), -1)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table


def _on_devices(index: Ints, layers: Sequence[Sequence[torch.Tensor]]) -> dict[torch.device, torch.Tensor]:
    return {device: to_device(index, device) for device in {keys.device for keys, _ in layers}}


def _no_places(tensor: torch.Tensor) -> torch.Tensor:
    """Return an empty store for a layer's keys or values, which have shape (rows, heads, places, size)."""
    return tensor.new_empty(0, tensor.shape[1], tensor.shape[3])


def _with_room(stored: torch.Tensor, places: int) -> torch.Tensor:
    if len(stored) >= places:
        return stored
    larger = stored.new_empty(places, *stored.shape[1:])
    larger[: len(stored)] = stored
    return larger
