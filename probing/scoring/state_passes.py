"""Passes of a causal network that takes no tree mask: its own cache is continued from node to node of a prefix tree.

Recurrent and hybrid networks keep convolution and recurrent states beside keys and values. After a node, the rows of
the cache are repeated for its children. The nodes of a pass have one depth, so that there is neither padding nor a
mask, and every distinct prefix is computed once. The tree is walked depth first, which bounds the caches that are kept.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedConfig

from probing.arrays import Ints
from probing.language_model import Verb
from probing.scoring.prefix_tree import PackedBatch, PackedRow, PrefixTree
from probing.scoring.tensors import to_device
from probing.scoring.tree_passes import ResultT, TreePasses, Work


class StatePasses(TreePasses):
    """Computes nodes of prefix trees like `TreePasses`, by continuing the network's cache."""

    def passes(
        self,
        verb: Verb,
        work: Work[ResultT],
        tree: PrefixTree,
        nodes: Ints,
        statements: float,
        cache: Any = None,
    ) -> Iterator[ResultT]:
        """Do the verb's work on nodes (ascending, with all their ancestors), a batch of equal depths at a time."""
        if not len(nodes):
            self._model.usage.add(verb, statements)
            return
        kept = KeptStates(tree, nodes, self._model.state_bytes)
        groups = [nodes[tree.parent[nodes] < 0]]
        while groups:
            group = groups.pop()
            length = kept.common_length(group)
            most = max(min(self._model.budget.tokens // length, kept.fitting(group)), 1)
            batch, rest = group[:most], group[most:]
            if len(rest):
                groups.append(rest)
            length = kept.common_length(batch)
            rows = [PackedRow(kept.chain(node, length), 0, np.zeros(0, np.int64)) for node in batch.tolist()]
            positions = len(rows) * length
            yield from self._model.budget.run(lambda part: work(part, kept), rows, positions)
            self._model.usage.add(verb, statements * positions / len(nodes), positions)
            kept.finish(batch)
            if len(following := kept.children(np.array([row.nodes[-1] for row in rows]))):
                groups.append(following)

    @torch.inference_mode()
    def logits(self, tree: PrefixTree, batch: PackedBatch, places: Ints, cache: Any = None) -> torch.Tensor:
        """Return the logits at some places of the flattened batch, and keep the states after the last nodes."""
        table = batch.table
        # Some caches (Bamba's) do not tell how long the text is that they hold.
        places_in_text = {"position_ids": self._model.to_device(tree.depth[table])}
        output = self._model.output_at(
            self._model.to_device(places),
            input_ids=self._model.to_device(tree.token[table]),
            use_cache=True,
            **(places_in_text if "position_ids" in self._model.arguments else {}),
            **cache.gather(tree.parent[table[:, 0]]),
        )
        cache.add(table[:, -1], self._model.cache_in(output))
        logits: torch.Tensor = output.logits[0]
        return logits


class KeptStates:
    """The network's caches after nodes of a tree that have a child to compute; each has one row for each node.

    A cache stands under the name by which the network takes it.

    `nodes`: what is to be computed, ascending; `most_bytes`: the memory that these caches may take; what
    a pass reads and returns comes on top.
    """

    def __init__(self, tree: PrefixTree, nodes: Ints, most_bytes: int) -> None:
        self._parent = tree.parent
        parents = tree.parent[nodes]
        order = np.argsort(parents, kind="stable")
        self._children, self._sorted_parents = nodes[order], parents[order]
        self._waiting = np.bincount(parents[parents >= 0], minlength=len(tree.token))
        self._run, self._ends = self._below(nodes)
        self._place = np.full((len(tree.token), 2), -1)  # the number of the cache that has a node's states, and the row
        self._caches: dict[int, dict[str, Any]] = {}
        self._rows: dict[int, int] = {}  # how many each cache has, those included that are no longer needed
        self._count, self._row_bytes, self._most_bytes = 0, 0, most_bytes

    def _below(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return how many nodes can be computed in one go from each node on, and in how many ends it branches.

        A node that branches is the last of those that are computed in one go.
        """
        run, ends = np.ones(len(self._parent), np.int64), np.zeros(len(self._parent), np.int64)
        for node in nodes[::-1].tolist():
            parent = self._parent[node]
            ends[node] = max(ends[node], 1)
            if parent >= 0:
                ends[parent] += ends[node]
                run[parent] = run[node] + 1 if self._waiting[parent] == 1 else 1
        return run, ends

    def fitting(self, nodes: Ints) -> int:
        """Return how many of these nodes the next pass should compute, which may be 0 where no memory is left.

        All of them, if the states of all their ends fit into the memory that is left. Else as many as half of it
        suffices for, so that what follows them is not divided again; but up to an eighth of what is left, where even a
        few nodes have more ends than that.
        """
        if not self._row_bytes:
            return 1
        left = self._most_bytes // self._row_bytes - sum(self._rows.values())
        needed = self._ends[nodes].cumsum()
        if needed[-1] <= left:
            return len(nodes)
        return max(int(np.searchsorted(needed, left // 2, "right")), left // 8)

    def common_length(self, nodes: Ints) -> int:
        """Return the number of nodes by which all these can be continued at once.

        A cache is continued by single tokens, because some networks (Mamba) begin anew when they get several.
        """
        return int(self._run[nodes].min()) if self._parent[nodes[0]] < 0 else 1

    def chain(self, node: int, length: int) -> Ints:
        """Return the node and those after it, of which each but the last has one child."""
        chain = [node]
        while len(chain) < length:
            chain.append(int(self.children(np.array(chain[-1:]))[0]))
        return np.array(chain)

    def children(self, nodes: Ints) -> Ints:
        """Return the nodes to compute that follow directly after these."""
        begins = np.searchsorted(self._sorted_parents, nodes, "left")
        ends = np.searchsorted(self._sorted_parents, nodes, "right")
        places = [np.arange(*pair) for pair in zip(begins, ends, strict=True)]
        children: Ints = self._children[np.concatenate(places)]
        return children

    def gather(self, nodes: Ints) -> dict[str, Any]:
        """Return a new cache with the states after each of these nodes, an empty one where the texts begin."""
        if nodes[0] < 0:
            return {}
        (number,) = set(self._place[nodes, 0].tolist())
        states: dict[str, Any] = selected(self._caches[number], Rows(self._place[nodes, 1]))
        return states

    def add(self, nodes: Ints, cache: dict[str, Any]) -> None:
        """Keep the states after those of the nodes that have a child to compute."""
        rows = np.flatnonzero(self._waiting[nodes])
        if not len(rows):
            return
        self._row_bytes = max(self._row_bytes, sum(tensor.nbytes for tensor in _tensors(cache)) // len(nodes))
        self._caches[self._count] = cache if len(rows) == len(nodes) else selected(cache, Rows(rows))
        self._rows[self._count] = len(rows)
        self._place[nodes[rows]] = np.stack([np.full(len(rows), self._count), np.arange(len(rows))], axis=1)
        self._count += 1

    def finish(self, nodes: Ints) -> None:
        """Drop the caches that these nodes were the last to need."""
        parents = self._parent[nodes[self._parent[nodes] >= 0]]
        np.subtract.at(self._waiting, parents, 1)
        done = np.unique(parents[self._waiting[parents] == 0])
        numbers = set(self._place[done, 0].tolist())
        self._place[done] = -1
        for number in numbers:
            if not (self._place[:, 0] == number).any():
                del self._caches[number], self._rows[number]


class Rows(dict[torch.device, torch.Tensor]):
    """Numbers of rows, copied once to each device that holds a part of a cache."""

    def __init__(self, numbers: Ints) -> None:
        super().__init__()
        self.numbers = numbers

    def __missing__(self, device: torch.device) -> torch.Tensor:
        self[device] = to_device(self.numbers, device)
        return self[device]


def selected(cache: Any, rows: Rows) -> Any:
    """Return a cache of these rows, whatever its form; the cache itself stays as it is."""
    if isinstance(cache, torch.Tensor):
        return cache.index_select(0, rows[cache.device]) if cache.ndim > 1 else cache
    if isinstance(cache, dict):
        return {key: selected(value, rows) for key, value in cache.items()}
    if isinstance(cache, list | tuple):
        return type(cache)(selected(value, rows) for value in cache)
    if not _is_cache(cache):
        return cache
    chosen = copy(cache)
    vars(chosen).update({name: selected(value, rows) for name, value in vars(cache).items()})
    return chosen


def _tensors(cache: Any) -> Iterator[torch.Tensor]:
    if isinstance(cache, torch.Tensor):
        yield cache
    elif isinstance(cache, dict):
        yield from _tensors(list(cache.values()))
    elif isinstance(cache, list | tuple):
        for value in cache:
            yield from _tensors(value)
    elif _is_cache(cache):
        yield from _tensors(vars(cache))


def _is_cache(value: Any) -> bool:
    """Tell whether this is an object of transformers that may hold states."""
    is_ours = type(value).__module__.startswith("transformers.") and hasattr(value, "__dict__")
    return is_ours and not isinstance(value, nn.Module | PreTrainedConfig)
