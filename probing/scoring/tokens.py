"""From prompts and options to token ids, a window of statements at a time."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass

from transformers import BatchEncoding, PreTrainedTokenizerBase

from probing.language_model import Request, Span
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

    def without_start(self) -> "Encoder":
        """The same with nothing in front: the first token of a causal statement is not scored."""
        bare = copy(self)
        bare.start = ()
        return bare

    def apart(self) -> "Encoder":
        """The same for masked statements whose option is tokenized apart from the text around it (methods 4.4)."""
        return _Apart(self)

    def encode(self, statements: Sequence[Statement], span: Span = "statement") -> list[Encoded]:
        batch = self.tokenizer([s.text for s in statements], add_special_tokens=self.special_tokens)
        encoded = [self._encoded(batch, index, statement) for index, statement in enumerate(statements)]
        return encoded if span == "statement" else [self._answer_only(statement) for statement in encoded]

    def _answer_only(self, statement: Encoded) -> Encoded:
        """Only the option counts; a causal model need not read on behind it."""
        scored = statement.scored[statement.answer]
        end = len(statement.ids) if self.special_tokens or not scored else scored[-1] + 1
        return Encoded(statement.ids[:end], scored, slice(0, len(scored)), statement.words[:end])

    def _encoded(self, batch: BatchEncoding, index: int, statement: Statement) -> Encoded:
        encoding = batch.encodings[index]
        offset = len(self.start)
        ids = (*self.start, *encoding.ids)
        special = encoding.special_tokens_mask
        first = 0 if self.special_tokens or offset else 1
        scored = tuple(i + offset for i in range(first, len(special)) if not special[i])
        words = (None,) * offset + tuple(encoding.word_ids)
        offsets = encoding.offsets  # made anew each time it is asked for
        spans = (offsets[position - offset] for position in scored)
        # By characters: one of them may take several tokens, and a token may reach beyond the option.
        counted = [rank for rank, (begin, end) in enumerate(spans) if begin < statement.end and end > statement.start]
        answer = slice(counted[0], counted[-1] + 1) if counted else slice(0, 0)
        return Encoded(ids, scored, answer, words)


class _Apart(Encoder):
    """Puts an option's own tokens where the text around it, tokenized around one mask, has that mask.

    So options of as many tokens share one input, even where letters follow the blank at once, as in Korean.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder.tokenizer, special_tokens=encoder.special_tokens)
        self._options: dict[str, tuple[int, ...]] = {}
        self._around: dict[tuple[str, str], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def encode(self, statements: Sequence[Statement], span: Span = "answer") -> list[Encoded]:
        """Only the option counts; the statements of a window repeat a few surroundings."""
        self._around.clear()
        return [self._spliced(statement) for statement in statements]

    def _spliced(self, statement: Statement) -> Encoded:
        text, start, end = statement.text, statement.start, statement.end
        left, right = text[:start], text[end:]
        if (left, right) not in self._around:
            self._around[left, right] = self._split(left, right)
        before, after = self._around[left, right]
        option = self._tokens(text[start:end], spaced=left.endswith(" "))
        ids = (*before, *option, *after)
        scored = tuple(range(len(before), len(before) + len(option)))
        return Encoded(ids, scored, slice(0, len(option)), (None,) * len(ids))

    def _split(self, left: str, right: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens before and after a mask between the two texts."""
        encoding = self.tokenizer(f"{left}{self.tokenizer.mask_token}{right}").encodings[0]
        mask = self.tokenizer.mask_token_id
        at = next(
            place
            for place, (id_, (_, end)) in enumerate(zip(encoding.ids, encoding.offsets, strict=True))
            if id_ == mask and end > len(left)
        )
        return tuple(encoding.ids[:at]), tuple(encoding.ids[at + 1 :])

    def _tokens(self, option: str, *, spaced: bool) -> tuple[int, ...]:
        text = f" {option}" if spaced else option
        if text not in self._options:
            self._options[text] = tuple(self.tokenizer(text, add_special_tokens=False).input_ids)
        return self._options[text]


def windows(
    asked: Iterable[Request], encoder: Encoder, other: str = "", span: Span = "statement", size: int = WINDOW
) -> Iterator[Window]:
    """Tokenized windows of whole prompts; the next one is prepared while the model works on this one.

    `other` fills the blanks that are not scored.
    """
    groups = grouped(asked, size)

    def prepare() -> Window | None:
        group = next(groups, None)
        if group is None:
            return None
        statements = [prompt.fill(option, other) for prompt, options in group for option in options]
        return Window(encoder.encode(statements, span), [len(options) for _, options in group])

    with ThreadPoolExecutor(1, thread_name_prefix="tokenize") as pool:
        ahead = pool.submit(prepare)
        while (window := ahead.result()) is not None:
            ahead = pool.submit(prepare)
            yield window


def grouped(asked: Iterable[Request], size: int) -> Iterator[list[Request]]:
    """Consecutive prompts with at most `size` options together."""
    group: list[Request] = []
    count = 0
    for prompt, options in asked:
        if group and count + len(options) > size:
            yield group
            group, count = [], 0
        group.append((prompt, options))
        count += len(options)
    if group:
        yield group
