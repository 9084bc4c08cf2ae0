"""Prefix trees have the properties that a set of tuples defines."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from probing.scoring.prefix_tree import PrefixTree

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)
Sequences = list[tuple[int, ...]]


def tree_of(sequences: Sequences) -> PrefixTree:
    """Build a tree of sequences of which every token is scored."""
    scored = np.arange(max(map(len, sequences))) < np.array([[len(sequence)] for sequence in sequences])
    return PrefixTree.of(sequences, scored)


def path_to(tree: PrefixTree, node: int) -> list[int]:
    """Return the node's ancestors and the node itself, root first."""
    return [node] if tree.parent[node] < 0 else [*path_to(tree, int(tree.parent[node])), node]


@given(SEQUENCES)
def test_each_distinct_prefix_is_one_node_before_its_descendants(sequences: Sequences) -> None:
    tree = tree_of(sequences)
    prefixes = {sequence[:end] for sequence in sequences for end in range(1, len(sequence) + 1)}
    in_tree = [tuple(int(tree.token[n]) for n in path_to(tree, node)) for node in range(len(tree.token))]
    assert len(in_tree) == len(prefixes)
    assert set(in_tree) == prefixes
    assert [len(prefix) - 1 for prefix in in_tree] == tree.depth.tolist()
    for path, sequence in zip(tree.paths, sequences, strict=True):
        assert tree.token[path[path >= 0]].tolist() == list(sequence)
        assert path_to(tree, int(path[len(sequence) - 1])) == path[path >= 0].tolist()
    for node in range(len(tree.token)):
        below = [other for other in range(len(tree.token)) if node in path_to(tree, other)]
        assert below == list(range(node, int(tree.end[node])))
    assert np.flatnonzero(tree.inner).tolist() == sorted({int(parent) for parent in tree.parent if parent >= 0})
    assert tree.passes.tolist() == [sum(n in path for path in tree.paths) for n in range(len(tree.token))]


@given(SEQUENCES, st.integers(1, 9))
def test_rows_hold_every_node_once_after_its_ancestors(sequences: Sequences, length: int) -> None:
    tree = tree_of(sequences)
    nodes = np.arange(len(tree.token))
    rows = list(tree.rows(nodes, length))
    own = [row[repeated:].tolist() for row, repeated in rows]
    assert list(chain.from_iterable(own)) == nodes.tolist()
    for row, repeated in rows:
        assert len(row) <= max(length, repeated + 1)
        assert all(set(path_to(tree, int(node))) <= set(row.tolist()) for node in row)


@given(SEQUENCES, st.integers(1, 9), st.data())
def test_rows_leave_out_ancestors_that_are_computed(sequences: Sequences, length: int, data: st.DataObject) -> None:
    tree = tree_of(sequences)
    computed = tree.depth < data.draw(st.integers(0, 6))
    nodes = np.flatnonzero(~computed)
    rows = list(tree.rows(nodes, length, computed))
    assert list(chain.from_iterable(row[repeated:].tolist() for row, repeated in rows)) == nodes.tolist()
    for row, _ in rows:
        needed = {n for node in row for n in path_to(tree, int(node)) if not computed[n]}
        assert set(row.tolist()) == needed
