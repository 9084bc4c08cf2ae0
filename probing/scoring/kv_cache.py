"""Keys and values of prefixes that were computed in earlier rounds, by node."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from probing.scoring.hf_model import to_device
from probing.scoring.prefix_tree import Ints, PrefixTree


class KVCache:
    """For each layer, keys and values of nodes that further nodes may follow; shape (places, heads, size).

    It keeps at most `most` nodes, the first to come; what finds no place is computed again where it is needed.
    """

    def __init__(self, tree: PrefixTree, most: int) -> None:
        self._tree = tree
        self.most = most
        self._followed = np.zeros(len(tree.token), bool)
        self._followed[tree.parent[tree.inner & (tree.parent >= 0)]] = True
        self._place = np.full(len(tree.token), -1)
        self._count = 0
        self._layers: list[list[torch.Tensor]] = []

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Of each node, whether it is here, shape (nodes,)."""
        return self._place >= 0

    def missing(self, nodes: Ints) -> Ints:
        """What has to be computed for these nodes: they, and their ancestors that are not kept, ascending."""
        path = self._tree.with_ancestors(nodes)
        return path[~self.kept[path]]

    def before(self, nodes: Ints) -> Ints:
        """The kept ancestors of nodes that are about to be computed, ascending."""
        path = self._tree.with_ancestors(nodes)
        return np.setdiff1d(path[self.kept[path]], nodes)

    def gather(self, past: Ints) -> DynamicCache:
        """A cache that holds the given nodes, shape (rows, heads, nodes, size) a layer; it will take the new ones.

        `past`: kept nodes, shape (rows, nodes), -1 where a row has fewer.
        """
        cache = DynamicCache()
        if past.shape[1]:
            index = _on_devices(np.where(past < 0, 0, self._place[past]), self._layers)
            for number, (keys, values) in enumerate(self._layers):
                where = index[keys.device]
                cache.update(keys[where].transpose(1, 2), values[where].transpose(1, 2), number)
        return cache

    def add(self, cache: DynamicCache, past: int, place: Ints) -> None:
        """Keep what a pass has put behind its first `past` keys; `place`: where each node stands, -1 if it does not.

        Memory may run out in here: only what is complete in every layer counts as kept.
        """
        new = np.flatnonzero(self._followed & ~self.kept & (place >= 0))[: self.most - self._count]
        end = self._count + len(new)
        room = min(max(end, self._count + self._count // 4), self.most)
        found = [(layer.keys, layer.values) for layer in cache.layers]
        index = _on_devices(place[new], found)
        self._layers = self._layers or [[_no_places(tensor) for tensor in layer] for layer in found]
        for layer, tensors in zip(self._layers, found, strict=True):
            for side, tensor in enumerate(tensors):
                where, length = index[tensor.device], tensor.shape[2] - past
                layer[side] = _grown(layer[side], room)
                layer[side][self._count : end] = tensor[where // length, :, past + where % length]
        self._place[new] = np.arange(self._count, end)
        self._count = end


def _on_devices(index: Ints, layers: Sequence[Sequence[torch.Tensor]]) -> dict[torch.device, torch.Tensor]:
    """The index once on each device that has layers."""
    return {device: to_device(index, device) for device in {keys.device for keys, _ in layers}}


def _no_places(tensor: torch.Tensor) -> torch.Tensor:
    """For a layer's keys or values, shape (rows, heads, places, size)."""
    return tensor.new_empty(0, tensor.shape[1], tensor.shape[3])


def _grown(kept: torch.Tensor, room: int) -> torch.Tensor:
    """The same with at least that many places."""
    if len(kept) >= room:
        return kept
    larger = kept.new_empty(room, *kept.shape[1:])
    larger[: len(kept)] = kept
    return larger
