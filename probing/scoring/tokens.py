"""From prompts and options to token ids, a window of statements at a time."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from transformers import BatchEncoding, PreTrainedTokenizerBase

from probing.language_model import Asked
from probing.template import Statement

# Enough statements to fill batches and to share prefixes across items, few enough to hold in memory.
WINDOW = 8192


@dataclass(frozen=True)
class Encoded:
    """One statement: token ids, which of them count (no special tokens), which belong to the option.

    `words` numbers the word of each token, None for special tokens; it is what "within-word" masking goes by.
    """

    ids: tuple[int, ...]
    scored: tuple[int, ...]
    answer: slice
    words: tuple[int | None, ...]


@dataclass(frozen=True)
class Window:
    """The statements of consecutive prompts; `sizes` gives the number of options of each prompt."""

    statements: list[Encoded]
    sizes: list[int]


class Encoder:
    """Tokenizes as the model was trained to see text: causal statements behind a start token, masked ones in full.

    `start` is BOS; where the tokenizer has none, the end-of-text token stands in; where it has neither, the first
    token of a statement has nothing before it and is not scored (methods 3, ambiguities).
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, special_tokens: bool) -> None:
        self.tokenizer = tokenizer
        self.special_tokens = special_tokens
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self.start: tuple[int, ...] = () if special_tokens or start is None else (int(start),)

    def encode(self, statements: Sequence[Statement]) -> list[Encoded]:
        batch = self.tokenizer([s.text for s in statements], add_special_tokens=self.special_tokens)
        return [self._encoded(batch, index, statement) for index, statement in enumerate(statements)]

    def _encoded(self, batch: BatchEncoding, index: int, statement: Statement) -> Encoded:
        encoding = batch.encodings[index]
        offset = len(self.start)
        ids = (*self.start, *encoding.ids)
        special = encoding.special_tokens_mask
        first = 0 if self.special_tokens or offset else 1
        scored = tuple(i + offset for i in range(first, len(special)) if not special[i])
        words = (None,) * offset + tuple(encoding.word_ids)
        begin, end = (position + offset for position in _token_span(encoding, statement))
        counted = [rank for rank, position in enumerate(scored) if begin <= position < end]
        answer = slice(counted[0], counted[-1] + 1) if counted else slice(0, 0)
        return Encoded(ids, scored, answer, words)


def _token_span(encoding, statement: Statement) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    """First token and one past the last token of the option; (0, 0) if the tokenizer drops all its characters."""
    found = (encoding.char_to_token(position) for position in range(statement.start, statement.end))
    first = next((token for token in found if token is not None), None)
    if first is None:
        return 0, 0
    found = (encoding.char_to_token(position) for position in range(statement.end - 1, statement.start - 1, -1))
    return first, next(token for token in found if token is not None) + 1


def windows(asked: Iterable[Asked], encoder: Encoder, mask: str = "", size: int = WINDOW) -> Iterator[Window]:
    """Tokenized windows of whole prompts; the next one is prepared while the model works on this one."""
    groups = _grouped(asked, size)

    def prepare() -> Window | None:
        group = next(groups, None)
        if group is None:
            return None
        statements = [prompt.fill(option, mask) for prompt, options in group for option in options]
        return Window(encoder.encode(statements), [len(options) for _, options in group])

    with ThreadPoolExecutor(1, thread_name_prefix="tokenize") as pool:
        ahead = pool.submit(prepare)
        while (window := ahead.result()) is not None:
            ahead = pool.submit(prepare)
            yield window


def _grouped(asked: Iterable[Asked], size: int) -> Iterator[list[Asked]]:
    group: list[Asked] = []
    count = 0
    for prompt, options in asked:
        if group and count + len(options) > size:
            yield group
            group, count = [], 0
        group.append((prompt, options))
        count += len(options)
    if group:
        yield group
