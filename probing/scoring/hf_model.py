"""Base classes of all kinds of models: the network, its card, its batches, the work done so far, and the verbs.

A network's limits are how long a text may be, and which tokens it knows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from inspect import signature
from itertools import chain
from threading import get_ident
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from probing.arrays import Bools, Floats, Ids, Ints
from probing.errors import BadInput, TooLong, UnsupportedModel
from probing.files.listing import TOKENIZER_FILES
from probing.kinds import Kind
from probing.language_model import ModelCard, OptionScores, Request, Scoring, Usage
from probing.machine_memory import available_memory
from probing.scoring import reference
from probing.scoring.batching import Budget, batch_bytes, ceiling, is_out_of_memory, most_cached_nodes
from probing.scoring.chats import in_chat, with_prompts
from probing.scoring.encoded import Encoded
from probing.scoring.network_state import ScoringState, in_scoring_state
from probing.scoring.pruning import DecisionTrial, FirstPassShare
from probing.scoring.quantised import narrowest_dtype
from probing.scoring.tensors import to_device
from probing.scoring.tokens import (
    Encode,
    Encoder,
    Window,
    chosen_start,
    encode_once,
    facts_of,
    unknown,
    windows,
)
from probing.start_token import AUTO, TokenizerFacts, refuse_start

Narrow = Callable[[torch.Tensor], torch.Tensor]
# Exceptions that networks raise for inputs that they do not support; the self-check then fails.
REFUSALS = (TypeError, ValueError, RuntimeError, LookupError, AttributeError)
# The self-check compares the log-probabilities of single tokens. In half precision they differ by a few of the steps in
# which logits are rounded: by up to 3 for SmolLM2, by 20 and more for networks that ignore a mask.
TOLERANCE = 2e-4
HALF_STEPS = 8
STATES_SHARE = 0.125  # of the free memory, on a CPU
FAST = "fast"  # the way of sharing work that all kinds of models have


class BlankInput(NamedTuple):
    """Token ids, and the position whose output predicts the token at the blank; `source` as in `Encoded`."""

    ids: Ids
    position: int
    source: Ids = ()


class HFModel(ABC):
    """A Hugging Face network and its tokenizer; subclasses implement how a window of statements is scored."""

    kind: Kind
    special_tokens: bool

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        card: ModelCard | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        self.network = network
        self.scoring_state = ScoringState.of(network)
        self.tokenizer = tokenizer
        self.encoder = self.make_encoder(AUTO)
        facts, option_only = self._tokenizer_facts(AUTO), self.encoder.option_only
        self.card = replace(card or self._card_of(network), tokenizer=facts, option_only=option_only)
        self.shared: Encode | None = None
        self.usage = Usage()
        self.first_pass = FirstPassShare()
        self.trial = DecisionTrial(network.device.type == "cuda", self.usage.notes)
        self.limits = TextLimits(network, tokenizer, self.card.id)
        self.budget = Budget(network.device, ceiling(network), batch_tokens, self.usage.notes)

    def __repr__(self) -> str:
        """Return the model in a line, because the network's layers would fill screens."""
        parameters = f"{self.card.parameters:,} parameters" if self.card.parameters else self.card.architecture
        return f"<{type(self).__name__} {self.card.id}: {parameters}, {self.dtype} on {self.network.device}>"

    @classmethod
    def _card_of(cls, network: PreTrainedModel) -> ModelCard:
        return ModelCard(
            id=network.config.name_or_path or type(network).__name__,
            kind=cls.kind,
            architecture=type(network).__name__,
            parameters=network.num_parameters(),
        )

    def starting(self, start: str) -> Self:
        """Return this model with another start token; the network, its self-check and all counts are shared.

        Raises `BadInput` if the tokenizer does not have the token, or if models of this kind have no choice.
        """
        refuse_start(start, self.kind)
        started = copy(self)
        started.encoder = self.make_encoder(start)
        started.card = replace(self.card, tokenizer=self._tokenizer_facts(start))
        return started

    def share_tokens(self, memory: dict[Any, Any]) -> None:
        """Share tokenized statements with other models by this memory, where the record tells the tokenizer's files."""
        files = [(name, digest) for name, digest in sorted(self.card.files.items()) if name in TOKENIZER_FILES]
        if files:
            self.shared = partial(encode_once, memory, (self.card.architecture, *files))

    def make_encoder(self, start: str) -> Encoder:
        """Return the encoder with the start token that a setting chooses."""
        return Encoder(self.tokenizer, special_tokens=self.special_tokens, start=start)

    @classmethod
    def reading_blanks(cls, tokenizer: PreTrainedTokenizerBase) -> Encoder:
        """Return the encoder by which models of this kind read blanks, made from the tokenizer alone."""
        return Encoder(tokenizer, special_tokens=cls.special_tokens)

    @property
    def added_tokens(self) -> Ids:
        """The tokens in texts that are not made of them: the start token."""
        return self.encoder.start

    @property
    def reader(self) -> PreTrainedModel:
        """The part of the network that turns texts into hidden states."""
        return self.network.base_model

    @property
    def reading_encoder(self) -> Encoder:
        """The encoder for texts that are only read."""
        return self.encoder

    def _tokenizer_facts(self, start: str) -> TokenizerFacts:
        return facts_of(self.tokenizer, None if self.special_tokens else chosen_start(self.tokenizer, start))

    @property
    def device(self) -> str:
        return str(self.network.device)

    @property
    def dtype(self) -> str:
        return str(self.network.dtype).removeprefix("torch.")

    @property
    def batch_tokens(self) -> int:
        return self.budget.tokens

    @cached_property
    def cache_capacity(self) -> int:
        """Return how many positions a KV cache may hold; a single pass may hold as many."""
        return most_cached_nodes(self.network)

    @cached_property
    def state_bytes(self) -> int:
        """Return how much memory the states of a recurrent network may take beside a batch.

        Those of one text may take tens of megabytes, and the weights are read anew for each batch.
        """
        on_cpu = self.network.device.type == "cpu"
        return max(batch_bytes(self.network.device), int(STATES_SHARE * available_memory()) if on_cpu else 0)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of what the network takes, which differ between networks and versions of transformers."""
        return tuple(signature(self.network.forward).parameters)

    def cache_in(self, output: Any) -> dict[str, Any]:
        """Return the cache in a network's output as the argument that continues it; raise `LookupError` without one."""
        for name in output:
            if name in self.arguments and output[name] is not None:
                return {name: output[name]}
        raise LookupError("no cache")

    def to_device(self, array: Ints) -> torch.Tensor:
        return to_device(array, self.network.device)

    def refused(self, error: Exception) -> bool:
        """Note that the network refused the self-check's inputs, and return False; out of memory is raised again."""
        if is_out_of_memory(error):
            raise error
        return self.note_reference("the network does not take the inputs of the fast one")

    def note_reference(self, reason: str) -> bool:
        """Note why the network is scored with the reference implementation, and return False."""
        self.usage.notes.append(f"scored with the reference implementation: {reason}")
        return False

    @property
    @abstractmethod
    def blank(self) -> str:
        """Return the text in blanks that are not scored."""

    def logits_at(self, places: torch.Tensor, **inputs: Any) -> torch.Tensor:
        """Run the network with its head at some places of the flattened batch only; shape (places, vocabulary)."""
        logits: torch.Tensor = self.output_at(places, **inputs).logits[0]
        return logits

    def output_at(self, places: torch.Tensor, **inputs: Any) -> Any:
        """Return all of the network's output with its head at some places only; the logits have one row."""
        thread = get_ident()

        def narrow(states: torch.Tensor) -> torch.Tensor:
            if get_ident() != thread:  # which computes other texts with the same network
                return states
            # The head may be on another device than the first layer.
            return states.flatten(0, 1)[places.to(states.device)][None]

        hook = self.hook_head(narrow)
        try:
            output = self.network(**inputs)
        finally:
            hook.remove()
        if output.logits.shape[:2] != (1, len(places)):
            raise RuntimeError("the head is not called as expected")
        return output

    def hook_head(self, narrow: Narrow) -> RemovableHandle:
        """Apply `narrow` to the head's input, shape (rows, places, hidden size), until the handle is removed."""

        def hook(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            return (narrow(args[0]), *args[1:])

        handle: RemovableHandle = self.network.get_output_embeddings().register_forward_pre_hook(hook)
        return handle

    def at_blanks(
        self, inputs: Sequence[BlankInput], statements: float
    ) -> Iterator[tuple[Sequence[BlankInput], torch.Tensor]]:
        """Yield batches of the inputs, in any order, with the logits at their blanks, shape (inputs, vocabulary).

        `statements`: the number of requests that all inputs together answer, for the record of work.
        """
        total = sum(len(blank.ids) for blank in inputs)
        for indices in reference.equal_lengths([blank.ids for blank in inputs], self.budget):
            batch = [inputs[index] for index in indices]
            positions = len(batch) * len(batch[0].ids)
            yield from self.budget.run(lambda part: (part, self._blank_logits(part)), batch, positions)
            self.usage.add("fill", statements * positions / total, positions)

    @torch.inference_mode()
    def _blank_logits(self, batch: Sequence[BlankInput]) -> torch.Tensor:
        """Compute inputs of one length in one pass."""
        length = len(batch[0].ids)
        ids = self.to_device(np.array([blank.ids for blank in batch]))
        places = self.to_device(np.arange(len(batch)) * length + np.array([blank.position for blank in batch]))
        if self.use_fast_path:
            return self.logits_at(places, input_ids=ids)
        logits: torch.Tensor = self.network(input_ids=ids).logits.flatten(0, 1)[places]
        return logits

    @cached_property
    @torch.inference_mode()
    def tolerance(self) -> float:
        """Return the largest difference from the reference implementation that the self-check accepts."""
        dtype = narrowest_dtype(self.network)
        if dtype.itemsize > 2:
            return TOLERANCE
        ids = tuple(np.random.default_rng(0).integers(self.limits.vocabulary, size=12).tolist())
        logits = self.sample_logits(ids).nan_to_num(0.0, 0.0, 0.0)
        return HALF_STEPS * torch.finfo(dtype).eps * float(logits.abs().max())

    def sample_logits(self, ids: Ids) -> torch.Tensor:
        """Return the network's logits for a text, one row per position."""
        logits: torch.Tensor = self.network(input_ids=self.to_device(np.array([ids]))).logits[0]
        return logits

    @in_scoring_state
    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        encoder = self.encoder if scoring.start else self.encoder.without_start()
        if self.kind == "masked" and scoring.pll == "whole_answer" and scoring.span == "answer":
            encoder = encoder.apart()

        def scores(rendered_requests: Iterator[Request]) -> Iterator[OptionScores | TooLong]:
            for window in windows(rendered_requests, encoder, self.blank, scoring.span, shared=self.shared):
                yield from self._score_fitting(window, scoring)

        rendered = (in_chat(self.card, self.tokenizer, request) for request in requests)
        yield from with_prompts(rendered, scores, encoder, self.blank)

    def _score_fitting(self, window: Window, scoring: Scoring) -> Iterator[OptionScores | TooLong]:
        """Score the prompts of a window; a prompt of which an option is too long is answered by the error."""
        prompts = list(window.prompts)
        errors = [self.limits.first_too_long(statements) for statements in prompts]
        if any(errors):
            window = Window.of([prompt for prompt, error in zip(prompts, errors, strict=True) if not error])
        scores = self._score_window(window, scoring) if window.sizes else iter(())
        for error in errors:
            yield error or next(scores)

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        return unknown(requests, self.encoder, self.blank)

    def check(self) -> str:
        """Run the self-check now, so that loading and not the first score takes its time; a failure is noted.

        Returns the way of sharing work that it found right, "" if there is none.
        """
        with self.scoring_state():
            return FAST if self.use_fast_path else ""

    def take_way(self, way: str) -> bool:
        """Share work in the way that an earlier self-check of this network has found right; return whether it is one.

        The answers of the checks are kept in the instance, where these properties look for them.
        """
        if way == FAST:
            vars(self)["use_fast_path"] = True
        return way == FAST

    @property
    @abstractmethod
    def use_fast_path(self) -> bool:
        """Return whether the fast implementation equals the reference on this network; compared once."""

    @abstractmethod
    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]: ...


def by_prompt(window: Window, log_probs: Sequence[Floats], exact: Bools | None = None) -> Iterator[OptionScores]:
    """Yield the scores of each prompt from the log-probabilities of the window's statements."""
    exact = np.ones(len(log_probs), bool) if exact is None else exact
    start = 0
    for size in window.sizes:
        options = slice(start, start + size)
        statements = window.statements[options]
        yield OptionScores(
            tuple(log_probs[options]),
            tuple(statement.answer for statement in statements),
            exact[options],
            tuple(statement.text for statement in statements),
            tuple(statement.spans for statement in statements),
        )
        start += size


class TextLimits:
    """Checks of tokenized texts before a network reads them.

    `longest`: the most tokens of a text, as the network's config states it, or else the tokenizer. `vocabulary`: the
    number of tokens that the network knows.
    """

    def __init__(self, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
        self.longest = context_length(network) or tokenizer.model_max_length
        self.vocabulary: int = network.config.get_text_config().vocab_size
        self._tokenizer, self._name = tokenizer, name

    def too_long(self, ids: Sequence[int], source: Sequence[int] = (), more: int = 0) -> TooLong | None:
        """Return the error for a text that takes more tokens than the network, None for one that fits.

        `source`: what an encoder reads beside it. `more`: how many tokens are to be written behind it. Raises
        `UnsupportedModel` if it has a token that is not in the vocabulary.
        """
        if source and (error := self.too_long(source)):
            return error
        if len(ids) + more > self.longest:
            text = f"A text takes {len(ids)} tokens" + (f" and its continuation {more}" if more else "")
            return TooLong(
                f"{text}, the model takes {self.longest}: {self._tokenizer.decode(ids[:20])} ...",
                "Shorten it, or choose a model that takes longer texts.",
                self.longest,
            )
        if max(ids, default=0) >= self.vocabulary:
            raise UnsupportedModel(
                f"The tokenizer has tokens that the model does not know ({self.vocabulary} or higher).",
                "Save the model with the tokenizer that it was trained with.",
            )
        return None

    def first_too_long(self, statements: Sequence[Encoded]) -> TooLong | None:
        """Return the error of the first statement that is too long; raise `BadInput` if one has nothing to score."""
        for statement in statements:
            if not statement.scored:
                self._refuse_unscored(statement)
        texts = [*(statement.ids for statement in statements), *(statement.source for statement in statements)]
        # Almost always all fit, which two passes over lengths and tokens tell sooner than a look at each statement.
        longest, highest = max(map(len, texts), default=0), max(chain.from_iterable(texts), default=0)
        if longest <= self.longest and highest < self.vocabulary:
            return None
        return next(filter(None, (self.too_long(statement.ids, statement.source) for statement in statements)), None)

    def _refuse_unscored(self, statement: Encoded) -> None:
        raise BadInput(
            f"The tokenizer leaves nothing to score of {self._tokenizer.decode(statement.ids)!r}.",
            "Remove the option or choose another model.",
        )

    def refuse_empty(self, ids: Sequence[int]) -> None:
        """Raise `BadInput` if no token precedes a blank that is to be filled, or a text that is to be continued."""
        if not ids:
            raise BadInput(
                f"{self._name} has no token to begin with, and nothing stands before the blank.",
                "Choose another template, or a model whose tokenizer has one.",
            )


def context_length(network: PreTrainedModel) -> int:
    """Return how many tokens a network takes at once; 0 if it has no limit of its own.

    RoBERTa and its kin keep the first of their position embeddings for padding.
    """
    limit = int(getattr(network.config.get_text_config(), "max_position_embeddings", None) or 0)
    embeddings = getattr(network.base_model, "embeddings", None)
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return limit if padding is None else limit - padding - 1
