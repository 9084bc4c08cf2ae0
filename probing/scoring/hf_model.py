"""What causal and masked models share: the network, its card, its batches and the work done so far."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from probing.errors import BadInput, UnsupportedModel
from probing.language_model import Kind, ModelCard, OptionScores, Request, Scoring, Usage
from probing.scoring import reference
from probing.scoring.batching import Budget, ceiling, is_out_of_memory
from probing.scoring.pruning import FirstPassShare
from probing.scoring.tokens import Encoded, Encoder, Window, windows

Floats = NDArray[np.float64]
# Token ids, and the position whose output tells what stands at the blank.
Input = tuple[tuple[int, ...], int]
Narrow = Callable[[torch.Tensor], torch.Tensor]

# What networks make of inputs that they are not written for: the self-checks take it for a no.
REFUSALS = (TypeError, ValueError, RuntimeError, LookupError, AttributeError)
# The self-check compares single tokens. Half precision is off by the steps in which it rounds logits: SmolLM2 by up to
# 3, networks that ignore a mask by 20 and more.
TOLERANCE = 2e-4
HALF_STEPS = 8
# The softmax's temporary: what stays in a CPU's cache, what fills a GPU.
SOFTMAX_ELEMENTS = {"cpu": 2**21, "cuda": 2**28}


class HFModel(ABC):
    """A Hugging Face network and its tokenizer; the kinds add how a window of statements is scored."""

    kind: Kind
    special_tokens: bool

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        card: ModelCard | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.encoder = Encoder(tokenizer, special_tokens=self.special_tokens)
        self.card = card or self._card_of(network)
        self.usage = Usage()
        self.first_pass = FirstPassShare()
        config = network.config.get_text_config()
        self._vocabulary: int = config.vocab_size
        self.longest = min(getattr(config, "max_position_embeddings", 2**31), tokenizer.model_max_length)
        self.budget = Budget(network.device, ceiling(network), batch_tokens, self.usage.notes)

    @classmethod
    def _card_of(cls, network: PreTrainedModel) -> ModelCard:
        return ModelCard(
            id=network.config.name_or_path or type(network).__name__,
            kind=cls.kind,
            architecture=type(network).__name__,
            parameters=network.num_parameters(),
        )

    @property
    def device(self) -> str:
        return str(self.network.device)

    @property
    def dtype(self) -> str:
        return str(self.network.dtype).removeprefix("torch.")

    @property
    def batch_tokens(self) -> int:
        return self.budget.tokens

    def to_device(self, array: NDArray[np.int64]) -> torch.Tensor:
        return to_device(array, self.network.device)

    def refused(self, error: Exception) -> bool:
        """Record what the network made of the fast way; memory that ran out says nothing about it."""
        if is_out_of_memory(error):
            raise error
        return self.note_reference(type(error).__name__)

    def note_reference(self, reason: str) -> bool:
        """Record that the fast way is not taken; False, for the self-checks to return."""
        self.usage.notes.append(f"scored the reference implementation: {reason}")
        return False

    @property
    @abstractmethod
    def blank(self) -> str:
        """What stands in a blank that is not scored."""

    def logits_at(self, places: torch.Tensor, **inputs: Any) -> torch.Tensor:
        """Logits of shape (places, vocabulary): the head sees only some places of the flattened batch."""

        def narrow(states: torch.Tensor) -> torch.Tensor:
            return states.flatten(0, 1)[places.to(states.device)][None]  # a spread network has its head elsewhere

        hook = self.hook_head(narrow)
        try:
            logits: torch.Tensor = self.network(**inputs).logits
        finally:
            hook.remove()
        if logits.shape[:2] != (1, len(places)):
            raise RuntimeError("the head is not called as expected")
        return logits[0]

    @abstractmethod
    def hook_head(self, narrow: Narrow) -> RemovableHandle:
        """Until the hook is removed, the head gets its hidden states, shape (rows, places, hidden), narrowed."""

    def at_blanks(self, inputs: Sequence[Input], statements: float) -> Iterator[tuple[Sequence[Input], torch.Tensor]]:
        """Batches of inputs with the logits at their blanks, shape (inputs, vocabulary), in any order.

        `statements`: how many are done by all of this.
        """
        total = sum(len(ids) for ids, _ in inputs)
        for indices in reference.equal_lengths([ids for ids, _ in inputs], self.budget):
            batch = [inputs[index] for index in indices]
            positions = len(batch) * len(batch[0][0])
            yield from self.budget.run(lambda part: (part, self._blank_logits(part)), batch, positions)
            self.usage.add("fill", statements * positions / total, positions)

    @torch.inference_mode()
    def _blank_logits(self, batch: Sequence[Input]) -> torch.Tensor:
        """One pass over inputs of one length."""
        length = len(batch[0][0])
        ids = self.to_device(np.array([ids for ids, _ in batch]))
        places = self.to_device(np.arange(len(batch)) * length + np.array([position for _, position in batch]))
        if self.use_fast_path:
            return self.logits_at(places, input_ids=ids)
        logits: torch.Tensor = self.network(input_ids=ids).logits.flatten(0, 1)[places]
        return logits

    @cached_property
    @torch.inference_mode()
    def tolerance(self) -> float:
        """How far a token's log-probability may lie from the reference implementation's in the self-check."""
        if self.network.dtype.itemsize > 2:
            return TOLERANCE
        ids = np.random.default_rng(0).integers(self._vocabulary, size=(1, 12))
        logits = self.network(input_ids=self.to_device(ids)).logits.nan_to_num(0.0, 0.0, 0.0)
        return HALF_STEPS * torch.finfo(self.network.dtype).eps * float(logits.abs().max())

    def score(self, asked: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        encoder = self.encoder if scoring.start else self.encoder.without_start()
        if self.kind == "masked" and scoring.pll == "whole_answer" and scoring.span == "answer":
            encoder = encoder.apart()
        for window in windows(asked, encoder, self.blank, scoring.span):
            for statement in window.statements:
                self.refuse_unfit(statement.ids)
                self._refuse_empty(statement)
            yield from self._score_window(window, scoring)

    def _refuse_empty(self, statement: Encoded) -> None:
        if not statement.scored:
            raise BadInput(
                f"The tokenizer leaves nothing to score of {self.tokenizer.decode(statement.ids)!r}.",
                "Remove the option or choose another model.",
            )

    def refuse_nothing(self, ids: Sequence[int]) -> None:
        """Raise where a blank is to be filled, or a text continued, that nothing stands before."""
        if not ids:
            raise BadInput(
                f"{self.card.id} has no token to begin with, and nothing stands before the blank.",
                "Choose another template, or a model whose tokenizer has one.",
            )

    def refuse_unfit(self, ids: Sequence[int]) -> None:
        """Raise where the network has no place or no name for a token."""
        if len(ids) > self.longest:
            raise BadInput(
                f"A statement has {len(ids)} tokens, the model takes {self.longest}: "
                f"{self.tokenizer.decode(ids[:20])} ...",
                "Shorten it or choose a model that reads more.",
            )
        if max(ids, default=0) >= self._vocabulary:
            raise UnsupportedModel(
                f"The tokenizer has tokens that the model does not know ({self._vocabulary} or higher).",
                "Save the model with the tokenizer that it was trained with.",
            )

    def check(self) -> None:
        """The self-check, so that loading and not the first part takes its time; `usage.notes` say if it fails."""
        _ = self.use_fast_path

    @property
    @abstractmethod
    def use_fast_path(self) -> bool:
        """Whether the fast way equals the reference implementation on this network; tried once."""

    @abstractmethod
    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]: ...


def to_device(array: NDArray[np.int64], device: torch.device) -> torch.Tensor:
    """Without making the device wait."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def by_prompt(
    window: Window, log_probs: Sequence[Floats], exact: NDArray[np.bool_] | None = None
) -> Iterator[OptionScores]:
    """Hand the statements' token log-probabilities back prompt by prompt."""
    exact = np.ones(len(log_probs), bool) if exact is None else exact
    start = 0
    for size in window.sizes:
        options = slice(start, start + size)
        answers = tuple(statement.answer for statement in window.statements[options])
        yield OptionScores(tuple(log_probs[options]), answers, exact[options])
        start += size


def known(log_probs: torch.Tensor) -> Floats:
    """As float64; NaN stands for what is not computed yet, so a network's own becomes -inf: no less an alarm."""
    found: Floats = np.nan_to_num(log_probs.double().cpu().numpy(), nan=-np.inf, neginf=-np.inf)
    return found


def log_sum_exp(logits: torch.Tensor) -> torch.Tensor:
    """Over the last axis, in float32, a piece at a time; logits of shape (positions, vocabulary)."""
    return torch.cat([piece.float().logsumexp(-1) for piece in pieces(logits)])


def pieces(logits: torch.Tensor) -> Sequence[torch.Tensor]:
    """Of shape (some positions, vocabulary), so small that computing with them is fast."""
    elements = SOFTMAX_ELEMENTS.get(logits.device.type, SOFTMAX_ELEMENTS["cpu"])
    return torch.split(logits, max(elements // logits.shape[-1], 1))
