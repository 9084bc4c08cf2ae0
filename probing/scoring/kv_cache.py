"""Keys and values of the prefixes that earlier rounds computed, by node of the prefix tree."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import DynamicCache

from probing.arrays import Bools, Ints
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.tensors import to_device


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


def _on_devices(index: Ints, layers: Sequence[Sequence[torch.Tensor]]) -> dict[torch.device, torch.Tensor]:
    """Copy the index to every device that holds a layer."""
    return {device: to_device(index, device) for device in {keys.device for keys, _ in layers}}


def _no_places(tensor: torch.Tensor) -> torch.Tensor:
    """Return an empty store for a layer's keys or values, which have shape (rows, heads, places, size)."""
    return tensor.new_empty(0, tensor.shape[1], tensor.shape[3])


def _with_room(stored: torch.Tensor, places: int) -> torch.Tensor:
    """Return the stored tensor itself if it has that many places, else a larger copy."""
    if len(stored) >= places:
        return stored
    larger = stored.new_empty(places, *stored.shape[1:])
    larger[: len(stored)] = stored
    return larger
