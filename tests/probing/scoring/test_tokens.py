"""Tokenization: the span of the option, windows of prompts, and a stream that is read no further than needed."""

from collections.abc import Iterator, Sequence
from threading import Event, Thread

import pytest

from probing.language_model import Request, Scoring
from probing.scoring import network_state
from probing.scoring.causal import CausalModel
from probing.scoring.tokens import STATEMENTS_PER_WINDOW, Encoder, windows
from probing.template import prompt
from tests.probing.scoring.compare import REQUESTS
from tests.probing.scoring.stubs import bigram, random_table, whole_words
from tests.tiny_models import byte_level_bpe, metaspace_unigram, word_piece


def answer(encoder: Encoder, template: str, option: str) -> list[str]:
    (encoded,) = encoder.encode([prompt(template, "").fill(option)])
    return encoder.tokenizer.convert_ids_to_tokens([encoded.ids[place] for place in encoded.scored[encoded.answer]])


@pytest.mark.parametrize(("template", "tokens"), [("in [Y].", ["ĠPeru"]), ("[Y] is", ["P", "eru"])])
def test_the_space_before_an_answer_belongs_to_its_token(template: str, tokens: list[str]) -> None:
    assert answer(Encoder(byte_level_bpe(), special_tokens=False), template, "Peru") == tokens


@pytest.mark.parametrize(("option", "count"), [("🎻", 4), ("한국", 6), ("e\u0301", 3)])
def test_a_character_of_several_tokens_belongs_to_the_answer_as_a_whole(option: str, count: int) -> None:
    encoder = Encoder(byte_level_bpe(), special_tokens=False)
    assert len(answer(encoder, "Is it:[Y]?", option)) == count


def test_a_first_letter_that_becomes_two_belongs_to_the_answer() -> None:
    assert answer(Encoder(word_piece(), special_tokens=True), "[Y] is", "ßa") == ["S", "##S", "##a"]
    assert "".join(answer(Encoder(byte_level_bpe(), special_tokens=False), "[Y] is", "ßa")) == "SSa"


def test_words_are_numbered_and_special_tokens_have_none() -> None:
    (encoded,) = Encoder(word_piece(), special_tokens=True).encode([prompt("[X] is [Y]", "Chad").fill("Peru")])
    assert (encoded.words[0], encoded.words[-1]) == (None, None)
    assert sorted(set(encoded.words[1:-1])) == [0, 1, 2]
    assert encoded.scored == tuple(range(1, len(encoded.ids) - 1))


@pytest.mark.parametrize("size", [1, 7, 8, 1000])
def test_windows_hold_whole_prompts_in_order(size: int) -> None:
    encoder = Encoder(metaspace_unigram(), special_tokens=True)
    parts = list(windows(REQUESTS, encoder, size=size))
    assert [n for window in parts for n in window.sizes] == [len(options) for _, options in REQUESTS]
    assert all(len(window.statements) <= max(size, max(window.sizes)) for window in parts)
    assert [len(window.statements) for window in parts] == [sum(window.sizes) for window in parts]
    alone = [encoder.encode([text.fill(option)])[0] for text, options in REQUESTS for option in options]
    assert [statement for window in parts for statement in window.statements] == alone


class Stream:
    """Stream of prompts that counts in `taken` how many were read."""

    def __init__(self, prompts: int, options: Sequence[str]) -> None:
        self.prompts, self.options, self.taken = prompts, options, 0

    def __iter__(self) -> Iterator[Request]:
        for _ in range(self.prompts):
            self.taken += 1
            yield prompt("w1 [Y]", ""), self.options


@pytest.mark.slow
def test_no_more_than_two_windows_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """These are the window being scored and the one being tokenized; one more prompt is read to see that it is full."""
    monkeypatch.setattr(network_state, "HELD_SECONDS", 0)  # answers are taken one at a time
    words = [f"w{i}" for i in range(STATEMENTS_PER_WINDOW // 4)]
    tokenizer = whole_words(words)
    model = CausalModel(bigram(random_table(len(tokenizer))), tokenizer)
    stream = Stream(20, words)
    for done, _ in enumerate(model.score(stream, Scoring()), start=1):
        assert stream.taken <= done + 2 * 4 + 1
    assert stream.taken == done == 20


def test_nothing_is_read_before_the_first_score_is_requested() -> None:
    tokenizer = whole_words(["w1", "w2"])
    model = CausalModel(bigram(random_table(3)), tokenizer)
    stream = Stream(3, ["w1", "w2"])
    model.score(stream, Scoring())
    assert stream.taken == 0


def test_no_prompts_give_no_scores() -> None:
    model = CausalModel(bigram(random_table(3)), whole_words(["w1", "w2"]))
    assert list(model.score([], Scoring())) == []


def test_an_abandoned_stream_does_not_wait_for_its_thread() -> None:
    """A generator may be collected anywhere, also where waiting for a thread would never end."""
    over = Event()

    def requests() -> Iterator[Request]:
        yield from REQUESTS[:2]
        over.wait(60)

    stream = windows(requests(), Encoder(word_piece(), special_tokens=True), size=1)
    next(stream)
    closing = Thread(target=stream.close)
    closing.start()
    closing.join(10)
    stuck = closing.is_alive()
    over.set()
    assert not stuck
