"""Encoder-decoders: the encoder reads each text once, and the decoder scores, fills or continues its blank.

Of the decoder's inputs of a window, those that begin another one are left out. The rest are grouped by the length of
what the encoder reads, so that only the decoder's side is padded, behind the tokens of a row, which do not attend to
padding.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import groupby, islice, takewhile
from typing import Any, TypeVar

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput

from probing.arrays import Floats, Ids, Ints
from probing.errors import BadConfig, TooLong, UnsupportedModel
from probing.language_model import Continuation, OptionScores, Scoring, Verb
from probing.scoring import reference
from probing.scoring.batching import out_of_memory_explained
from probing.scoring.chats import WITHOUT_CHAT
from probing.scoring.encoded import Encoded
from probing.scoring.generation import TEXTS_PER_WINDOW, continuation, end_tokens, refuse_non_finite
from probing.scoring.hf_model import REFUSALS, BlankInput, by_prompt
from probing.scoring.network_state import in_scoring_state
from probing.scoring.spans import DecoderInput, SpanEncoder, span_encoder
from probing.scoring.tensors import computed_values, token_log_probs
from probing.scoring.tokens import Encoder, Window
from probing.scoring.verbs import AnsweringModel
from probing.template import Prompt

ResultT = TypeVar("ResultT")
# Does a verb's work on some of the decoder's inputs; the states have shape (inputs, length of a source, hidden size).
Work = Callable[[Sequence[DecoderInput], torch.Tensor], ResultT]


class EncoderDecoderModel(AnsweringModel):
    """Encoder-decoder: scores what the decoder writes when the encoder has read the text with a blank (`spans`)."""

    kind = "encoder-decoder"
    special_tokens = True
    encoder: SpanEncoder

    def make_encoder(self, start: str) -> SpanEncoder:
        text = torch.tensor([self.tokenizer("a").input_ids])
        try:
            first = int(self.network.prepare_decoder_input_ids_from_labels(text)[0, 0])
        except REFUSALS as error:  # not all networks can prepare labels, nor do all that can without their settings
            stated = self.network.config.decoder_start_token_id
            if stated is None:
                raise BadConfig(
                    "The config of the model does not say with which token its decoder starts.",
                    "Add decoder_start_token_id and pad_token_id to config.json.",
                ) from error
            first = stated
        return span_encoder(self.tokenizer, first)

    @classmethod
    def reading_blanks(cls, tokenizer: PreTrainedTokenizerBase) -> SpanEncoder:
        return span_encoder(tokenizer)

    @property
    def blank(self) -> str:
        return self.encoder.blank

    @property
    def reader(self) -> PreTrainedModel:
        reader: PreTrainedModel = self.network.get_encoder()
        return reader

    @property
    def reading_encoder(self) -> Encoder:
        return Encoder(self.tokenizer, special_tokens=True)

    def _score_window(self, window: Window, scoring: Scoring) -> Iterator[OptionScores]:
        """Score all options to the end, even where an early decision is asked for: most are a few tokens long."""
        statements = window.statements
        predicted = statements_by_input(statements)
        log_probs: dict[int, Floats] = {}

        def work(inputs: Sequence[DecoderInput], states: torch.Tensor) -> tuple[list[int], torch.Tensor]:
            indices = [index for read in inputs for index in predicted[read]]
            rows = [row for row, read in enumerate(inputs) for _ in predicted[read]]
            return indices, self._log_probs(inputs, states, rows, [statements[index] for index in indices])

        for indices, values in self._passes("score", list(predicted), work, len(statements)):
            ends = np.cumsum([len(statements[index].scored) for index in indices])[:-1]
            log_probs.update(zip(indices, np.split(computed_values(values), ends), strict=True))
        return by_prompt(window, [log_probs[index] for index in range(len(statements))])

    def _log_probs(
        self, inputs: Sequence[DecoderInput], states: torch.Tensor, rows: Sequence[int], statements: Sequence[Encoded]
    ) -> torch.Tensor:
        """Return the log-probabilities of the statements' scored tokens, one statement after the other.

        `rows`: for each statement, which of the inputs predicts its tokens.
        """
        longest = max(len(read.ids) for read in inputs)
        pairs = list(zip(rows, statements, strict=True))
        needed = np.array([row * longest + place - 1 for row, statement in pairs for place in statement.scored])
        targets = np.array([statement.ids[place] for _, statement in pairs for place in statement.scored])
        places, inverse = np.unique(needed, return_inverse=True)
        logits = self._decoder_logits(inputs, states, places)
        return token_log_probs(logits, self.to_device(inverse), self.to_device(targets))

    def at_blanks(
        self, inputs: Sequence[BlankInput], statements: float
    ) -> Iterator[tuple[Sequence[BlankInput], torch.Tensor]]:
        """Yield logits as the base class does; what the decoder reads ends at the blank."""

        def work(reads: Sequence[DecoderInput], states: torch.Tensor) -> tuple[Sequence[BlankInput], torch.Tensor]:
            blanks = [BlankInput(read.ids, len(read.ids) - 1, read.source) for read in reads]
            return blanks, self._decoder_logits(reads, states, _last_places(reads))

        return self._passes("fill", [DecoderInput(blank.source, blank.ids) for blank in inputs], work, statements)

    @in_scoring_state
    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation | TooLong]:
        """Yield what the decoder writes into a prompt's blank, or in answer to a text: the most probable tokens."""
        if chat:
            raise UnsupportedModel(f"{self.card.id} is an encoder-decoder and has no chats.", WITHOUT_CHAT)
        stream = iter(texts)
        while window := [self._begun(text) for text in islice(stream, TEXTS_PER_WINDOW)]:
            written: dict[DecoderInput, Continuation | TooLong] = {}
            for read in window:
                if error := self.limits.too_long(read.ids, read.source, more=tokens):
                    written[read] = error
            distinct = [read for read in dict.fromkeys(window) if read not in written]
            passes = self._passes("generate", distinct, partial(self._write, tokens), len(window), tokens)
            for part in passes if distinct else ():
                written.update(part)
            yield from (written[read] for read in window)

    def _begun(self, text: str | Prompt) -> DecoderInput:
        if isinstance(text, str):
            return self.encoder.unwritten(text)
        return self.encoder.prefix(text.fill("", self.blank))

    @torch.inference_mode()
    def _write(
        self, tokens: int, inputs: Sequence[DecoderInput], states: torch.Tensor
    ) -> dict[DecoderInput, Continuation]:
        """Continue inputs, which are sorted by length, until each has ended or has `tokens` tokens."""
        written: dict[DecoderInput, Continuation] = {}
        for _, group in groupby(enumerate(inputs), key=lambda pair: len(pair[1].ids)):
            rows, reads = zip(*group, strict=True)
            generated = self._continued(tokens, [read.ids for read in reads], states[list(rows)])
            pairs = zip(reads, generated, strict=True)
            written.update((read, continuation(self.tokenizer, self._up_to_end(ids))) for read, ids in pairs)
        return written

    def _continued(self, tokens: int, prefixes: Sequence[Ids], states: torch.Tensor) -> list[list[int]]:
        """Return the `tokens` most probable tokens after prefixes of one length, fewer if all have ended before."""
        ids, cache = self.to_device(np.array(prefixes)), dict[str, Any]()
        columns: list[torch.Tensor] = []
        ended = torch.zeros(len(prefixes), dtype=torch.bool, device=states.device)
        ends = torch.tensor(self._ends, device=states.device)
        while len(columns) < tokens and not ended.all():
            output: Any = self.network(**_encoded(states), decoder_input_ids=ids, **cache, use_cache=True)
            logits, cache = output.logits[:, -1], self.cache_in(output)
            refuse_non_finite(self.card.id, logits)
            columns.append(logits.argmax(-1))
            ids = columns[-1][:, None]
            ended |= torch.isin(columns[-1], ends)
        generated: list[list[int]] = torch.stack(columns, dim=1).tolist()
        return generated

    @property
    def _ends(self) -> list[int]:
        return [*end_tokens(self), *self.encoder.ends]

    def _up_to_end(self, generated: list[int]) -> list[int]:
        return list(takewhile(lambda token: token not in self._ends, generated))

    def _passes(
        self, verb: Verb, inputs: Sequence[DecoderInput], work: Work[ResultT], statements: float, extra: int = 0
    ) -> Iterator[ResultT]:
        """Do the work on batches of inputs, in any order; each distinct source is read once.

        `statements`: the number of requests that all inputs together answer. `extra`: how many positions the work adds
        to each input.
        """
        by_source: dict[Ids, list[DecoderInput]] = {}
        for read in inputs:
            by_source.setdefault(read.source, []).append(read)
        sources = list(by_source)
        share = statements / (sum(map(len, sources)) + sum(len(read.ids) + extra for read in inputs))
        for indices in reference.equal_lengths(sources, self.budget):
            batch = [sources[index] for index in indices]
            positions = len(batch) * len(batch[0])
            for part, states in self.budget.run(lambda part: (part, self._read(part)), batch, positions):
                read_positions = len(part) * len(part[0])
                self.usage.add(verb, share * read_positions, read_positions)
                rows = [read for source in part for read in by_source[source]]
                yield from self._decoder_passes(verb, rows, dict(zip(part, states, strict=True)), work, share, extra)

    def _decoder_passes(
        self,
        verb: Verb,
        inputs: Sequence[DecoderInput],
        states: Mapping[Ids, torch.Tensor],
        work: Work[ResultT],
        share: float,
        extra: int,
    ) -> Iterator[ResultT]:
        """Do the work on inputs whose sources have one length, with little padding.

        `states`: the encoder's, of each source. `share`: how many statements a position stands for.
        """

        def work_on(part: Sequence[DecoderInput]) -> ResultT:
            return work(part, torch.stack([states[read.source] for read in part]))

        left = sorted(inputs, key=lambda read: len(read.ids))
        while left:
            # A row takes memory for its own positions, and for the keys and values of what the encoder read.
            sizes = np.array([len(read.ids) + extra + len(read.source) for read in left[: self.budget.tokens]])
            batch = left[: max(int((np.arange(1, len(sizes) + 1) * sizes <= self.budget.tokens).sum()), 1)]
            left = left[len(batch) :]
            yield from self.budget.run(work_on, batch, len(batch) * int(sizes[len(batch) - 1]))
            filled = sum(len(read.ids) + extra for read in batch)
            positions = len(batch) * (len(batch[-1].ids) + extra)
            self.usage.add(verb, share * filled, positions, positions - filled)

    @torch.inference_mode()
    def _read(self, sources: Sequence[Ids]) -> torch.Tensor:
        """Return the encoder's states of sources of one length, shape (sources, length, hidden size)."""
        states: torch.Tensor = self.reader(input_ids=self.to_device(np.array(sources))).last_hidden_state
        return states

    def _decoder_logits(self, inputs: Sequence[DecoderInput], states: torch.Tensor, places: Ints) -> torch.Tensor:
        """Return the logits at some places of the inputs, shape (places, vocabulary).

        `places`: ascending, in the table of the inputs with padding, flattened.
        """
        if self.use_fast_path:
            return self._fast_logits(inputs, states, places)
        return self._reference_logits(inputs, places)

    @torch.inference_mode()
    def _fast_logits(self, inputs: Sequence[DecoderInput], states: torch.Tensor, places: Ints) -> torch.Tensor:
        ids = np.full((len(inputs), max(len(read.ids) for read in inputs)), self.tokenizer.pad_token_id or 0)
        for row, read in enumerate(inputs):
            ids[row, : len(read.ids)] = read.ids
        return self.logits_at(
            self.to_device(places), **_encoded(states), decoder_input_ids=self.to_device(ids), use_cache=False
        )

    def _reference_logits(self, inputs: Sequence[DecoderInput], places: Ints) -> torch.Tensor:
        longest, parts = max(len(read.ids) for read in inputs), []
        for row, read in enumerate(inputs):
            logits = reference.decoder_logits(self.network, read.source, read.ids)
            parts.append(logits[self.to_device(places[places // longest == row] % longest)])
        return torch.cat(parts)

    @cached_property
    @out_of_memory_explained()
    def use_fast_path(self) -> bool:
        """Return whether shared states, padding, and the head at few places give what the reference gives."""
        generator = np.random.default_rng(0)
        source, *texts = (tuple(map(int, generator.integers(self.limits.vocabulary, size=n))) for n in (9, 2, 5, 8))
        inputs = [DecoderInput(source, (*self.encoder.start, *text)) for text in texts]
        places = _last_places(inputs)
        expected = self._reference_logits(inputs, places).double().log_softmax(-1)
        try:
            logits = self._fast_logits(inputs, self._read([source] * len(inputs)), places)
        except REFUSALS as error:
            return self.refused(error)  # the network's parts cannot be called by themselves like this
        off = float((logits.double().log_softmax(-1) - expected).abs().max())
        return off <= self.tolerance or self.note_reference(f"off by {off:.2g} in the self-check")

    def sample_logits(self, ids: Ids) -> torch.Tensor:
        return reference.decoder_logits(self.network, ids, ids)


def statements_by_input(statements: Sequence[Encoded]) -> dict[DecoderInput, list[int]]:
    """Map what the decoder must read to the statements whose tokens are then predicted.

    A statement whose input begins that of another one is predicted with it.
    """
    needed: dict[DecoderInput, list[int]] = {}
    for index, statement in enumerate(statements):
        needed.setdefault(DecoderInput(statement.source, statement.ids[: statement.scored[-1]]), []).append(index)
    kept: dict[DecoderInput, list[int]] = {}
    last = DecoderInput((), ())
    for read in sorted(needed, reverse=True):  # an input comes after all those that it begins
        if last.source != read.source or last.ids[: len(read.ids)] != read.ids:
            last = read
        kept.setdefault(last, []).extend(needed[read])
    return kept


def _encoded(states: torch.Tensor) -> dict[str, BaseModelOutput]:
    """Return the argument by which a network takes what its encoder has made of a text."""
    return {"encoder_outputs": BaseModelOutput(last_hidden_state=states)}


def _last_places(inputs: Sequence[DecoderInput]) -> Ints:
    """Return the place of each input's last token in the table of the inputs with padding, flattened."""
    longest = max(len(read.ids) for read in inputs)
    places: Ints = np.array([row * longest + len(read.ids) - 1 for row, read in enumerate(inputs)])
    return places
