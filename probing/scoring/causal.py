"""Causal models: every distinct prefix of a window's statements is computed once.

The statements form a prefix tree, whose inner nodes are packed into rows (`tree_passes`). One pass over the rows gives
the log-probabilities of all tokens that follow. For an early decision the tree is computed in rounds, with the keys and
values of earlier rounds in a cache. docs/performance.md has a picture.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import torch

from probing.arrays import Bools, Floats, Ids, Ints
from probing.errors import UnsupportedModel
from probing.language_model import OptionScores, Scoring
from probing.scoring import reference
from probing.scoring.batching import is_out_of_memory, layer_configs, out_of_memory_explained
from probing.scoring.encoded import Encoded
from probing.scoring.hf_model import REFUSALS, BlankInput, by_prompt
from probing.scoring.prefix_tree import KVCache, PackedBatch, PackedRow, PrefixTree
from probing.scoring.pruning import OptionPruning, decide
from probing.scoring.state_passes import StatePasses
from probing.scoring.tensors import computed_values, token_log_probs
from probing.scoring.tokens import Window
from probing.scoring.tree_passes import TreePasses, TreeRounds
from probing.scoring.verbs import AnsweringModel

STATES = "states"  # the way of sharing work by continued caches
# The branches of the self-check and their tokens: many fill a row of a tree; long ones show networks that attend to a
# choice of earlier tokens, which begins after some of them.
MANY_BRANCHES, LONG_BRANCHES = (40, 8), (10, 16)

# A way of sharing prefixes: yields the log-probabilities of some sequences, computed together with others.
FastLogProbs = Callable[[Sequence[Sequence[int]], Sequence[Sequence[int]]], Iterator[Floats]]


class CausalModel(AnsweringModel):
    """Causal model: scores each token given all tokens before it, with a start token in front (methods 1.2)."""

    kind = "causal"
    special_tokens = False

    @property
    def blank(self) -> str:
        return str(self.tokenizer.eos_token or "")

    @property
    def trees(self) -> TreePasses:
        """The passes of this model over prefix trees; not kept, as a cycle would keep the network in memory."""
        return TreePasses(self) if self.use_fast_path else StatePasses(self)

    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        sequences = [statement.ids for statement in window.statements]
        if not self._shares(sequences):
            rows = self._reference(sequences)
            return by_prompt(window, [row[list(s.scored)] for row, s in zip(rows, window.statements, strict=True)])
        scored, size = _scored_tokens(window.statements), len(sequences)
        tree = PrefixTree.of(sequences, scored)
        # States of all rounds would not fit: recurrent networks score all.
        early = scoring.decide > 0 and self.use_fast_path and self.trial.decides_early(size, window.mean_options)
        with self.trial.timed(early, size):
            if early:
                rounds = TreeRounds(self.trees, tree, scored, window.sizes)
                pruning = OptionPruning(np.array(window.sizes), scored.sum(axis=1), scoring)
                log_probs, exact = decide(rounds, pruning, self.first_pass, self.usage)
                return by_prompt(window, [row[use] for row, use in zip(log_probs, scored, strict=True)], exact)
            values = np.full(len(tree.token), np.nan)
            self.trees.compute(tree, np.flatnonzero(tree.inner), values, statements=size)
            return by_prompt(window, [values[path[use]] for path, use in zip(tree.paths, scored, strict=True)])

    def _reference(self, sequences: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the log-probabilities of each sequence's tokens by the reference implementation."""

        def work(batch: Sequence[int]) -> dict[int, Floats]:
            rows = reference.causal_log_probs(self.network, [sequences[index] for index in batch])
            return dict(zip(batch, rows, strict=True))

        log_probs: dict[int, Floats] = {}
        total = sum(map(len, sequences))
        for batch in reference.equal_lengths(sequences, self.budget):
            positions = len(batch) * len(sequences[batch[0]])
            for part in self.budget.run(work, batch, positions):
                log_probs.update(part)
            self.usage.add("score", len(sequences) * positions / total, positions)
        return [log_probs[index] for index in range(len(sequences))]

    def continuations(self, sequences: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[tuple[float, bool]]:
        """Score the last `lengths` tokens of each sequence of token ids, given all tokens before them.

        Return the natural log-probability of each continuation, and whether all of its tokens are the likeliest ones.
        Every distinct prefix of the sequences is computed once. They must not be longer than `longest_shared`, and have
        a token or more before those that are scored; the last token of each is never computed.
        """
        scored = np.zeros((len(sequences), max(map(len, sequences))), bool)
        for row, sequence, length in zip(scored, sequences, lengths, strict=True):
            row[len(sequence) - length : len(sequence)] = True
        tree = PrefixTree.of(sequences, scored)
        values, likeliest = np.full(len(tree.token), np.nan), np.zeros(len(tree.token), bool)

        def work(rows: Sequence[PackedRow], cache: KVCache | None) -> tuple[Ints, torch.Tensor, torch.Tensor]:
            children, parent, logits = self.trees.children_logits(tree, rows, cache)
            tokens = self.to_device(tree.token[children])
            return children, token_log_probs(logits, parent, tokens), logits.argmax(dim=-1)[parent] == tokens

        with self.scoring_state():
            for children, log_probs, best in self.trees.passes("score", work, tree, tree.before_scored, len(sequences)):
                values[children], likeliest[children] = computed_values(log_probs), best.cpu().numpy()
        paths = [path[use] for path, use in zip(tree.paths, scored, strict=True)]
        return [(float(values[path].sum()), bool(likeliest[path].all())) for path in paths]

    def at_blanks(
        self, inputs: Sequence[BlankInput], statements: float
    ) -> Iterator[tuple[Sequence[BlankInput], torch.Tensor]]:
        """Yield logits as the base class does, but compute each distinct prefix of the inputs once.

        A causal model's inputs end at their blanks.
        """
        sequences = [blank.ids for blank in inputs]
        if not self._shares(sequences):
            return super().at_blanks(inputs, statements)
        tree = PrefixTree.of(sequences, np.zeros((len(sequences), max(map(len, sequences))), bool))
        ends = np.array([path[len(ids) - 1] for path, ids in zip(tree.paths, sequences, strict=True)])

        def work(rows: Sequence[PackedRow], cache: KVCache | None) -> tuple[Sequence[BlankInput], torch.Tensor]:
            batch = PackedBatch.of(tree, rows)
            ending = np.flatnonzero(batch.place[ends] >= 0)
            logits = self.trees.logits(tree, batch, batch.place[ends[ending]], cache)
            return [inputs[index] for index in ending.tolist()], logits

        return self.trees.passes("fill", work, tree, np.arange(len(tree.token)), statements)

    def _shares(self, sequences: Sequence[Sequence[int]]) -> bool:
        return max(map(len, sequences)) <= self.longest_shared

    @property
    def longest_shared(self) -> int:
        """The most tokens of a sequence that can be computed as part of a tree, 0 where the network takes no tree.

        A network with a sliding window needs its own mask for longer sequences.
        """
        return self._attention_window if self.use_fast_path or self.continues_states else 0

    @cached_property
    def _attention_window(self) -> int:
        return min(getattr(layer, "sliding_window", None) or 2**31 for layer in layer_configs(self.network))

    def check(self) -> str:
        """Run the self-check of both ways in which prefixes can be shared; a failure of both is noted."""
        with self.scoring_state():
            return super().check() or (STATES if self.continues_states else "")

    def take_way(self, way: str) -> bool:
        if way == STATES:
            vars(self).update(use_fast_path=False, continues_states=True)
        return super().take_way(way) or way == STATES

    @cached_property
    @out_of_memory_explained()
    def use_fast_path(self) -> bool:
        """Return whether scores by prefix tree and KV cache equal those of the reference implementation.

        They are compared once. The tree's row is longer than `NODES_PER_ROW`, because a network may treat tokens by
        their place in the row (as GPT-Neo's local attention does).
        """
        sequences = self._branching_sequences(*MANY_BRANCHES)
        self._refuse_foresight(sequences[-1])
        return not self._difference(self._fast_log_probs, sequences)

    @cached_property
    @out_of_memory_explained()
    def continues_states(self) -> bool:
        """Return whether a network that takes no tree mask gives the same scores when its cache is continued."""
        reason = self._difference(self._continued_log_probs, self._branching_sequences(*LONG_BRANCHES))
        return not reason or self.note_reference(
            "the network neither takes a mask for each pair of tokens "
            f"nor continues its cache as it began it ({reason})"
        )

    def _branching_sequences(self, number: int, length: int) -> list[Ids]:
        """Return random sequences in order that share beginnings of three to six tokens, and branches of this length.

        They begin as real texts do: a network may read its own start token in another way, as RoBERTa reads padding.
        """
        generator = np.random.default_rng(0)
        vocabulary = self.limits.vocabulary
        stem = generator.integers(vocabulary, size=6).tolist()
        branches = generator.integers(vocabulary, size=(number, length)).tolist()
        return sorted((*self.encoder.start, *stem[: 3 + i % 4], *branch) for i, branch in enumerate(branches))

    def _difference(self, fast: FastLogProbs, sequences: Sequence[Ids]) -> str:
        """Return in words how a way of sharing prefixes differs from the reference implementation, empty if not."""
        compared = sequences[::-8]  # includes the last sequence, whose tokens are at the end of the row
        expected = np.concatenate([reference.causal_log_probs(self.network, [s])[0, 1:] for s in compared])
        try:
            off = max(np.abs(values - expected).max() for values in fast(compared, sequences))
        except REFUSALS as error:
            if is_out_of_memory(error):
                raise
            return "it refuses the inputs"
        return "" if off <= self.tolerance else f"off by {off:.2g} in the self-check"

    def _refuse_foresight(self, sequence: Sequence[int]) -> None:
        """Raise if a token's log-probability depends on later tokens (an encoder with a causal head)."""
        whole, cut = (reference.causal_log_probs(self.network, [s])[0, 1:] for s in (sequence, sequence[:-1]))
        if np.abs(whole[:-1] - cut).max() > self.tolerance:
            raise UnsupportedModel(
                f"{self.card.architecture} sees the tokens that it is to predict.",
                "Use a checkpoint that reads from left to right, or one with a masked head.",
            )

    def _fast_log_probs(self, sequences: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> Iterator[Floats]:
        """Yield the log-probabilities of all tokens but each first, computed in two ways.

        First in one row together with other sequences, then in two rounds with a KV cache.
        """
        wide, narrow = _tree_of([*sequences, *others]), _tree_of(sequences)
        in_one_row, in_two_rounds = (np.full(len(tree.token), np.nan) for tree in (wide, narrow))
        row = PackedRow(np.flatnonzero(wide.inner), 0, np.zeros(0, np.int64))
        children, log_probs = TreePasses(self).log_probs(wide, [row], None)
        in_one_row[children] = computed_values(log_probs)
        cache, early = KVCache(narrow, len(narrow.token)), narrow.depth < 5
        for part in (early, ~early):
            TreePasses(self).compute(narrow, np.flatnonzero(narrow.inner & part), in_two_rounds, cache=cache)
        for tree, values in ((wide, in_one_row), (narrow, in_two_rounds)):
            yield np.concatenate([values[tree.paths[i, 1 : len(s)]] for i, s in enumerate(sequences)])

    def _continued_log_probs(
        self, sequences: Sequence[Sequence[int]], others: Sequence[Sequence[int]]
    ) -> Iterator[Floats]:
        """Yield the log-probabilities of all tokens but each first, computed by continuing the network's cache."""
        tree = _tree_of([*sequences, *others])
        values, states = np.full(len(tree.token), np.nan), StatePasses(self)
        states.compute(tree, np.flatnonzero(tree.inner), values)
        yield np.concatenate([values[tree.paths[i, 1 : len(s)]] for i, s in enumerate(sequences)])


def _tree_of(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Build the tree of sequences of which every token but the first is scored."""
    scored = np.zeros((len(sequences), max(map(len, sequences))), bool)
    for row, sequence in zip(scored, sequences, strict=True):
        row[1 : len(sequence)] = True
    return PrefixTree.of(sequences, scored)


def _scored_tokens(statements: Sequence[Encoded]) -> Bools:
    """Return which tokens are scored, shape (statements, longest)."""
    scored = np.zeros((len(statements), max(len(statement.ids) for statement in statements)), bool)
    counts = [len(statement.scored) for statement in statements]
    places = np.fromiter(chain.from_iterable(statement.scored for statement in statements), np.int64, sum(counts))
    scored[np.repeat(np.arange(len(statements)), counts), places] = True
    return scored
