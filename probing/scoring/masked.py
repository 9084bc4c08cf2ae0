"""Masked models: pseudo-log-likelihood, with each distinct masked input computed once.

Each token of a statement is masked in turn; the PLL variant defines which tokens are masked together with it (methods
1.2). Options of the same length often give the same masked input, which is then computed once for all of them. The
output head runs only at the positions that are predicted. Inputs are sorted by length, so that there is little padding.
For an early decision the first token of each option is scored first, and then the tokens that are likely to lower an
option's score most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

from probing.arrays import Floats, Ids, Ints
from probing.errors import UnsupportedModel
from probing.language_model import PLL, OptionScores, Scoring
from probing.scoring import reference
from probing.scoring.batching import out_of_memory_explained
from probing.scoring.encoded import Encoded
from probing.scoring.hf_model import REFUSALS, Narrow, by_prompt
from probing.scoring.pruning import OptionPruning, decide
from probing.scoring.tensors import computed_values, token_log_probs
from probing.scoring.tokens import Window
from probing.scoring.verbs import AnsweringModel

# Token positions of a round of an early decision.
POSITIONS_PER_ROUND = 1024
# Tokens of the masked inputs that are held at a time; a statement has as many inputs as tokens.
INPUT_TOKENS_PER_PART = 2**24
# Share of the budget by which a batch may be padded: more padding costs more than a further batch.
MAX_PADDING = 1 / 16


@dataclass(frozen=True)
class Predictions:
    """Predictions of masked tokens that a window needs.

    `inputs`: the distinct masked inputs. `input`, `position` and `target`: each prediction's input, the position of the
    token in it, and the token itself; shape (predictions,).
    `of_statement`: the predictions of each statement's scored tokens, shape (statements, most tokens), -1 past the end.
    """

    inputs: list[Ids]
    input: Ints
    position: Ints
    target: Ints
    of_statement: Ints

    @classmethod
    def of(cls, statements: Sequence[Encoded], pll: PLL, mask: int) -> "Predictions":
        inputs: dict[Ids, int] = {}
        predictions: dict[tuple[int, int, int], int] = {}
        table = np.full((len(statements), max(len(s.scored) for s in statements)), -1)
        for row, statement in enumerate(statements):
            for column, position in enumerate(statement.scored):
                ids = list(statement.ids)
                for hidden in hidden_with(statement, column, pll):
                    ids[hidden] = mask
                index = inputs.setdefault(tuple(ids), len(inputs))
                prediction = (index, position, statement.ids[position])
                table[row, column] = predictions.setdefault(prediction, len(predictions))
        columns = np.array(list(predictions), np.int64).reshape(-1, 3)
        return cls(list(inputs), columns[:, 0], columns[:, 1], columns[:, 2], table)

    @cached_property
    def length(self) -> Ints:
        return np.array([len(ids) for ids in self.inputs])

    @cached_property
    def _by_input(self) -> tuple[Ints, Ints]:
        """Sort the predictions by input; return their order, and where the predictions of each input begin in it."""
        order = np.argsort(self.input, kind="stable")
        return order, np.searchsorted(self.input[order], np.arange(len(self.inputs) + 1))

    def of_inputs(self, inputs: Ints) -> tuple[Ints, Ints]:
        """Return all predictions of the given inputs, and for each the place of its input among these."""
        order, begin = self._by_input
        counts = begin[inputs + 1] - begin[inputs]
        predictions = np.concatenate([order[begin[i] : begin[i + 1]] for i in inputs])
        return predictions, np.repeat(np.arange(len(inputs)), counts)


class MaskedModel(AnsweringModel):
    """Masked model: scores each token given those tokens of the statement that the PLL variant does not mask."""

    kind = "masked"
    special_tokens = True

    @property
    def blank(self) -> str:
        return str(self.tokenizer.mask_token)

    @property
    def mask(self) -> int:
        return int(self.tokenizer.mask_token_id)

    @property
    def added_tokens(self) -> Ids:
        """The tokens in texts that are not made of them: the mask."""
        return (self.mask,)

    def hook_head(self, narrow: Narrow) -> RemovableHandle:
        """Narrow the encoder's output, since the head transforms the states before its last layer too."""

        def hook(module: torch.nn.Module, args: Any, output: Any) -> Any:
            output["last_hidden_state"] = narrow(output["last_hidden_state"])
            return output

        handle: RemovableHandle = self.network.base_model.register_forward_hook(hook)
        return handle

    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        for part in _parts(window):
            yield from self._score_part(part, scoring)

    def _score_part(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        predictions = Predictions.of(window.statements, scoring.pll, self.mask)
        size = len(predictions.inputs)  # what fills the batches of this kind of model
        early = scoring.decide > 0 and self.trial.decides_early(size, window.mean_options)
        with self.trial.timed(early, size):
            if early:
                rounds = MaskedRounds(self, window, predictions, scoring.decide)
                pruning = OptionPruning(np.array(window.sizes), rounds.scored.sum(axis=1), scoring)
                log_probs, exact = decide(rounds, pruning, self.first_pass, self.usage)
                return by_prompt(window, [row[use] for row, use in zip(log_probs, rounds.scored, strict=True)], exact)
            values = np.full(len(predictions.input), np.nan)
            self.compute(predictions, np.arange(size), values, len(window.statements))
            return by_prompt(window, [values[row[row >= 0]] for row in predictions.of_statement])

    def compute(self, predictions: Predictions, inputs: Ints, values: Floats, statements: float) -> None:
        """Compute the given inputs and write the log-probabilities of all their predictions to `values`.

        `statements`: how many scored statements to record as work.
        """
        order = inputs[np.argsort(predictions.length[inputs], kind="stable")]
        total = int(predictions.length[inputs].sum())
        work = self._forward if self.use_fast_path else self._forward_reference
        results: list[tuple[Ints, torch.Tensor]] = []
        start = 0
        while start < len(order):
            ahead = predictions.length[order[start : start + self.budget.tokens]]
            places = np.arange(1, len(ahead) + 1) * ahead
            padded = places - np.cumsum(ahead)
            fits = (places <= self.budget.tokens) & (padded <= MAX_PADDING * self.budget.tokens)
            batch = order[start : start + max(int(fits.sum()), 1)]
            start += len(batch)
            positions, filled = len(batch) * int(predictions.length[batch].max()), int(predictions.length[batch].sum())
            results.extend(self.budget.run(lambda part: work(predictions, part), batch, positions))
            self.usage.add("score", statements * filled / total, positions, positions - filled)
        for predicted, log_probs in results:
            values[predicted] = computed_values(log_probs)

    @torch.inference_mode()
    def _forward(self, predictions: Predictions, inputs: Ints) -> tuple[Ints, torch.Tensor]:
        """Compute the inputs in one pass; return their predictions, and the log-probability of each target."""
        longest = int(predictions.length[inputs].max())
        ids = np.zeros((len(inputs), longest), np.int64)
        for row, index in enumerate(inputs):
            ids[row, : predictions.length[index]] = predictions.inputs[index]
        is_token = np.arange(longest) < predictions.length[inputs][:, None]
        ids[~is_token] = self.tokenizer.pad_token_id or 0
        predicted, rows = predictions.of_inputs(inputs)
        places, inverse = np.unique(rows * longest + predictions.position[predicted], return_inverse=True)
        logits = self.logits_at(
            self.to_device(places),
            input_ids=self.to_device(ids),
            attention_mask=None if is_token.all() else self.to_device(is_token.astype(np.int64)),
        )
        targets = self.to_device(predictions.target[predicted])
        return predicted, token_log_probs(logits, self.to_device(inverse), targets)

    def _forward_reference(self, predictions: Predictions, inputs: Ints) -> tuple[Ints, torch.Tensor]:
        """Compute the inputs by the reference implementation, and return what `_forward` returns."""
        parts, log_probs = [], []
        for batch in reference.equal_lengths([predictions.inputs[i] for i in inputs], self.budget):
            part, rows = predictions.of_inputs(inputs[batch])
            ids = [predictions.inputs[i] for i in inputs[batch]]
            parts.append(part)
            position, target = predictions.position[part], predictions.target[part]
            log_probs.append(reference.masked_log_probs(self.network, ids, rows, position, target))
        return np.concatenate(parts), torch.from_numpy(np.concatenate(log_probs))

    @cached_property
    @out_of_memory_explained()
    def use_fast_path(self) -> bool:
        """Return whether scores with padding, and the head at few positions, equal the reference; compared once."""
        self._refuse_causal_attention()
        generator = np.random.default_rng(0)
        ids = generator.integers(self.network.config.get_text_config().vocab_size, size=(6, 12))
        inputs = [(*map(int, row[: 6 + i % 4]), self.mask, *map(int, row[9:])) for i, row in enumerate(ids)]
        count = np.arange(len(inputs))
        predictions = Predictions(inputs, count, np.array([6 + i % 4 for i in count]), ids[:, 8], count[:, None])
        order, expected = self._forward_reference(predictions, count)
        try:
            log_probs = self._forward(predictions, count)[1]
        except REFUSALS as error:
            return self.refused(error)  # the network's encoder and head cannot be separated like this
        off = float((log_probs.double().cpu()[order] - expected).abs().max())
        return off <= self.tolerance or self.note_reference(f"off by {off:.2g} in the self-check")

    @torch.inference_mode()
    def _refuse_causal_attention(self) -> None:
        """Raise if a mask is predicted from the tokens before it alone (a masked head on a decoder)."""
        before, after, other = np.random.default_rng(0).integers(self.limits.vocabulary, size=(3, 6)).tolist()
        texts = [(*before, self.mask, *after), (*other, self.mask, *after), (*before, self.mask, *other)]
        usual, other_before, other_after = (self.sample_logits(ids)[len(before)] for ids in texts)
        if torch.equal(usual, other_after) and not torch.equal(usual, other_before):
            raise UnsupportedModel(
                f"{self.card.architecture} predicts a hidden token without the tokens after it.",
                'Set "is_decoder": false in config.json if it was trained to read in both directions.',
            )


class MaskedRounds:
    """Rounds of an early decision on masked inputs.

    The first pass predicts the first token of each option. The second round completes the best `decide` options of
    each prompt; every further round predicts one more token of each option that is continued, the one that is likely to
    lower its score most.
    """

    def __init__(self, model: MaskedModel, window: Window, predictions: Predictions, decide: int) -> None:
        self.options_per_prompt = decide
        self.scored = predictions.of_statement >= 0
        self._model, self._window, self._predictions = model, window, predictions
        self._values = np.full(len(predictions.input), np.nan)
        self._prompts = np.repeat(np.arange(len(window.sizes)), window.sizes)
        self._tokens = _tokens_of_prompts(predictions, self._prompts)
        self._completes_options = True

    def first_pass(self, statements: float) -> None:
        rows = zip(self._predictions.of_statement, self._window.statements, strict=True)
        self._compute(np.concatenate([row[statement.answer][:1] for row, statement in rows]), statements)

    def log_probs(self) -> Floats:
        return np.where(self.scored, self._values[self._predictions.of_statement], 0.0)

    def advance(self, options: Ints) -> None:
        """Complete the options in the first of these rounds, and predict one more token of each in the others.

        The next round continues as many options of each prompt as take about `POSITIONS_PER_ROUND` altogether: smaller
        rounds waste less computation, larger ones fill batches better. The size is fixed and not taken from the budget,
        so that the remaining upper bounds do not depend on the machine.
        """
        table, log_probs = self._predictions.of_statement, self.log_probs()
        if self._completes_options:
            needed = table[options][np.isnan(log_probs[options])]
        else:
            needed = table[options, _dearest(self._tokens, log_probs)[options]]
        self._completes_options = False
        prompts = len(np.unique(self._prompts[options]))
        longest = int(self._predictions.length.max())
        self.options_per_prompt = max(POSITIONS_PER_ROUND // (prompts * longest), 1)
        self._compute(needed, 0.0)

    def _compute(self, needed: Ints, statements: float) -> None:
        inputs = np.unique(self._predictions.input[needed])
        self._model.compute(self._predictions, inputs, self._values, statements)


def _tokens_of_prompts(predictions: Predictions, prompts: Ints) -> Ints:
    """Return a number for each pair of prompt and token, shape of `Predictions.of_statement`.

    A pair becomes one number, because numpy finds distinct numbers far faster than distinct rows.
    """
    target = predictions.target[predictions.of_statement]
    pairs = prompts[:, None] * (int(predictions.target.max()) + 1) + target
    numbers: Ints = np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape)
    return numbers


def _dearest(tokens: Ints, log_probs: Floats) -> Ints:
    """Return the column of the missing token (NaN) with the lowest expected log-probability, for each statement.

    What is expected is the mean over those statements of the same prompt that have the token computed, 0 if none has.
    `tokens`: of `_tokens_of_prompts`.
    """
    computed = (log_probs < 0).ravel()
    known, size = tokens.ravel()[computed], int(tokens.max()) + 1
    sums, counts = np.bincount(known, log_probs.ravel()[computed], size), np.bincount(known, minlength=size)
    expected = (sums / np.maximum(counts, 1))[tokens]
    columns: Ints = np.where(np.isnan(log_probs), expected, np.inf).argmin(axis=1)
    return columns


def hidden_with(statement: Encoded, column: int, pll: PLL) -> Sequence[int]:
    """Return the positions that are masked while the scored token number `column` is predicted (methods 1.2)."""
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
    """Split the window into groups of whole prompts whose masked inputs have few enough tokens to be held."""
    statements: list[Encoded] = []
    sizes: list[int] = []
    tokens, stream = 0, iter(window.statements)
    for size in window.sizes:
        options = list(islice(stream, size))
        input_tokens = sum(len(statement.ids) * len(statement.scored) for statement in options)
        if sizes and tokens + input_tokens > INPUT_TOKENS_PER_PART:
            yield Window(statements, sizes)
            statements, sizes, tokens = [], [], 0
        statements += options
        sizes.append(size)
        tokens += input_tokens
    yield Window(statements, sizes)
