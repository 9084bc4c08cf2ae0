"""Packing of a prefix tree's nodes into rows and batches that a transformer computes in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from probing.arrays import Ints
from probing.scoring.kv_cache import KVCache
from probing.scoring.prefix_tree import PrefixTree

# Long rows repeat fewer ancestors; short rows spend less on attention between unrelated statements.
NODES_PER_ROW = 256
# Repeated nodes are computed once, in a pass before the others, where this saves so large a share of all positions.
MIN_SAVING = 0.1


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
