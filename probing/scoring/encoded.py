"""A tokenized statement, and statements that are put together from the tokens of a few of them.

The statements of a relation are the product of its prompts and its options, so that most of their text is tokenized
many times. A tokenizer's library splits a text into pre-tokens and tokenizes each by itself; where one ends depends on
the words at that place. An option of whole pre-tokens therefore has the same tokens in every statement in which the
same words stand beside it, and so has the text around it. All parts are cut out of whole statements, and some of the
statements that were put together are compared with what the tokenizer makes of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from probing.arrays import Ids
from probing.language_model import Spans
from probing.template import Statement

COMPARED = 32  # statements of each window, evenly spread


@dataclass(frozen=True)
class Encoded:
    """One tokenized statement.

    `scored`: the positions of the tokens that are scored, which special tokens are not.
    `answer`: which of the scored tokens belong to the option.
    `words`: the number of each token's word, None for special tokens, as "within-word" masking needs it. For models
    that are not masked, pre-tokens stand for words.
    `text`: the statement itself. `spans`: where in it each scored token begins and ends, in characters.
    `source`: what the encoder of an encoder-decoder reads; `ids` are then those of its decoder.
    """

    ids: Ids
    scored: tuple[int, ...]
    answer: slice
    words: tuple[int | None, ...]
    text: str = ""
    spans: Spans = ()
    source: Ids = ()


# A tokenized statement, and the number of each token's pre-token.
Whole = tuple[Encoded, tuple[int | None, ...]]
# A tokenized statement, and which of its scored tokens are its option with the words beside it; none if these cannot be
# cut out.
Cut = tuple[Encoded, range]


def option_part(encoded: Encoded, pre_tokens: Sequence[int | None], statement: Statement) -> range:
    """Return which scored tokens are the option with the words beside it, none if these are not whole pre-tokens.

    `pre_tokens`: the number of each token's pre-token.
    """
    word_before, word_after = _words_beside(statement)
    start, stop = statement.start - len(word_before), statement.end + len(word_after)
    inside = [rank for rank, (begin, end) in enumerate(encoded.spans) if begin < stop and end > start]
    if start <= 0 or not inside:  # what begins a text is often tokenized in another way
        return range(0)
    part = range(inside[0], inside[-1] + 1)
    own, spans = encoded.scored[part.start : part.stop], encoded.spans[part.start : part.stop]
    begin, end = own[0], own[-1] + 1
    is_whole = (
        end - begin == len(own) == len(inside)
        and None not in pre_tokens[begin:end]
        and pre_tokens[begin - 1] != pre_tokens[begin]
        and (end == len(pre_tokens) or pre_tokens[end - 1] != pre_tokens[end])
        and start <= spans[0][0]
        and spans[-1][1] <= stop
    )
    return part if is_whole else range(0)


def put_together(
    statements: Sequence[Statement], encode: Callable[[Sequence[Statement]], Sequence[Whole]]
) -> list[Encoded] | None:
    """Return tokenized statements, most of them put together from others; None where that gives other tokens.

    `encode`: tokenizes whole statements.
    """
    parts = _parts(statements)
    whole = _whole(encode, statements, {number for pair in parts for number in pair})
    cut = {
        number: (encoded, option_part(encoded, pre_tokens, statements[number]))
        for number, (encoded, pre_tokens) in whole.items()
    }
    alone = {n for n, pair in enumerate(parts) if n not in whole and not all(cut[part][1] for part in pair)}
    whole |= _whole(encode, statements, alone)
    encoded = [
        whole[number][0]
        if number in whole
        else _joined(statement, cut[context], cut[option], statement.start - statements[option].start)
        for number, (statement, (context, option)) in enumerate(zip(statements, parts, strict=True))
    ]
    joined = [number for number in range(len(statements)) if number not in whole]
    compared = _whole(encode, statements, joined[:: max(len(joined) // COMPARED, 1)])
    return encoded if all(encoded[number] == expected for number, (expected, _) in compared.items()) else None


def _parts(statements: Sequence[Statement]) -> list[tuple[int, int]]:
    """Return for each statement the numbers of the first with its text around the option, and with its option.

    The words beside the option are the same in the latter.
    """
    contexts: dict[tuple[str, str, str, bool], tuple[int, str, str]] = {}
    options: dict[tuple[str, str, str], int] = {}
    parts = []
    for number, statement in enumerate(statements):
        text, start, end = statement.text, statement.start, statement.end
        key = (statement.context, text[:start], text[end:], statement.begun)
        if key not in contexts:
            contexts[key] = number, *_words_beside(statement)
        first, word_before, word_after = contexts[key]
        parts.append((first, options.setdefault((word_before, text[start:end], word_after), number)))
    return parts


def _words_beside(statement: Statement) -> tuple[str, str]:
    """Return the word before an option, with the spaces around it, and the word after it, with those before it."""
    before, after = statement.context + statement.text[: statement.start], statement.text[statement.end :]
    words_before, words_after = before.rsplit(maxsplit=1), after.split(maxsplit=1)
    begin = len(words_before[0]) if len(words_before) > 1 else 0
    end = len(after) - len(after.lstrip()) + len("".join(words_after[:1]))
    return before[begin:], after[:end]


def _whole(
    encode: Callable[[Sequence[Statement]], Sequence[Whole]], statements: Sequence[Statement], numbers: Iterable[int]
) -> dict[int, Whole]:
    chosen = sorted(numbers)
    return dict(zip(chosen, encode([statements[number] for number in chosen]), strict=True)) if chosen else {}


def _joined(statement: Statement, of_context: Cut, of_option: Cut, moved: int) -> Encoded:
    """Return a statement with the tokens of one with the same text around its option, and those of the same option.

    `moved`: how many characters farther the option begins than in the statement that it is taken from.
    """
    (context, around), (option, part) = of_context, of_option
    begin, end = context.scored[around.start], context.scored[around.stop - 1] + 1
    own_begin, own_end = option.scored[part.start], option.scored[part.stop - 1] + 1
    first = option.answer.start - part.start + around.start
    # Typed loosely, as no token of a part is special and lacks a word.
    context_words: tuple[Any, ...] = context.words
    own_words: tuple[Any, ...] = option.words[own_begin:own_end]
    words = _shifted(own_words, context_words[begin] - own_words[0])
    return Encoded(
        context.ids[:begin] + option.ids[own_begin:own_end] + context.ids[end:],
        (
            *context.scored[: around.start],
            *range(begin, begin + len(part)),
            *_shifted(context.scored[around.stop :], len(part) - len(around)),
        ),
        slice(first, first + option.answer.stop - option.answer.start),
        context_words[:begin] + words + _shifted(context_words[end:], words[-1] - context_words[end - 1]),
        statement.text,
        context.spans[: around.start]
        + _moved(option.spans[part.start : part.stop], moved)
        + _moved(context.spans[around.stop :], len(statement.text) - len(context.text)),
    )


def _shifted(numbers: tuple[Any, ...], by: int) -> tuple[Any, ...]:
    return tuple([None if number is None else number + by for number in numbers]) if by else numbers


def _moved(spans: Spans, by: int) -> Spans:
    return tuple([(begin + by, end + by) for begin, end in spans]) if by else spans
