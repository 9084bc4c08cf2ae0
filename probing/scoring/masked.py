"""Masked models: pseudo-log-likelihood, each distinct masked input computed once, the head only where it counts.

A statement's tokens are hidden in turn; what is hidden together with a token is the PLL variant (methods 1.2).
Options often hide behind the same masks, so that one pass serves them all. Inputs are sorted by length, which leaves
next to no padding. To decide, an option's answer is scored first, then its most telling tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.hooks import RemovableHandle

from probing.language_model import PLL, OptionScores, Scoring
from probing.scoring import reference
from probing.scoring.batching import telling_out_of_memory
from probing.scoring.hf_model import REFUSALS, Floats, Narrow, by_prompt, known, log_sum_exp
from probing.scoring.pruning import OptionPruning
from probing.scoring.tokens import Encoded, Window
from probing.scoring.verbs import AnsweringModel

Ints = NDArray[np.int64]
Ids = tuple[int, ...]

# Token positions that a round of deciding fills.
ROUND = 1024
# Tokens of the masked inputs that are held at a time: a statement has as many inputs as tokens.
WINDOW = 2**24
# What a batch may be padded by, as a share of the budget: about what one more batch costs.
PADDED = 1 / 16


@dataclass(frozen=True)
class Asks:
    """What a window needs: `inputs` with masks in them, and for each ask its input, position and hidden token.

    `of_statement` has the asks of each statement's scored tokens, shape (statements, most tokens), -1 past the end.
    """

    inputs: list[Ids]
    input: Ints
    position: Ints
    target: Ints
    of_statement: Ints

    @classmethod
    def of(cls, statements: Sequence[Encoded], pll: PLL, mask: int) -> "Asks":
        inputs: dict[Ids, int] = {}
        asks: dict[tuple[int, int, int], int] = {}
        table = np.full((len(statements), max(len(s.scored) for s in statements)), -1)
        for row, statement in enumerate(statements):
            for column, position in enumerate(statement.scored):
                ids = list(statement.ids)
                for hidden in hidden_with(statement, column, pll):
                    ids[hidden] = mask
                index = inputs.setdefault(tuple(ids), len(inputs))
                ask = (index, position, statement.ids[position])
                table[row, column] = asks.setdefault(ask, len(asks))
        columns = np.array(list(asks), np.int64).reshape(-1, 3)
        return cls(list(inputs), columns[:, 0], columns[:, 1], columns[:, 2], table)

    @cached_property
    def length(self) -> Ints:
        return np.array([len(ids) for ids in self.inputs])

    @cached_property
    def _by_input(self) -> tuple[Ints, Ints]:
        """The asks in order of their inputs, and where each input's asks begin."""
        order = np.argsort(self.input, kind="stable")
        return order, np.searchsorted(self.input[order], np.arange(len(self.inputs) + 1))

    def of_inputs(self, inputs: Ints) -> tuple[Ints, Ints]:
        """All asks of the given inputs, and for each the place of its input among them."""
        order, begin = self._by_input
        counts = begin[inputs + 1] - begin[inputs]
        asks = np.concatenate([order[begin[i] : begin[i + 1]] for i in inputs])
        return asks, np.repeat(np.arange(len(inputs)), counts)


@dataclass(frozen=True)
class Costs:
    """What hiding a token is likely to cost: the mean over the same prompt's statements that know already.

    `key` numbers the pairs of prompt and token, shape of `Asks.of_statement`.
    """

    key: Ints

    @classmethod
    def of(cls, asks: Asks, prompts: Ints) -> "Costs":
        target = asks.target[asks.of_statement]
        pairs = prompts[:, None] * (int(asks.target.max()) + 1) + target
        return cls(np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape))

    def dearest(self, known: Floats, missing: NDArray[np.bool_]) -> Ints:
        """For each statement the missing token that is likely to cost most, shape (statements,)."""
        have = (known < 0).ravel()
        keys, size = self.key.ravel()[have], int(self.key.max()) + 1
        sums, counts = np.bincount(keys, known.ravel()[have], size), np.bincount(keys, minlength=size)
        likely = (sums / np.maximum(counts, 1))[self.key]
        dearest: Ints = np.where(missing, likely, np.inf).argmin(axis=1)
        return dearest


def hidden_with(statement: Encoded, column: int, pll: PLL) -> Sequence[int]:
    """Positions that are masked while the scored token number `column` is predicted (methods 1.2)."""
    scored, words = statement.scored, statement.words
    position = scored[column]
    if pll == "original":
        return [position]
    if pll == "whole_answer" and statement.answer.start <= column < statement.answer.stop:
        return scored[statement.answer]
    if pll == "sentence_l2r":  # as published: the closing special token is hidden too
        return range(position, len(statement.ids))
    if pll == "answer_l2r+word_l2r" and statement.answer.start <= column < statement.answer.stop:
        return scored[column : statement.answer.stop]
    hidden = [position]
    for later in scored[column + 1 :]:
        if words[later] is None or words[later] != words[position]:
            break
        hidden.append(later)
    return hidden


def _parts(window: Window) -> Iterator[Window]:
    """The window's prompts, as many together as have inputs of few enough tokens."""
    statements: list[Encoded] = []
    sizes: list[int] = []
    tokens, rest = 0, iter(window.statements)
    for size in window.sizes:
        options = list(islice(rest, size))
        more = sum(len(statement.ids) * len(statement.scored) for statement in options)
        if sizes and tokens + more > WINDOW:
            yield Window(statements, sizes)
            statements, sizes, tokens = [], [], 0
        statements += options
        sizes.append(size)
        tokens += more
    yield Window(statements, sizes)


class MaskedModel(AnsweringModel):
    """Log-probability of each token given the rest of the statement, as far as the PLL variant shows it."""

    kind = "masked"
    special_tokens = True

    @property
    def blank(self) -> str:
        return str(self.tokenizer.mask_token)

    @property
    def mask(self) -> int:
        return int(self.tokenizer.mask_token_id)

    def hook_head(self, narrow: Narrow) -> RemovableHandle:
        """Behind the encoder: the head transforms the states, too, before its last layer."""

        def hook(module: torch.nn.Module, args: Any, output: Any) -> Any:
            output["last_hidden_state"] = narrow(output["last_hidden_state"])
            return output

        handle: RemovableHandle = self.network.base_model.register_forward_hook(hook)
        return handle

    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        for part in _parts(window):
            yield from self._score_part(part, scoring)

    def _score_part(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        asks = Asks.of(window.statements, scoring.pll, self.mask)
        values = np.full(len(asks.input), np.nan)
        if scoring.decide:
            return self._decide(window, asks, values, scoring)
        self._compute(asks, np.arange(len(asks.inputs)), values, len(window.statements))
        found = [values[row[row >= 0]] for row in asks.of_statement]
        return by_prompt(window, found)

    def _decide(self, window: Window, asks: Asks, values: Floats, scoring: Scoring) -> Iterator[OptionScores]:
        """The answers' first tokens; then each prompt's best options to the end; then what can win, token by token.

        Each round takes of each prompt as many options as fill a usual batch: with fewer, less is computed in vain. It
        does not ask the budget, so that the bounds which are left do not depend on the machine.
        """
        table = asks.of_statement
        scored = table >= 0
        pruning = OptionPruning(np.array(window.sizes), scored.sum(axis=1), scoring)
        prompts = np.repeat(np.arange(len(window.sizes)), window.sizes)
        costs = Costs.of(asks, prompts)
        wanted = np.concatenate([row[s.answer][:1] for row, s in zip(table, window.statements, strict=True)])
        first, statements, before = self.first_pass.share, len(window.statements), self.usage.positions
        self._compute(asks, np.unique(asks.input[wanted]), values, first * statements)
        looked = self.usage.positions - before
        most, leaders_only, told = scoring.decide, True, first
        while True:
            missing = scored & np.isnan(values[table])
            found = np.where(scored & ~missing, values[table], 0.0)
            complete = np.logical_not(missing.any(axis=1))
            advancing = pruning.next(found.sum(axis=1), complete, most)
            done = self.first_pass.done(looked, self.usage.positions - before) if len(advancing) else 1.0
            self.usage.add("score", (done - told) * statements)
            told = done
            if not len(advancing):
                break
            if leaders_only:
                wanted = table[advancing][missing[advancing]]
            else:
                wanted = table[advancing, costs.dearest(found, missing)[advancing]]
            leaders_only = False
            most = max(ROUND // (pruning.running(advancing) * int(asks.length.max())), 1)
            self._compute(asks, np.unique(asks.input[wanted]), values, 0)
        self.first_pass.learn(looked, self.usage.positions - before)
        return by_prompt(window, [row[use] for row, use in zip(found, scored, strict=True)], complete)

    def _compute(self, asks: Asks, inputs: Ints, values: Floats, statements: float) -> None:
        """Fill in the values of all asks of the given inputs; `statements`: how many are done by this."""
        order = inputs[np.argsort(asks.length[inputs], kind="stable")]
        total = int(asks.length[inputs].sum())
        work = self._forward if self.use_fast_path else self._forward_reference
        found: list[tuple[Ints, torch.Tensor]] = []
        start = 0
        while start < len(order):
            ahead = asks.length[order[start : start + self.budget.tokens]]
            places = np.arange(1, len(ahead) + 1) * ahead
            padded = places - np.cumsum(ahead)
            fits = (places <= self.budget.tokens) & (padded <= PADDED * self.budget.tokens)
            batch = order[start : start + max(int(fits.sum()), 1)]
            start += len(batch)
            positions, filled = len(batch) * int(asks.length[batch].max()), int(asks.length[batch].sum())
            found.extend(self.budget.run(lambda part: work(asks, part), batch, positions))
            self.usage.add("score", statements * filled / total, positions, positions - filled)
        for answered, log_probs in found:
            values[answered] = known(log_probs)

    @torch.inference_mode()
    def _forward(self, asks: Asks, inputs: Ints) -> tuple[Ints, torch.Tensor]:
        """One pass over the inputs: their asks, and the log-probability of each ask's token."""
        longest = int(asks.length[inputs].max())
        ids = np.zeros((len(inputs), longest), np.int64)
        for row, index in enumerate(inputs):
            ids[row, : asks.length[index]] = asks.inputs[index]
        seen = np.arange(longest) < asks.length[inputs][:, None]
        ids[~seen] = self.tokenizer.pad_token_id or 0
        answered, rows = asks.of_inputs(inputs)
        places, slot = np.unique(rows * longest + asks.position[answered], return_inverse=True)
        logits = self.logits_at(
            self.to_device(places),
            input_ids=self.to_device(ids),
            attention_mask=None if seen.all() else self.to_device(seen.astype(np.int64)),
        )
        where = self.to_device(slot)
        log_probs = logits[where, self.to_device(asks.target[answered])].float() - log_sum_exp(logits)[where]
        return answered, log_probs.clamp(max=0.0)

    def _forward_reference(self, asks: Asks, inputs: Ints) -> tuple[Ints, torch.Tensor]:
        """The same without padding and with the head everywhere."""
        answered, values = [], []
        for batch in reference.equal_lengths([asks.inputs[i] for i in inputs], self.budget):
            chosen, rows = asks.of_inputs(inputs[batch])
            shown = [asks.inputs[i] for i in inputs[batch]]
            answered.append(chosen)
            values.append(
                reference.masked_log_probs(self.network, shown, rows, asks.position[chosen], asks.target[chosen])
            )
        return np.concatenate(answered), torch.from_numpy(np.concatenate(values))

    @cached_property
    @telling_out_of_memory()
    def use_fast_path(self) -> bool:
        """Whether padding and a head at few positions leave the scores unchanged: compared once with the reference."""
        generator = np.random.default_rng(0)
        ids = generator.integers(self.network.config.get_text_config().vocab_size, size=(6, 12))
        inputs = [(*map(int, row[: 6 + i % 4]), self.mask, *map(int, row[9:])) for i, row in enumerate(ids)]
        count = np.arange(len(inputs))
        asks = Asks(inputs, count, np.array([6 + i % 4 for i in count]), ids[:, 8], count[:, None])
        order, expected = self._forward_reference(asks, count)
        try:
            found = self._forward(asks, count)[1]
        except REFUSALS as error:
            return self.refused(error)  # the network's parts do not fit together this way
        off = float((found.double().cpu()[order] - expected).abs().max())
        return off <= self.tolerance or self.note_reference(f"off by {off:.2g} in the self-check")
