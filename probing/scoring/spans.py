"""Texts of encoder-decoders: what the encoder reads, with a blank in it, and what the decoder writes.

There are two forms, those in which such models were trained to restore a text (docs/methods/scoring.md):

- sentinels (T5, mT5, Flan-T5): the encoder reads a numbered sentinel at the blank; the decoder writes that sentinel,
  the missing text and the next sentinel.
- infilling (BART, mBART): the encoder reads one mask token at the blank; the decoder writes the whole text.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from probing.arrays import Ids
from probing.errors import UnsupportedModel
from probing.language_model import Span
from probing.scoring.encoded import Encoded
from probing.scoring.tokens import Encoder
from probing.template import Statement

SENTINELS = ("<extra_id_{}>", "▁<extra_id_{}>")  # mT5's vocabulary has them with the mark of a space


class DecoderInput(NamedTuple):
    """Tokens that the encoder reads, and those that the decoder has read and written after them."""

    source: Ids
    ids: Ids


class SpanEncoder(Encoder, ABC):
    """Tokenizer of an encoder-decoder; the decoder's texts begin with its start token.

    In what `encode` returns, `source` holds what the encoder reads, and all else is about the decoder's text.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, start: int) -> None:
        super().__init__(tokenizer, special_tokens=True)
        self.start = (start,)
        self._sources: dict[tuple[str, str], Ids] = {}

    @property
    @abstractmethod
    def blank(self) -> str:
        """The text in blanks that are not scored."""

    @property
    @abstractmethod
    def ends(self) -> Ids:
        """The tokens that end what the decoder writes into a blank, beside the end of its text."""

    @abstractmethod
    def prefix(self, statement: Statement) -> DecoderInput:
        """Return what the decoder has read and written when it comes to the option, whatever the option is."""

    @abstractmethod
    def targets(self, statements: Sequence[Statement], span: Span) -> list[Encoded]:
        """Return the decoder's texts without their sources."""

    @abstractmethod
    def source_text(self, left: str, right: str) -> str:
        """Return what the encoder reads of a text whose scored blank stands between these two."""

    def encode(self, statements: Sequence[Statement], span: Span = "statement") -> list[Encoded]:
        """Tokenize statements for the encoder, with a blank in place of the option, and for the decoder."""
        self._sources.clear()
        pairs = zip(statements, self.targets(statements, span), strict=True)
        return [replace(target, source=self.source(statement)) for statement, target in pairs]

    def source(self, statement: Statement) -> Ids:
        """Return the tokens that the encoder reads; each distinct context is tokenized once."""
        context = statement.context + statement.text[: statement.start], statement.text[statement.end :]
        if context not in self._sources:
            self._sources[context] = tuple(self.tokenizer(self.source_text(*context), verbose=False).input_ids)
        return self._sources[context]

    def unwritten(self, text: str) -> DecoderInput:
        """Return a text without a blank for the encoder, and the decoder's input before it writes its first word."""
        return DecoderInput(tuple(self.tokenizer(text, verbose=False).input_ids), self._written(""))

    def _written(self, text: str) -> Ids:
        """Return the decoder's input when it has written this text, without the special tokens after it."""
        (usual, encoding) = self.tokenizer(["a", text], verbose=False).encodings
        before = usual.special_tokens_mask.index(0)
        own = encoding.special_tokens_mask.count(0)
        return (*self.start, *encoding.ids[: before + own])


class SentinelEncoder(SpanEncoder):
    """Encoder for models that fill numbered sentinels; `sentinels`: the tokens of the first two.

    Of a statement, the decoder writes the option alone. Scored as a whole, it includes the closing sentinel, by which
    the model says that the option is complete.
    """

    option_only = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase, start: int, sentinels: tuple[int, int]) -> None:
        super().__init__(tokenizer, start)
        self._opening, self._closing = sentinels
        self._spaced = str(tokenizer.convert_ids_to_tokens(self._opening)).startswith("▁")
        self._texts = tuple(SENTINELS[0].format(number) for number in range(2))

    @property
    def blank(self) -> str:
        return self._texts[1]

    @property
    def ends(self) -> Ids:
        return (self._closing,)

    def source_text(self, left: str, right: str) -> str:
        """Return the text with a sentinel, and with a space before it if its token includes one."""
        gap = " " if self._spaced and left and not left[-1].isspace() else ""
        return f"{left}{gap}{self._texts[0]}{right}"

    def prefix(self, statement: Statement) -> DecoderInput:
        return DecoderInput(self.source(statement), (*self.start, self._opening))

    def targets(self, statements: Sequence[Statement], span: Span) -> list[Encoded]:
        opening, closing = self._texts
        texts = [f"{opening} {statement.text[statement.start : statement.end]} {closing}" for statement in statements]
        encodings = self.tokenizer(texts, verbose=False).encodings
        return [self._target(*pair, span) for pair in zip(encodings, statements, strict=True)]

    def _target(self, encoding: Encoding, statement: Statement, span: Span) -> Encoded:
        ids = (*self.start, *encoding.ids)
        begin, end = ids.index(self._opening) + 1, len(ids) - 1 - ids[::-1].index(self._closing)
        count = max(end - begin, 0)
        closing = 1 if count and span == "statement" else 0
        moved = statement.start - len(f"{self._texts[0]} ")  # from places in the decoder's text to the statement's
        offsets = encoding.offsets[begin - 1 : begin - 1 + count]
        inside = [(max(first + moved, statement.start), min(last + moved, statement.end)) for first, last in offsets]
        spans = (*inside, *[(statement.end, statement.end)] * closing)
        scored = tuple(range(begin, begin + count + closing))
        return Encoded(ids, scored, slice(0, count), (None,) * len(ids), statement.text, spans)


class InfillingEncoder(SpanEncoder):
    """Encoder for models that write the whole text again, with what belongs in place of the encoder's mask token."""

    @property
    def blank(self) -> str:
        return str(self.tokenizer.mask_token)

    @property
    def ends(self) -> Ids:
        return ()

    def source_text(self, left: str, right: str) -> str:
        return f"{left}{self.blank}{right}"

    def prefix(self, statement: Statement) -> DecoderInput:
        before = statement.context + statement.text[: statement.start]
        return DecoderInput(self.source(statement), self._written(before.rstrip()))

    def targets(self, statements: Sequence[Statement], span: Span) -> list[Encoded]:
        return Encoder.encode(self, statements, span)


def span_encoder(tokenizer: PreTrainedTokenizerBase, start: int = 0) -> SpanEncoder:
    """Return the encoder for the form of blanks that a tokenizer has; raise `UnsupportedModel` if it has none.

    `start`: the decoder's start token, which changes no other token.
    """
    vocabulary = tokenizer.get_vocab()
    for name in SENTINELS:
        opening, closing = (vocabulary.get(name.format(number)) for number in range(2))
        written = tokenizer(" ".join(SENTINELS[0].format(number) for number in range(2))).input_ids
        if opening in written and closing in written:
            return SentinelEncoder(tokenizer, start, (opening, closing))
    if tokenizer.mask_token is not None:
        return InfillingEncoder(tokenizer, start)
    raise UnsupportedModel(
        "The tokenizer of this encoder-decoder has neither sentinels such as <extra_id_0> nor a mask token.",
        "Choose a model that was trained to fill blanks, such as T5 or BART.",
    )
