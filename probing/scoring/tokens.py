"""Tokenization of prompts and options, a window of statements at a time, and facts about the tokenizer.

Among the facts is the start token that a run's settings choose, found out by trying the tokenizer.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from operator import not_
from typing import Any
from unicodedata import category

from tokenizers import Encoding, Token
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from probing.arrays import Ids
from probing.errors import BadInput
from probing.language_model import Request, Span, Spans
from probing.scoring.encoded import Encoded, Whole, put_together
from probing.start_token import AUTO, BOS, EOS, NONE, StartToken, TokenizerFacts, start_marks_roles, start_name
from probing.template import Statement

# Enough statements to fill batches and to share prefixes across items, few enough to hold in memory.
STATEMENTS_PER_WINDOW = 8192
KEPT_STATEMENTS = 16 * STATEMENTS_PER_WINDOW  # that the models of a sweep share, about a kilobyte each
SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
WORD = "Paris"
BETWEEN_SPACES = re.compile(r"\S+")
NO_CHARACTER = "\U0010ffff"  # will never be assigned
# Characters with all bytes that UTF-8 has from the space on.
PLANES = range(0x10000, 0x110000, 0x30000)
LETTERS = (*range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC0, 0x800, 0x40), 0x800, *range(0x1000, 0x10000, 0x1000))
EVERY_BYTE = "".join(map(chr, (*LETTERS, *PLANES)))
SPACES = ("▁", "Ġ", " ")  # how tokens begin that include the space before a word


@dataclass(frozen=True)
class Window:
    """Statements of consecutive prompts; `sizes` has the number of options of each prompt."""

    statements: list[Encoded]
    sizes: list[int]

    @property
    def mean_options(self) -> float:
        """The number of options of a prompt in the mean."""
        return len(self.statements) / len(self.sizes)

    @property
    def prompts(self) -> Iterator[list[Encoded]]:
        """The statements of each prompt."""
        rest = iter(self.statements)
        return (list(islice(rest, size)) for size in self.sizes)

    @classmethod
    def of(cls, prompts: Sequence[list[Encoded]]) -> "Window":
        """Return the window with the statements of these prompts."""
        return cls(list(chain.from_iterable(prompts)), list(map(len, prompts)))


class Encoder:
    """Tokenizer that adds what the model saw in training: a start token (causal) or all special tokens (masked).

    `option_only`: whether of a statement only the option is scored. `start` holds the start token that the setting of
    that name chooses (`probing.start_token`). If it is empty, the first token of a statement is not scored, since
    nothing precedes it (methods 3, ambiguities).
    """

    option_only = False

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, special_tokens: bool, start: str = AUTO) -> None:
        self.tokenizer = tokenizer
        self.special_tokens = special_tokens
        start_token = None if special_tokens else start_id(tokenizer, start)
        self.start: Ids = () if start_token is None else (start_token,)
        self._joins = True

    def without_start(self) -> "Encoder":
        """Return an encoder without a start token, so that a causal statement's first token is not scored."""
        bare = copy(self)
        bare.start = ()
        return bare

    def apart(self) -> "Encoder":
        """Return an encoder for masked models that tokenizes the option apart from its context (methods 4.4)."""
        return _ApartEncoder(self)

    def encode(self, statements: Sequence[Statement], span: Span = "statement") -> list[Encoded]:
        """Tokenize statements; with span "answer" only the option's tokens are scored."""
        encoded = put_together(statements, self._whole) if self._joins else None
        if encoded is None:
            self._joins = False
            encoded = [whole for whole, _ in self._whole(statements)]
        return encoded if span == "statement" else [self._answer_only(statement) for statement in encoded]

    def _answer_only(self, statement: Encoded) -> Encoded:
        """Score the option only; for causal models the text after it is cut off, as it cannot matter."""
        scored = statement.scored[statement.answer]
        end = len(statement.ids) if self.special_tokens or not scored else scored[-1] + 1
        return replace(
            statement,
            ids=statement.ids[:end],
            scored=scored,
            answer=slice(0, len(scored)),
            words=statement.words[:end],
            spans=statement.spans[statement.answer],
        )

    def _whole(self, statements: Sequence[Statement]) -> list[Whole]:
        texts = [statement.context + statement.text for statement in statements]
        encodings = _encodings(self.tokenizer, texts, self.special_tokens)
        return [self._encoded(encoding, statement) for encoding, statement in zip(encodings, statements, strict=True)]

    def _encoded(self, encoding: Encoding, statement: Statement) -> Whole:
        start = () if statement.begun else self.start
        offset = len(start)
        ids = (*start, *encoding.ids)
        first = 0 if self.special_tokens or offset else 1
        offsets = encoding.offsets  # kept in a variable, since each access to the attribute builds the list again
        scored = tuple(range(first + offset, len(ids)))
        if self.special_tokens:
            scored = tuple(compress(scored, map(not_, encoding.special_tokens_mask)))
        if statement.context:
            # The spaces before a statement belong to it, as the tokens of some models include them.
            read = len(statement.context.rstrip(" "))
            scored = tuple(position for position in scored if offsets[position - offset][1] > read)
        pre_tokens, begin = tuple(encoding.word_ids), (None,) * offset
        words = pre_tokens
        if self.special_tokens:  # other models need no words, and numbering them slows tokenization
            words = _words(statement.context + statement.text, pre_tokens, offsets)
        spans = _spans((offsets[position - offset] for position in scored), len(statement.context))
        # Compare characters: one character may take several tokens, and a token may reach beyond the option.
        inside = [rank for rank, (begin, end) in enumerate(spans) if begin < statement.end and end > statement.start]
        answer = slice(inside[0], inside[-1] + 1) if inside else slice(0, 0)
        encoded = Encoded(ids, scored, answer, begin + words, statement.text, spans)
        return encoded, begin + pre_tokens


def _encodings(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], special_tokens: bool) -> Sequence[Encoding]:
    """Return the encoding of each text.

    The first call sets how the tokenizer of the library `tokenizers` truncates, pads and reads special tokens. It then
    takes the other texts itself, since transformers would make lists of every encoding that nobody reads, which takes
    about as long as the encoding.
    """
    usual = partial(tokenizer, add_special_tokens=special_tokens, verbose=False)
    if type(tokenizer)._encode_plus is not PreTrainedTokenizerFast._encode_plus:
        return list(usual(texts).encodings)
    first = usual(texts[:1]).encodings
    return [*first, *tokenizer.backend_tokenizer.encode_batch(texts[1:], add_special_tokens=special_tokens)]


def _words(text: str, pre_tokens: Iterable[int | None], offsets: Iterable[tuple[int, int]]) -> tuple[int | None, ...]:
    """Number the words, given each token's pre-token and where it begins and ends in the text.

    A word lies in one pre-token and holds no white space: the pre-tokens of some tokenizers, such as Gemma's, are whole
    sentences. A token that is nothing but white space belongs to the word after it.
    """
    starts = [match.start() for match in BETWEEN_SPACES.finditer(text)]
    numbers: dict[tuple[int, int], int] = {}
    words: list[int | None] = []
    for pre_token, (begin, end) in zip(pre_tokens, offsets, strict=True):
        if pre_token is None:
            words.append(None)
        else:
            is_space = not text[begin:end].strip()
            words.append(numbers.setdefault((pre_token, bisect_left(starts, end) + is_space), len(numbers)))
    return tuple(words)


def _spans(offsets: Iterable[tuple[int, int]], context: int) -> Spans:
    """Return where tokens begin and end in a statement, given their places in the text with the context before it."""
    if not context:
        return tuple(offsets)
    return tuple((max(begin - context, 0), max(end - context, 0)) for begin, end in offsets)


class _ApartEncoder(Encoder):
    """Encoder that tokenizes the context around one mask, and then replaces the mask with the option's own tokens.

    Options with the same number of tokens then share one masked input, even if letters directly follow the blank, as
    in Korean.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder.tokenizer, special_tokens=encoder.special_tokens)
        self._options: dict[str, tuple[Ids, Spans]] = {}
        self._contexts: dict[tuple[str, str], tuple[Ids, Ids]] = {}

    def encode(self, statements: Sequence[Statement], span: Span = "answer") -> list[Encoded]:
        """Tokenize statements of which only the option is scored; each distinct context is tokenized once."""
        self._contexts.clear()
        return [self._spliced(statement) for statement in statements]

    def _spliced(self, statement: Statement) -> Encoded:
        text, start, end = statement.text, statement.start, statement.end
        left, right = statement.context + text[:start], text[end:]
        if (left, right) not in self._contexts:
            self._contexts[left, right] = self._context_ids(left, right)
        before, after = self._contexts[left, right]
        spaced = left.endswith(" ")
        option, offsets = self._tokens(f" {text[start:end]}" if spaced else text[start:end])
        ids = (*before, *option, *after)
        scored = tuple(range(len(before), len(before) + len(option)))
        spans = tuple((start - spaced + begin, start - spaced + stop) for begin, stop in offsets)
        return Encoded(ids, scored, slice(0, len(option)), (None,) * len(ids), text, spans)

    def _context_ids(self, left: str, right: str) -> tuple[Ids, Ids]:
        """Return the tokens before and after a mask that stands between the two texts."""
        encoding = self.tokenizer(f"{left}{self.tokenizer.mask_token}{right}", verbose=False).encodings[0]
        mask = self.tokenizer.mask_token_id
        place = next(
            index
            for index, (id_, (_, end)) in enumerate(zip(encoding.ids, encoding.offsets, strict=True))
            if id_ == mask and end > len(left)
        )
        return tuple(encoding.ids[:place]), tuple(encoding.ids[place + 1 :])

    def _tokens(self, option: str) -> tuple[Ids, Spans]:
        """Return the tokens of an option, and where in it each of them begins and ends."""
        if option not in self._options:
            encoding = self.tokenizer(option, add_special_tokens=False).encodings[0]
            self._options[option] = tuple(encoding.ids), tuple(encoding.offsets)
        return self._options[option]


# Tokenizes statements with an encoder, for a span.
Encode = Callable[[Encoder, Sequence[Statement], Span], list[Encoded]]


def encode_once(
    memory: dict[Any, list[Encoded]],
    tokenizer: tuple[Any, ...],
    encoder: Encoder,
    statements: Sequence[Statement],
    span: Span,
) -> list[Encoded]:
    """Return what the encoder returns, or what it returned for another model whose tokenizer is the same.

    `memory`: shared by the models of a sweep, which keeps at most `KEPT_STATEMENTS`. `tokenizer`: what tells the
    tokenizer from others.
    """
    way = (type(encoder), encoder.special_tokens, encoder.start, span)
    key = (tokenizer, way, tuple(statements))
    if key in memory:
        return list(memory[key])
    encoded = encoder.encode(statements, span)
    if sum(map(len, memory.values())) + len(encoded) <= KEPT_STATEMENTS:
        memory[key] = encoded
    return encoded


def windows(
    requests: Iterable[Request],
    encoder: Encoder,
    other: str = "",
    span: Span = "statement",
    size: int = STATEMENTS_PER_WINDOW,
    shared: Encode | None = None,
) -> Iterator[Window]:
    """Yield tokenized windows of whole prompts; a thread prepares the next one while the model works on this one.

    `other` fills the blanks that are not scored. `shared`: what tokenizes in place of the encoder alone.
    """
    groups = grouped(requests, size)

    def prepare() -> Window | None:
        group = next(groups, None)
        if group is None:
            return None
        statements = [prompt.fill(option, other) for prompt, options in group for option in options]
        encoded = shared(encoder, statements, span) if shared else encoder.encode(statements, span)
        return Window(encoded, [len(options) for _, options in group])

    pool = ThreadPoolExecutor(1, thread_name_prefix="tokenize")
    try:
        ahead = pool.submit(prepare)
        while (window := ahead.result()) is not None:
            ahead = pool.submit(prepare)
            yield window
    finally:
        # Without waiting: an abandoned generator may be collected while a starting thread holds threading's own lock.
        pool.shutdown(wait=False, cancel_futures=True)


def grouped(requests: Iterable[Request], size: int) -> Iterator[list[Request]]:
    """Yield groups of consecutive requests with at most `size` options together; a larger request is a group alone."""
    group: list[Request] = []
    count = 0
    for prompt, options in requests:
        if group and count + len(options) > size:
            yield group
            group, count = [], 0
        group.append((prompt, options))
        count += len(options)
    if group:
        yield group


def unknown(requests: Iterable[Request], encoder: Encoder, other: str = "") -> Iterator[list[bool]]:
    """Yield for each prompt which of its options have an unknown token in the statement, or lose letters.

    `other` fills the blanks that are not scored. Letters are lost where no vocabulary has them and no token stands for
    what is unknown, as in some BPE tokenizers. The places of the tokens after a lost letter are wrong, so that this is
    seen on the option alone.
    """
    if _keeps_every_byte(encoder.tokenizer):
        yield from ([False] * len(options) for _, options in requests)
        return
    token = _unknown_token(encoder.tokenizer)
    for group in grouped(requests, STATEMENTS_PER_WINDOW):
        names = [option for _, options in group for option in options]
        if names:  # the tokenizer takes no empty list
            encoded = encoder.encode([prompt.fill(option, other) for prompt, own in group for option in own], "answer")
            alone = encoder.tokenizer(names, add_special_tokens=False, verbose=False).encodings
            are_unknown = (
                _has_token(statement, token) or _lacks_letters(name, encoding.offsets)
                for name, statement, encoding in zip(names, encoded, alone, strict=True)
            )
        for _, options in group:
            yield [next(are_unknown) for _ in options]


def _keeps_every_byte(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Tell whether a text with each byte of UTF-8 comes back as it was, so that no other text can lose anything."""
    ids = tokenizer(EVERY_BYTE, add_special_tokens=False, verbose=False).input_ids
    return bool(tokenizer.decode(ids, clean_up_tokenization_spaces=False) == EVERY_BYTE)


def _unknown_token(tokenizer: PreTrainedTokenizerBase) -> Token | None:
    """Return the token that a character gets which no vocabulary has; None if there is none, or if it gets its bytes.

    The configuration may name another token, or none, than the one that the algorithm writes.
    """
    backend: Any = tokenizer.backend_tokenizer
    try:
        tokens = backend.model.tokenize(NO_CHARACTER)
    except Exception:  # by which the library says that there is no unknown token
        return None
    return tokens[0] if len(tokens) == 1 else None


def _has_token(statement: Encoded, token: Token | None) -> bool:
    """Tell whether the option has the token where its own text stands for something else."""
    if token is None:
        return False
    own = zip(statement.scored[statement.answer], statement.spans[statement.answer], strict=True)
    return any(
        statement.ids[position] == token.id and statement.text[begin:end].strip() != token.value
        for position, (begin, end) in own
    )


def _lacks_letters(text: str, offsets: Sequence[tuple[int, int]]) -> bool:
    """Tell whether some character that is seen has no token; marks, which some tokenizers take off, may have none."""
    covered = {place for begin, end in offsets for place in range(begin, end)}
    return any(place not in covered and category(letter)[0] not in "ZCM" for place, letter in enumerate(text))


def start_id(tokenizer: PreTrainedTokenizerBase, start: str) -> int | None:
    """Return the id of the start token that a setting chooses (`probing.start_token`), None for no such token.

    Raises `BadInput` if the tokenizer does not have the token.
    """
    ids = {BOS: tokenizer.bos_token_id, EOS: tokenizer.eos_token_id}
    name = start_name(start, has_bos=ids[BOS] is not None, has_eos=ids[EOS] is not None)
    if name == NONE:
        return None
    if name in ids:
        if ids[name] is None:
            raise BadInput(f"The tokenizer has no {start} token.", f"Leave out --start {start}, or give another token.")
        return int(ids[name])
    if int(start) >= len(tokenizer):
        last = len(tokenizer) - 1
        raise BadInput(f"The tokenizer has no token {start}.", f"Give an id from 0 to {last}, or bos, eos or none.")
    return int(start)


def facts_of(tokenizer: PreTrainedTokenizerBase, start: StartToken | None) -> TokenizerFacts:
    backend: Any = tokenizer.backend_tokenizer
    word = backend.normalizer.normalize_str(WORD) if backend.normalizer else WORD
    first = tokenizer.convert_ids_to_tokens(tokenizer(WORD, add_special_tokens=False).input_ids[:1])
    special_tokens = {name.removesuffix("_token"): getattr(tokenizer, name, None) for name in SPECIAL_TOKENS}
    return TokenizerFacts(
        algorithm=type(backend.model).__name__,
        vocabulary=len(tokenizer),
        lower_cases=word == word.lower(),
        adds_space=any(token.startswith(SPACES) for token in first),
        special_tokens={name: str(text) for name, text in special_tokens.items() if text},
        start=start,
    )


def chosen_start(tokenizer: PreTrainedTokenizerBase, policy: str) -> StartToken:
    """Return the start token that a setting chooses; raise `BadInput` if the tokenizer does not have it."""
    id_ = start_id(tokenizer, policy)
    if id_ is None:
        return StartToken(policy)
    text = str(tokenizer.convert_ids_to_tokens(id_))
    name = {tokenizer.eos_token_id: EOS, tokenizer.bos_token_id: BOS}.get(id_, "")
    template = tokenizer.chat_template or ""
    templates = list(template.values()) if isinstance(template, dict) else [template]
    return StartToken(policy, id_, text, name, start_marks_roles(text, name, templates))
