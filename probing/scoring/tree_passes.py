"""Passes of a causal network over the nodes of a prefix tree: all at once, or in rounds for an early decision.

Nodes are packed into rows, in which each token attends to exactly its ancestors (by a four-dimensional attention mask)
and has its depth as position id.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from probing.arrays import Bools, Floats, Ints
from probing.language_model import Verb
from probing.scoring.hf_model import HFModel
from probing.scoring.prefix_tree import (
    KVCache,
    PackedBatch,
    PackedRow,
    PrefixTree,
    often_repeated,
    pack,
    within_capacity,
)
from probing.scoring.tensors import computed_values, token_log_probs

ResultT = TypeVar("ResultT")
# Does a verb's work on some rows of packed nodes, whose ancestors may be in a cache (of the kind that the passes use).
Work = Callable[[Sequence[PackedRow], Any], ResultT]
# Prefixes that this many statements share are computed in the first pass of an early decision, or of fewer where a
# prompt has not so many options.
STATEMENTS_SHARING = 6
# A round of fewer options takes almost as long as one of so many: with one option of each of 25 prompts in the first
# one, deciding 750 statements took 1.07 times as long as scoring all of them.
OPTIONS_PER_ROUND = 128


class TreePasses:
    """Computes nodes of prefix trees with a model's network, a batch at a time, and records the work."""

    def __init__(self, model: HFModel) -> None:
        self._model = model

    @property
    def cache_capacity(self) -> int:
        """The number of nodes that a KV cache may hold."""
        return self._model.cache_capacity

    def compute(
        self, tree: PrefixTree, nodes: Ints, values: Floats, *, statements: float = 0.0, cache: KVCache | None = None
    ) -> None:
        """Compute nodes (ascending) and write the log-probabilities of their children's tokens to `values`.

        Without a cache the nodes must include all their ancestors; with one, missing ancestors are computed again.
        `statements`: how many scored statements to record as work.
        """

        def work(rows: Sequence[PackedRow], cache: KVCache | None) -> tuple[Ints, torch.Tensor]:
            return self.log_probs(tree, rows, cache)

        for children, log_probs in list(self.passes("score", work, tree, nodes, statements, cache)):
            values[children] = computed_values(log_probs)

    def log_probs(
        self, tree: PrefixTree, rows: Sequence[PackedRow], cache: KVCache | None
    ) -> tuple[Ints, torch.Tensor]:
        """Compute rows in one pass; return the children of the rows' own nodes, and their log-probabilities."""
        children, parent, logits = self.children_logits(tree, rows, cache)
        return children, token_log_probs(logits, parent, self._model.to_device(tree.token[children]))

    def children_logits(
        self, tree: PrefixTree, rows: Sequence[PackedRow], cache: KVCache | None = None
    ) -> tuple[Ints, torch.Tensor, torch.Tensor]:
        """Compute rows in one pass; return the children of their own nodes, each one's row of the logits, and these."""
        batch = PackedBatch.of(tree, rows)
        children, parents = tree.children(batch.place)
        places, inverse = np.unique(parents, return_inverse=True)
        return children, self._model.to_device(inverse), self.logits(tree, batch, places, cache)

    @torch.inference_mode()
    def logits(self, tree: PrefixTree, batch: PackedBatch, places: Ints, cache: KVCache | None = None) -> torch.Tensor:
        """Return the logits at some places of the flattened batch, shape (places, vocabulary)."""
        table, past = batch.table, batch.past
        network_cache = cache.gather(past) if cache else None
        name = "cache" if "cache" in self._model.arguments else "past_key_values"  # as before transformers 5.24
        padded = table < 0
        logits = self._model.logits_at(
            self._model.to_device(places),
            input_ids=self._model.to_device(np.where(padded, 0, tree.token[table])),
            attention_mask=self._mask(tree, np.concatenate([past, table], axis=1), table),
            position_ids=self._model.to_device(np.where(padded, 0, tree.depth[table])),
            use_cache=network_cache is not None,
            **({} if network_cache is None else {name: network_cache}),
        )
        if cache and network_cache is not None:
            cache.add(network_cache, past.shape[1], batch.place)
        return logits

    def _mask(self, tree: PrefixTree, keys: Ints, queries: Ints) -> torch.Tensor:
        """Return the additive mask, shape (rows, 1, queries, keys).

        A node attends to itself and its ancestors (k is an ancestor of q if k < q < end of k), padding to padding.
        """
        key = self._model.to_device(keys)[:, None, :]
        end = self._model.to_device(np.where(keys < 0, 0, tree.end[keys]))[:, None, :]
        query = self._model.to_device(queries)[:, :, None]
        visible = (key <= query) & (query < end)
        mask = torch.zeros(visible.shape, dtype=self._model.network.dtype, device=visible.device)
        return mask.masked_fill_(~visible, torch.finfo(self._model.network.dtype).min)[:, None]

    def passes(
        self,
        verb: Verb,
        work: Work[ResultT],
        tree: PrefixTree,
        nodes: Ints,
        statements: float,
        cache: KVCache | None = None,
    ) -> Iterator[ResultT]:
        """Pack the nodes (ascending) into rows, and do the verb's work on a batch of rows at a time.

        Nodes that many rows would repeat, such as those of examples, are computed first and then found in the cache.
        """
        if not len(nodes):
            self._model.usage.add(verb, statements)
            return
        rows = pack(tree, nodes, cache)
        stem = often_repeated(rows)
        if len(stem) and len(stem) <= (cache.room if cache else self.cache_capacity):
            cache = cache or KVCache(tree, self.cache_capacity, stem)
            share = statements * len(stem) / sum(len(row.nodes) - row.repeated for row in rows)
            yield from self._batches(verb, work, pack(tree, stem, cache), share, cache)
            rows, statements = pack(tree, np.setdiff1d(nodes, stem), cache), statements - share
        yield from self._batches(verb, work, rows, statements, cache)

    def _batches(
        self,
        verb: Verb,
        work: Work[ResultT],
        rows: list[PackedRow],
        statements: float,
        cache: KVCache | None,
    ) -> Iterator[ResultT]:
        """Do the verb's work on the rows, which are sorted by their length, a batch at a time."""
        own = sum(len(row.nodes) - row.repeated for row in rows)
        while rows:
            batch = rows[: max(self._model.budget.tokens // len(rows[0].nodes), 1)]
            batch = within_capacity(batch, cache.capacity) if cache else batch
            rows = rows[len(batch) :]
            positions = len(batch) * len(batch[0].nodes)
            yield from self._model.budget.run(lambda part: work(part, cache), batch, positions)
            filled = sum(len(row.nodes) for row in batch)
            computed = filled - sum(row.repeated for row in batch)
            self._model.usage.add(verb, statements * computed / own, positions, positions - filled)


class TreeRounds:
    """Rounds of an early decision on a prefix tree.

    The first pass computes the prefixes that many statements share. Each further round advances 1, 2, 4 ... options of
    a prompt by one token, or from the beginning as many as make `OPTIONS_PER_ROUND` of all prompts. `sizes` has the
    number of options of each prompt.
    """

    def __init__(self, passes: TreePasses, tree: PrefixTree, scored: Bools, sizes: Sequence[int]) -> None:
        self._passes, self._tree, self._scored = passes, tree, scored
        self._sharing = min(STATEMENTS_SHARING, *sizes)
        self.options_per_prompt = max(OPTIONS_PER_ROUND // len(sizes), 1)
        self._inner = tree.inner
        self._cache = KVCache(tree, passes.cache_capacity)
        self._values = np.full(len(tree.token), np.nan)
        self._computed = np.zeros(len(tree.token), bool)

    def first_pass(self, statements: float) -> None:
        self._compute(np.flatnonzero(self._inner & (self._tree.passes >= self._sharing)), statements)

    def log_probs(self) -> Floats:
        return np.where(self._scored, self._values[self._tree.paths], 0.0)

    def advance(self, options: Ints) -> None:
        """Compute the first node of each option's path that is not computed."""
        nodes = np.unique(self._tree.paths[options])
        nodes = nodes[nodes >= 0]
        parents = self._tree.parent[nodes]
        reached = (parents < 0) | self._computed[parents]
        self._compute(nodes[self._inner[nodes] & ~self._computed[nodes] & reached])
        self.options_per_prompt *= 2

    def _compute(self, nodes: Ints, statements: float = 0.0) -> None:
        self._passes.compute(self._tree, nodes, self._values, statements=statements, cache=self._cache)
        self._computed[nodes] = True
