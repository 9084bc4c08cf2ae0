"""Filling blanks: the distribution over the vocabulary at one position, and the options that are a single token."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
import torch

from probing.arrays import Ids, Ints
from probing.errors import TooLong
from probing.language_model import BlankDistribution, Request
from probing.scoring.encoded import Encoded
from probing.scoring.hf_model import BlankInput, HFModel
from probing.scoring.spans import SpanEncoder
from probing.scoring.tensors import softmax_chunks
from probing.scoring.tokens import Encoder, grouped
from probing.template import Prompt, Statement

OPTIONS_PER_WINDOW = 4096  # options that are tokenized together
# An input, and each option's token (-1 if it is not a single one), shape (options,).
Blank = tuple[BlankInput, Ints]
IN_CONTEXT = Prompt(("It is ", "."))  # words are looked up as they are tokenized within a sentence


class Filler:
    """Answers `fill` for a model, a window of requests at a time; equal inputs of a window are computed once."""

    def __init__(self, model: HFModel, k: int, words: Sequence[str] = ()) -> None:
        self.model = model
        self.allowed = self._allowed(words)
        self.k = k if self.allowed is None else min(k, int(self.allowed.sum()))
        self._texts: dict[int, str] = {}

    def fill(self, requests: Iterable[Request]) -> Iterator[BlankDistribution | TooLong]:
        """Yield the distribution for each request, in order, or the error that it is too long."""
        for group in grouped(requests, OPTIONS_PER_WINDOW):
            encoded = blanks(group, self.model.encoder, self.model.blank)
            askers: dict[BlankInput, list[int]] = {}  # the requests of each distinct input
            answers: dict[int, BlankDistribution | TooLong] = {}
            for index, (read, _) in enumerate(encoded):
                self.model.limits.refuse_empty(read.ids)
                if error := self.model.limits.too_long(read.ids, read.source):
                    answers[index] = error
                else:
                    askers.setdefault(read, []).append(index)
            for batch, logits in self.model.at_blanks(list(askers), len(group)) if askers else ():
                inputs = iter(batch)
                for chunk in softmax_chunks(logits):
                    requests_of_rows = [askers[key] for key in islice(inputs, len(chunk))]
                    options = [[encoded[index][1] for index in row] for row in requests_of_rows]
                    indices = chain.from_iterable(requests_of_rows)
                    answers.update(zip(indices, self._distributions(chunk, options), strict=True))
            yield from (answers[index] for index in range(len(group)))

    def _distributions(
        self, logits: torch.Tensor, options_of_rows: Sequence[Sequence[Ints]]
    ) -> Iterator[BlankDistribution]:
        """Yield a distribution per request; `options_of_rows` has, for each row of logits, its requests' options.

        Results are copied from the device only at the end, so that it need not be waited for in between.
        """
        if not options_of_rows:  # a row of packed prefixes in which no prompt ends
            return
        rows = [row for row, requests in enumerate(options_of_rows) for _ in requests]
        options = list(chain.from_iterable(options_of_rows))
        counts = list(map(len, options))
        row_of_option = self.model.to_device(np.repeat(rows, counts))
        tokens = self.model.to_device(np.maximum(np.concatenate(options), 0))
        log_probs = logits.float().log_softmax(-1)
        ranked = log_probs if self.allowed is None else log_probs.masked_fill(~self.allowed, -torch.inf)
        best = ranked.topk(min(self.k, ranked.shape[-1]))
        own = ranked[row_of_option, tokens]
        better = [
            (ranked[row] > scores[:, None]).sum(-1) for row, scores in zip(rows, torch.split(own, counts), strict=True)
        ]
        ranks = (torch.cat(better) + 1).where(own.isfinite(), 0).cpu().numpy()
        option_scores = log_probs[row_of_option, tokens].double().cpu().numpy()
        best_scores, best_texts = best.values.double().cpu().numpy(), self._texts_of(best.indices)
        ends = np.cumsum(counts)[:-1]
        for row, ids, scores, places in zip(
            rows, options, np.split(option_scores, ends), np.split(ranks, ends), strict=True
        ):
            single = ids >= 0
            yield BlankDistribution(
                best_texts[row], best_scores[row], np.where(single, scores, np.nan), np.where(single, places, 0)
            )

    def _texts_of(self, tokens: torch.Tensor) -> list[tuple[str, ...]]:
        return [tuple(map(self._text, row)) for row in tokens.tolist()]

    def _text(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = self.model.tokenizer.decode([token]).strip()
        return self._texts[token]

    def _allowed(self, words: Sequence[str]) -> torch.Tensor | None:
        """Return which tokens are ranked, shape (vocabulary,), or None for all."""
        if not words:
            return None
        allowed = np.zeros(self.model.network.config.get_text_config().vocab_size, np.int64)
        ((_, tokens),) = blanks([(IN_CONTEXT, words)], self.model.encoder, self.model.blank)
        allowed[tokens[tokens >= 0]] = 1
        return self.model.to_device(allowed).bool()


def blanks(requests: Sequence[Request], encoder: Encoder, blank: str) -> list[Blank]:
    """Tokenize prompts and their options; `blank` is the text in blanks that are not scored."""
    if isinstance(encoder, SpanEncoder):
        return _span_blanks(requests, encoder, blank)
    in_text, special = encoder.special_tokens, encoder.tokenizer.all_special_ids
    statements: list[Statement] = []
    for prompt, options in requests:
        statements += [_unfilled(prompt, in_text, blank), *(_filled(prompt, text, in_text, blank) for text in options)]
    encoded, mask = iter(encoder.encode(statements)), encoder.tokenizer.mask_token_id
    grouped_by_prompt = ((next(encoded), [next(encoded) for _ in options]) for _, options in requests)
    if in_text:
        return [_blank_in_text(unfilled, filled, mask, special) for unfilled, filled in grouped_by_prompt]
    return [_blank_after_text(unfilled, filled, special) for unfilled, filled in grouped_by_prompt]


def _span_blanks(requests: Sequence[Request], encoder: SpanEncoder, blank: str) -> list[Blank]:
    """Return an encoder-decoder's blanks: the encoder reads the text, and the decoder is about to write the option."""
    special = encoder.tokenizer.all_special_ids
    filled = encoder.encode([prompt.fill(text, blank) for prompt, options in requests for text in options], "answer")
    encoded, span_blanks = iter(filled), []
    for prompt, options in requests:
        source, ids = encoder.prefix(prompt.fill("", blank))
        written = (_up_to_option(next(encoded)) for _ in options)
        tokens = [_single_token(option, ids, (), special) for option in written]
        span_blanks.append((BlankInput(ids, len(ids) - 1, source), np.array(tokens, np.int64)))
    return span_blanks


def _up_to_option(statement: Encoded) -> Ids:
    return statement.ids[: statement.scored[-1] + 1] if statement.scored else ()


def _unfilled(prompt: Prompt, in_text: bool, blank: str) -> Statement:
    """Return a prompt with an empty blank; a causal model sees the text to its left, without the last space."""
    statement = prompt.fill(blank, blank)
    if in_text:
        return statement
    text = statement.text[: statement.start].rstrip()
    return Statement(text, len(text), len(text))


def _filled(prompt: Prompt, option: str, in_text: bool, blank: str) -> Statement:
    statement = prompt.fill(option, blank)
    return statement if in_text else Statement(statement.text[: statement.end], statement.start, statement.end)


def _blank_after_text(unfilled: Encoded, filled: Sequence[Encoded], special: Sequence[int]) -> Blank:
    """Return a causal model's blank, which follows the text."""
    tokens = [_single_token(statement.ids, unfilled.ids, (), special) for statement in filled]
    return BlankInput(unfilled.ids, len(unfilled.ids) - 1), np.array(tokens, np.int64)


def _blank_in_text(unfilled: Encoded, filled: Sequence[Encoded], mask: int, special: Sequence[int]) -> Blank:
    """Return a masked model's blank, which stands inside the text.

    Some tokenizers (SentencePiece) split the text beside a mask token differently from the text beside a word. If no
    option fits for that reason, the mask replaces the token of an option instead, in the shortest input that results.
    """
    frames = {BlankInput(unfilled.ids, unfilled.scored[unfilled.answer.start]): None}
    for statement in filled:
        if len(places := statement.scored[statement.answer]) == 1:
            ids = statement.ids
            frames[BlankInput((*ids[: places[0]], mask, *ids[places[0] + 1 :]), places[0])] = None
    candidates = []
    for frame in frames:
        before, after = frame.ids[: frame.position], frame.ids[frame.position + 1 :]
        tokens = [_single_token(statement.ids, before, after, special) for statement in filled]
        candidates.append((frame, np.array(tokens, np.int64)))
    fitting = [(frame, tokens) for frame, tokens in candidates if (tokens >= 0).any()]
    if not fitting or fitting[0] is candidates[0]:
        return candidates[0]
    return min(fitting, key=lambda blank: len(blank[0].ids))


def _single_token(ids: Ids, before: Ids, after: Ids, special: Sequence[int]) -> int:
    """Return the one token that the option adds between `before` and `after`.

    Return -1 if the option is several tokens, none or an unknown one, or if it changes its neighbours.
    """
    place = len(before)
    fits = len(ids) == place + 1 + len(after) and ids[:place] == before and ids[place + 1 :] == after
    return ids[place] if fits and ids[place] not in special else -1
