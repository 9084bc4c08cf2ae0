"""Tokenization: the span of the option, windows of prompts, a stream that is read no further than needed, and facts."""

from collections.abc import Iterator, Sequence
from threading import Event, Thread

import pytest

from probing.errors import BadInput
from probing.language_model import Request, Scoring
from probing.scoring import network_state
from probing.scoring.causal import CausalModel
from probing.scoring.tokens import STATEMENTS_PER_WINDOW, Encoder, chosen_start, facts_of, windows
from probing.start_token import StartToken
from probing.template import prompt
from tests.probing.scoring.compare import REQUESTS
from tests.probing.scoring.networks import HEAD_APART, SHARING, causal_model, masked_model
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


def test_facts_are_those_of_the_tokenizer() -> None:
    tokenizer = byte_level_bpe()
    facts = facts_of(tokenizer, chosen_start(tokenizer, "auto"))
    assert (facts.algorithm, facts.vocabulary) == ("BPE", len(tokenizer))
    assert not facts.lower_cases
    assert not facts.adds_space
    assert facts.special_tokens == {"bos": "<|endoftext|>", "eos": "<|endoftext|>"}
    assert facts.start == StartToken("auto", 0, "<|endoftext|>", "bos")


def test_a_tokenizer_that_lower_cases_is_told_apart() -> None:
    assert facts_of(whole_words(["paris"]), None).lower_cases
    assert not facts_of(word_piece(), None).lower_cases


def test_a_space_before_the_first_word_is_told() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.backend_tokenizer.pre_tokenizer.add_prefix_space = True
    assert facts_of(tokenizer, None).adds_space


def test_the_usual_start_token_is_bos_or_else_eos_or_else_none() -> None:
    tokenizer = byte_level_bpe()
    assert chosen_start(tokenizer, "auto").name == "bos"
    tokenizer.bos_token = None
    assert chosen_start(tokenizer, "auto").name == "eos"
    tokenizer.eos_token = None
    assert chosen_start(tokenizer, "auto") == StartToken("auto")


def test_a_token_that_the_tokenizer_lacks_is_refused() -> None:
    tokenizer = byte_level_bpe()
    tokenizer.bos_token = None
    with pytest.raises(BadInput, match="has no bos token"):
        chosen_start(tokenizer, "bos")
    with pytest.raises(BadInput, match="has no token 400") as error:
        chosen_start(tokenizer, "400")
    assert f"from 0 to {len(tokenizer) - 1}" in error.value.next_step


def test_a_masked_model_has_no_start_token_to_choose() -> None:
    model = masked_model(HEAD_APART["bert"])
    assert model.card.tokenizer is not None
    assert model.card.tokenizer.start is None
    assert model.starting("auto").card == model.card
    with pytest.raises(BadInput, match="tokenizer of a masked model"):
        model.starting("eos")


def test_a_chat_is_not_asked_with_a_start_token_of_its_own() -> None:
    model = causal_model(SHARING["gpt2"])
    model.tokenizer.chat_template = "{{ messages[0]['content'] }}"
    assert list(model.generate(["Chad"], 1, chat=True))
    with pytest.raises(BadInput, match="chat template decides"):
        list(model.starting("eos").generate(["Chad"], 1, chat=True))
