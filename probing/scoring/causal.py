"""Causal models: every distinct prefix of a window's statements is computed once.

The statements form a prefix tree. Its inner nodes are packed into rows, each token sees exactly its ancestors (a
four-dimensional attention mask) at its depth (position ids), and one pass gives the log-probabilities of all tokens
that follow. To decide, the tree is computed in rounds; keys and values of earlier rounds are kept.
docs/performance.md has a picture.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.hooks import RemovableHandle

from probing.errors import UnsupportedModel
from probing.language_model import OptionScores, Scoring, Verb
from probing.scoring import reference
from probing.scoring.batching import nodes_kept, telling_out_of_memory
from probing.scoring.hf_model import (
    REFUSALS,
    Floats,
    Input,
    Narrow,
    by_prompt,
    known,
    log_sum_exp,
)
from probing.scoring.kv_cache import KVCache
from probing.scoring.prefix_tree import Ints, PrefixTree
from probing.scoring.pruning import OptionPruning
from probing.scoring.tokens import Encoded, Window
from probing.scoring.verbs import AnsweringModel

R = TypeVar("R")

# Long rows repeat fewer ancestors, short ones spend less on attention between unrelated statements.
ROW = 256
# A prefix that so many statements share is computed before any option is preferred.
SHARED = 6


class Row(NamedTuple):
    """Nodes to compute together, the first `repeated` of which another row has too; `past`: their ancestors at hand."""

    nodes: Ints
    repeated: int
    past: Ints


@dataclass(frozen=True)
class Packed:
    """Rows side by side: `table` has their nodes, `past` what is at hand, shape (rows, longest), -1 behind.

    `place`: where in the flattened table each node stands, -1 if it is not a row's own; shape (nodes,).
    """

    table: Ints
    past: Ints
    place: Ints

    @classmethod
    def of(cls, tree: PrefixTree, rows: Sequence[Row]) -> "Packed":
        table, past = _side_by_side([row.nodes for row in rows]), _side_by_side([row.past for row in rows])
        place = np.full(len(tree.token), -1)
        for index, row in enumerate(rows):
            place[row.nodes[row.repeated :]] = index * table.shape[1] + np.arange(row.repeated, len(row.nodes))
        return cls(table, past, place)


class CausalModel(AnsweringModel):
    """Log-probability of each token given all before it, BOS in front (methods 1.2)."""

    kind = "causal"
    special_tokens = False

    @property
    def blank(self) -> str:
        return str(self.tokenizer.eos_token or "")

    def hook_head(self, narrow: Narrow) -> RemovableHandle:
        def hook(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            return (narrow(args[0]), *args[1:])

        handle: RemovableHandle = self.network.get_output_embeddings().register_forward_pre_hook(hook)
        return handle

    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        sequences = [statement.ids for statement in window.statements]
        if not self._shares(sequences):
            found = self._reference(sequences)
            log_probs = [f[list(s.scored)] for s, f in zip(window.statements, found, strict=True)]
            return by_prompt(window, log_probs)
        scored = _scored(window.statements)
        tree = PrefixTree.of(sequences, scored)
        if scoring.decide:
            return self._decide(window, tree, scored, scoring)
        values = np.full(len(tree.token), np.nan)
        self._compute(tree, np.flatnonzero(tree.inner), values, statements=len(sequences))
        return by_prompt(window, [values[path[use]] for path, use in zip(tree.paths, scored, strict=True)])

    def _decide(
        self, window: Window, tree: PrefixTree, scored: NDArray[np.bool_], scoring: Scoring
    ) -> Iterator[OptionScores]:
        """First what many statements share; then, a token a round, 1, 2, 4 ... of each prompt's best options."""
        pruning = OptionPruning(np.array(window.sizes), scored.sum(axis=1), scoring)
        values = np.full(len(tree.token), np.nan)
        inner, store = tree.inner, KVCache(tree, self._most_kept)
        computed = np.zeros(len(tree.token), bool)
        wanted = np.flatnonzero(inner & (tree.passes >= min(SHARED, *window.sizes)))
        first, statements, before = self.first_pass.share, len(window.statements), self.usage.positions
        self._compute(tree, wanted, values, statements=first * statements, store=store)
        looked = self.usage.positions - before
        most, told = 1, first
        while True:
            computed[wanted] = True
            found = np.where(scored, values[tree.paths], 0.0)
            missing = np.isnan(found)
            sums, complete = np.where(missing, 0.0, found).sum(axis=1), np.logical_not(missing.any(axis=1))
            advancing = pruning.next(sums, complete, most)
            done = self.first_pass.done(looked, self.usage.positions - before) if len(advancing) else 1.0
            self.usage.add("score", (done - told) * statements)
            told = done
            if not len(advancing):
                break
            nodes = np.unique(tree.paths[advancing])
            nodes = nodes[nodes >= 0]
            parents = tree.parent[nodes]
            reached = (parents < 0) | computed[parents]
            wanted = nodes[inner[nodes] & ~computed[nodes] & reached]
            self._compute(tree, wanted, values, store=store)
            most *= 2
        self.first_pass.learn(looked, self.usage.positions - before)
        found[missing] = 0.0
        return by_prompt(window, [row[use] for row, use in zip(found, scored, strict=True)], complete)

    def _reference(self, sequences: Sequence[Sequence[int]]) -> list[Floats]:
        def work(batch: Sequence[int]) -> dict[int, Floats]:
            rows = reference.causal_log_probs(self.network, [sequences[index] for index in batch])
            return dict(zip(batch, rows, strict=True))

        found: dict[int, Floats] = {}
        total = sum(map(len, sequences))
        for batch in reference.equal_lengths(sequences, self.budget):
            positions = len(batch) * len(sequences[batch[0]])
            for part in self.budget.run(work, batch, positions):
                found.update(part)
            self.usage.add("score", len(sequences) * positions / total, positions)
        return [found[index] for index in range(len(sequences))]

    def _compute(
        self,
        tree: PrefixTree,
        nodes: Ints,
        values: Floats,
        *,
        statements: float = 0.0,
        store: KVCache | None = None,
    ) -> None:
        """Compute nodes (ascending); fill in `values` for their children, the log-probability of each node's token.

        Without a store the nodes must hold all their ancestors; with one, those that it keeps are not computed again.
        `statements`: how many are done by this.
        """

        def work(rows: Sequence[Row]) -> tuple[Ints, torch.Tensor]:
            return self._forward(tree, rows, store)

        for children, log_probs in list(self._passes("score", work, tree, nodes, statements, store)):
            values[children] = known(log_probs)

    def _passes(
        self,
        verb: Verb,
        work: Callable[[Sequence[Row]], R],
        tree: PrefixTree,
        nodes: Ints,
        statements: float,
        store: KVCache | None = None,
    ) -> Iterator[R]:
        """Do the verb's work on the nodes (ascending), packed into rows, a batch of rows at a time."""
        if not len(nodes):
            self.usage.add(verb, statements)
            return
        rows = _rows(tree, nodes, store)
        own = sum(len(row.nodes) - row.repeated for row in rows)
        while rows:
            batch = rows[: max(self.budget.tokens // len(rows[0].nodes), 1)]
            batch = _within(batch, store.most) if store else batch
            rows = rows[len(batch) :]
            positions = len(batch) * len(batch[0].nodes)
            yield from self.budget.run(work, batch, positions)
            filled = sum(len(row.nodes) for row in batch)
            done = filled - sum(row.repeated for row in batch)
            self.usage.add(verb, statements * done / own, positions, positions - filled)

    def _forward(self, tree: PrefixTree, rows: Sequence[Row], store: KVCache | None) -> tuple[Ints, torch.Tensor]:
        """One pass over packed rows: the children of the rows' own nodes, and their log-probabilities."""
        packed = Packed.of(tree, rows)
        children, parents = tree.children(packed.place)
        places, slot = np.unique(parents, return_inverse=True)
        logits = self._tree_logits(tree, packed, places, store)
        where = self.to_device(slot)
        log_probs = logits[where, self.to_device(tree.token[children])].float() - log_sum_exp(logits)[where]
        return children, log_probs.clamp(max=0.0)

    @torch.inference_mode()
    def _tree_logits(
        self, tree: PrefixTree, packed: Packed, places: Ints, store: KVCache | None = None
    ) -> torch.Tensor:
        """Logits at some places of the rows, shape (places, vocabulary)."""
        table, past = packed.table, packed.past
        cache = store.gather(past) if store else None
        padded = table < 0
        logits = self.logits_at(
            self.to_device(places),
            input_ids=self.to_device(np.where(padded, 0, tree.token[table])),
            attention_mask=self._tree_mask(tree, np.concatenate([past, table], axis=1), table),
            position_ids=self.to_device(np.where(padded, 0, tree.depth[table])),
            past_key_values=cache,
            use_cache=cache is not None,
        )
        if store and cache is not None:
            store.add(cache, past.shape[1], packed.place)
        return logits

    def _tree_mask(self, tree: PrefixTree, keys: Ints, queries: Ints) -> torch.Tensor:
        """Additive mask, shape (rows, 1, queries, keys): a node sees itself and its ancestors, padding sees padding.

        A node is an ancestor of the nodes from its own number to its `end`.
        """
        first = self.to_device(keys)[:, None, :]
        end = self.to_device(np.where(keys < 0, 0, tree.end[keys]))[:, None, :]
        node = self.to_device(queries)[:, :, None]
        seen = (first <= node) & (node < end)
        mask = torch.zeros(seen.shape, dtype=self.network.dtype, device=seen.device)
        return mask.masked_fill_(~seen, torch.finfo(self.network.dtype).min)[:, None]

    def at_blanks(self, inputs: Sequence[Input], statements: float) -> Iterator[tuple[Sequence[Input], torch.Tensor]]:
        """The same behind the inputs, which end at their blanks; each distinct prefix is computed once."""
        sequences = [ids for ids, _ in inputs]
        if not self._shares(sequences):
            return super().at_blanks(inputs, statements)
        tree = PrefixTree.of(sequences, np.zeros((len(sequences), max(map(len, sequences))), bool))
        ends = np.array([path[len(ids) - 1] for path, ids in zip(tree.paths, sequences, strict=True)])

        def work(rows: Sequence[Row]) -> tuple[Sequence[Input], torch.Tensor]:
            packed = Packed.of(tree, rows)
            here = np.flatnonzero(packed.place[ends] >= 0)
            return [inputs[index] for index in here.tolist()], self._tree_logits(tree, packed, packed.place[ends[here]])

        return self._passes("fill", work, tree, np.arange(len(tree.token)), statements)

    def _shares(self, sequences: Sequence[Sequence[int]]) -> bool:
        """Whether these sequences can be computed as a tree."""
        return self.use_fast_path and max(map(len, sequences)) <= self._attention_window

    @cached_property
    def _most_kept(self) -> int:
        """Of how many nodes the keys and values may be held, by the store and by a pass."""
        return nodes_kept(self.network)

    @cached_property
    def _attention_window(self) -> int:
        """Longer statements would need the model's own sliding mask."""
        return getattr(self.network.config.get_text_config(), "sliding_window", None) or 2**31

    @cached_property
    @telling_out_of_memory()
    def use_fast_path(self) -> bool:
        """Whether the network heeds tree masks, position ids and kept keys: compared once with the reference.

        The tree fills a row wider than those in use: a network may go by places in it (GPT-Neo's window does).
        """
        generator = np.random.default_rng(0)
        vocabulary = self.network.config.get_text_config().vocab_size
        stem, branches = generator.integers(vocabulary, size=6), generator.integers(vocabulary, size=(40, 8))
        sequences = sorted((*map(int, stem[: 3 + i % 4]), *map(int, branch)) for i, branch in enumerate(branches))
        compared = sequences[::-8]  # the last of the row among them
        self._refuse_foresight(compared[0])
        expected = np.concatenate([reference.causal_log_probs(self.network, [s])[0, 1:] for s in compared])
        try:
            off = max(np.abs(found - expected).max() for found in self._both_ways(compared, sequences))
        except REFUSALS as error:
            return self.refused(error)  # the network takes no such mask or cache
        return bool(off <= self.tolerance) or self.note_reference(f"off by {off:.2g} in the self-check")

    def _refuse_foresight(self, sequence: Sequence[int]) -> None:
        """Raise where a token's log-probability depends on what follows it (an encoder with a causal head)."""
        whole, cut = (reference.causal_log_probs(self.network, [s])[0, 1:] for s in (sequence, sequence[:-1]))
        if np.abs(whole[:-1] - cut).max() > self.tolerance:
            raise UnsupportedModel(
                f"{self.card.architecture} sees the tokens that it is to predict.",
                "Use a checkpoint that reads from left to right, or one with a masked head.",
            )

    def _both_ways(self, sequences: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> Iterator[Floats]:
        """Log-probabilities of all tokens but the first: in one row beside others, and in two rounds with keys kept."""
        wide, narrow = _tree_of([*sequences, *others]), _tree_of(sequences)
        at_once, in_two = (np.full(len(tree.token), np.nan) for tree in (wide, narrow))
        everything = Row(np.flatnonzero(wide.inner), 0, np.zeros(0, np.int64))
        children, log_probs = self._forward(wide, [everything], None)
        at_once[children] = known(log_probs)
        store, early = KVCache(narrow, len(narrow.token)), narrow.depth < 5
        for part in (early, ~early):
            self._compute(narrow, np.flatnonzero(narrow.inner & part), in_two, store=store)
        for tree, values in ((wide, at_once), (narrow, in_two)):
            yield np.concatenate([values[tree.paths[i, 1 : len(s)]] for i, s in enumerate(sequences)])


def _rows(tree: PrefixTree, nodes: Ints, store: KVCache | None) -> list[Row]:
    """The nodes, and what before them is needed and not kept, in rows of about one length, the longest first."""
    longest, nothing = max(ROW, 2 * int(tree.depth.max())), np.zeros(0, np.int64)
    if not store:
        return [Row(row, repeated, nothing) for row, repeated in tree.even_rows(nodes, longest)]
    rows = tree.even_rows(store.missing(nodes), longest, store.kept)
    return [Row(row, repeated, store.before(row)) for row, repeated in rows]


def _within(rows: list[Row], most: int) -> list[Row]:
    """The first rows, as many as hold the keys and values of no more positions than that; one at least."""
    past = np.maximum.accumulate([len(row.past) for row in rows])
    held = np.arange(1, len(rows) + 1) * (len(rows[0].nodes) + past)
    return rows[: max(int((held <= most).sum()), 1)]


def _side_by_side(rows: Sequence[Ints]) -> Ints:
    """Shape (rows, longest), -1 past a row's end."""
    table = np.full((len(rows), max(map(len, rows))), -1)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table


def _tree_of(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Every token but the first counts."""
    scored = np.zeros((len(sequences), max(map(len, sequences))), bool)
    for row, sequence in zip(scored, sequences, strict=True):
        row[1 : len(sequence)] = True
    return PrefixTree.of(sequences, scored)


def _scored(statements: Sequence[Encoded]) -> NDArray[np.bool_]:
    """Which tokens count, shape (statements, longest)."""
    scored = np.zeros((len(statements), max(len(statement.ids) for statement in statements)), bool)
    for index, statement in enumerate(statements):
        scored[index, list(statement.scored)] = True
    return scored
