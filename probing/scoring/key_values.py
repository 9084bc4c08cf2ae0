"""Keys and values of prefixes that were computed in earlier rounds, by node."""

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from probing.scoring.prefix_tree import Ints, PrefixTree


class KeyValues:
    """For each layer, keys and values of the nodes that further nodes may follow; shape (kept, heads, size)."""

    def __init__(self, nodes: int) -> None:
        self.computed: NDArray[np.bool_] = np.zeros(nodes, bool)
        self._slot = np.zeros(nodes, np.int64)
        self._layers: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._new: list[list[tuple[torch.Tensor, torch.Tensor]]] = []
        self._kept = 0

    def before(self, tree: PrefixTree, table: Ints) -> Ints:
        """The ancestors of each row's nodes that were computed before, ascending, -1 where a row has fewer."""
        rows = []
        for nodes in table:
            path = tree.with_ancestors(nodes[nodes >= 0])
            rows.append(np.setdiff1d(path[self.computed[path]], nodes))
        past = np.full((len(rows), max(map(len, rows))), -1)
        for index, row in enumerate(rows):
            past[index, : len(row)] = row
        return past

    def gather(self, past: Ints) -> DynamicCache:
        """A cache that holds the given nodes, shape (rows, heads, nodes, size) a layer; it will take the new ones."""
        cache = DynamicCache()
        if past.shape[1]:
            for layer, (keys, values) in enumerate(self._layers):
                where = torch.from_numpy(np.where(past < 0, 0, self._slot[past])).to(keys.device)
                cache.update(keys[where].transpose(1, 2), values[where].transpose(1, 2), layer)
        return cache

    def add(self, cache: DynamicCache, past: int, place: Ints, tree: PrefixTree) -> None:
        """Keep what the pass has put behind its first `past` keys, for nodes that others may follow."""
        inner = tree.inner
        parents = np.unique(tree.parent[inner & (tree.parent >= 0)])
        keep = parents[place[parents] >= 0]
        self._slot[keep] = self._kept + np.arange(len(keep))
        self._kept += len(keep)
        layers = []
        for layer in cache.layers:
            where = torch.from_numpy(place[keep]).to(layer.keys.device)
            layers.append(
                tuple(tensor[:, :, past:].transpose(1, 2).flatten(0, 1)[where] for tensor in (layer.keys, layer.values))
            )
        self._new.append(layers)

    def merge(self, nodes: Ints) -> None:
        """End a round: what was added counts as computed from now on."""
        self.computed[nodes] = True
        if not self._new:
            return
        old = [self._layers] if self._layers else []
        self._layers = [
            (torch.cat([keys for keys, _ in layer]), torch.cat([values for _, values in layer]))
            for layer in zip(*old, *self._new, strict=True)
        ]
        self._new = []
