"""Tokenization: the span of the option, windows of prompts, a stream that is read no further than needed, and facts."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import combinations
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from probing.errors import BadInput
from probing.language_model import Request, Scoring
from probing.scoring import encoded, network_state
from probing.scoring.causal import CausalModel
from probing.scoring.encoded import put_together
from probing.scoring.tokens import SPACES, STATEMENTS_PER_WINDOW, Encoder, chosen_start, facts_of, windows
from probing.start_token import AUTO, NONE, StartToken
from probing.template import Statement, prompt
from tests.probing.scoring.compare import REQUESTS
from tests.probing.scoring.networks import HEAD_APART, SHARING, causal_model, masked_model
from tests.probing.scoring.obvious import words_of
from tests.probing.scoring.stubs import bigram, random_table, whole_words
from tests.tiny_models import SENTENCES, byte_level_bpe, metaspace_unigram, word_piece


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


def trained(
    model: models.Model, trainer: Callable[..., trainers.Trainer], normalizer: Any, pre_tokenizer: Any, then: Any = None
) -> PreTrainedTokenizerFast:
    """Train a tokenizer whose tokens hold no white space but at their beginning; `then` is its pre-tokenizer in use."""
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    special = ["<s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet() if isinstance(pre_tokenizer, pre_tokenizers.ByteLevel) else []
    learner = trainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, learner)
    tokenizer.pre_tokenizer = then
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", mask_token="<mask>")


SPACES_TO_MARKS = normalizers.Replace(" ", "▁")
BEFORE_MARKS = pre_tokenizers.Split("▁", "merged_with_next")
UNSPLIT_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
UNIGRAM = partial(trainers.UnigramTrainer, unk_token="<unk>")
# Tokenizers whose pre-tokens are whole sentences, by the part that makes them so.
WHOLE_SENTENCES: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "normalizer, as Gemma's": lambda: trained(
        models.BPE(unk_token="<unk>"),
        trainers.BpeTrainer,
        SPACES_TO_MARKS,
        BEFORE_MARKS,
        then=pre_tokenizers.Split(" ", "merged_with_previous"),
    ),
    "normalizer that also puts a mark before the text": lambda: trained(
        models.BPE(unk_token="<unk>"),
        trainers.BpeTrainer,
        normalizers.Sequence([normalizers.Prepend("▁"), SPACES_TO_MARKS]),
        BEFORE_MARKS,
    ),
    "Metaspace that does not split": lambda: trained(
        models.Unigram(),
        UNIGRAM,
        None,
        pre_tokenizers.Metaspace(),
        then=pre_tokenizers.Metaspace(split=False),
    ),
    "bytes without an expression": lambda: trained(
        models.BPE(),
        trainers.BpeTrainer,
        None,
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        then=UNSPLIT_BYTES,
    ),
    "no pre-tokenizer": lambda: trained(
        models.BPE(unk_token="<unk>"),
        trainers.BpeTrainer,
        None,
        pre_tokenizers.Split(" ", "merged_with_next"),
    ),
}
SPLIT_SENTENCES = {"WordPiece": word_piece, "Metaspace": metaspace_unigram, "bytes": byte_level_bpe}
WORDS_AND_SPACES = st.lists(
    st.sampled_from(
        ["Oslo", "capital", "Peru.", "Élysée", "東京", "サ", "don't", "10", "q", " ", " ", "  ", "\t", "\u3000"]
    ),
    min_size=1,
    max_size=8,
).map("".join)


def tokens_and_words(tokenizer: PreTrainedTokenizerFast, text: str) -> list[tuple[str, int | None]]:
    (encoded,) = Encoder(tokenizer, special_tokens=True).encode([Statement(text, 0, len(text))])
    return list(zip(tokenizer.convert_ids_to_tokens(encoded.ids), encoded.words, strict=True))


@pytest.mark.parametrize("family", WHOLE_SENTENCES)
def test_a_word_ends_at_white_space_where_a_pre_token_is_a_whole_sentence(family: str) -> None:
    tokenizer = WHOLE_SENTENCES[family]()
    expected, number = [], 0
    for token in tokenizer.tokenize("Lima lies in Peruvia"):
        number += bool(expected) and token.startswith(SPACES)
        expected.append((token, number))
    assert len(expected) > 4 and number == 3
    assert tokens_and_words(tokenizer, "Lima lies in Peruvia") == expected


@pytest.mark.parametrize("family", [*WHOLE_SENTENCES, *SPLIT_SENTENCES])
@given(text=WORDS_AND_SPACES)
@settings(max_examples=25)
def test_two_tokens_are_of_one_word_where_neither_white_space_nor_pre_tokens_part_them(family: str, text: str) -> None:
    tokenizer = tokenizer_of(family)
    words = [word for _, word in tokens_and_words(tokenizer, text)]
    expected = words_of(text, tokenizer(text, return_offsets_mapping=True))
    pairs = combinations(range(len(words)), 2)
    assert all((words[a] == words[b]) == (expected[a] == expected[b]) for a, b in pairs)


@cache
def tokenizer_of(family: str) -> PreTrainedTokenizerFast:
    return (WHOLE_SENTENCES | SPLIT_SENTENCES)[family]()


@pytest.mark.parametrize("family", SPLIT_SENTENCES)
def test_words_that_pre_tokens_part_are_pre_tokens(family: str) -> None:
    tokenizer = tokenizer_of(family)
    for text in [*SENTENCES, "Chad, the 10 capitals: don't (x) 東京 Čapek."]:
        pre_tokens = tokenizer(text).word_ids()
        words = [word for _, word in tokens_and_words(tokenizer, text)]
        assert len(set(zip(words, pre_tokens, strict=True))) == len(set(words)) == len(set(pre_tokens))


PARTS = st.one_of(
    WORDS_AND_SPACES, st.sampled_from(["", "The capital is ", "in 12", "\u0301", "<mask>", ",", "'s", "."])
)


@pytest.mark.parametrize("special_tokens", [True, False])
@pytest.mark.parametrize("family", [*WHOLE_SENTENCES, *SPLIT_SENTENCES])
@given(
    contexts=st.lists(st.tuples(PARTS, PARTS), min_size=1, max_size=4), options=st.lists(PARTS, min_size=1, max_size=5)
)
@settings(max_examples=40)
def test_statements_that_are_put_together_are_those_that_are_tokenized_whole(
    family: str, special_tokens: bool, contexts: list[tuple[str, str]], options: list[str]
) -> None:
    encoder = Encoder(tokenizer_of(family), special_tokens=special_tokens, start=NONE if not special_tokens else AUTO)
    whole, statements = partial(Encoder._whole, encoder), product_of(contexts, options)
    # Fewer statements than are compared, so that one that differs from the whole would give None.
    assert put_together(statements, whole) == [statement for statement, _ in whole(statements)]


def product_of(contexts: Sequence[tuple[str, str]], options: Sequence[str], context: str = "") -> list[Statement]:
    return [
        Statement(left + option + right, len(left), len(left + option), context)
        for left, right in contexts
        for option in options
    ]


@pytest.mark.parametrize("family", SPLIT_SENTENCES)
@pytest.mark.parametrize("context", ["", "Lima is in Peru. Oslo is in Norway. "])
def test_most_of_many_statements_are_put_together(family: str, context: str, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = [(f"{sentence.split()[0]} is a city in ", ".") for sentence in SENTENCES[:10]]
    options = [
        "Peru",
        "Chad",
        "Norway",
        "Bosnia and Herzegovina",
        "Côte d'Ivoire",
        "東京",
        "Guinea-Bissau",
        "UK",
        "U.S.",
    ]
    statements = product_of(contexts, options, context)
    encoder, texts = Encoder(tokenizer_of(family), special_tokens=family != "bytes"), []
    monkeypatch.setattr(encoded, "COMPARED", 4)
    whole = encoder._whole(statements)
    monkeypatch.setattr(encoder, "_whole", lambda chosen: texts.append(len(chosen)) or Encoder._whole(encoder, chosen))
    assert encoder.encode(statements) == [statement for statement, _ in whole]
    assert sum(texts) < 0.4 * len(statements)


def test_a_tokenizer_that_looks_farther_than_at_the_next_word_reads_every_statement_whole() -> None:
    tokenizer = byte_level_bpe()
    far = pre_tokenizers.Split(Regex("(?<=Lima is a city) in Pe(?=ru)"), "isolated")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [far, tokenizer.backend_tokenizer.pre_tokenizer]
    )
    statements = product_of([("Oslo is a city in ", "."), ("Lima is a city in ", ".")], ["Chad", "Peru"])
    encoder = Encoder(tokenizer, special_tokens=False)
    assert encoder.encode(statements) == [statement for statement, _ in encoder._whole(statements)]
    assert not encoder._joins


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


class OwnCalls(PreTrainedTokenizerFast):
    """A tokenizer whose class reads texts in a way of its own: in lower case."""

    def _encode_plus(self, text: Any, *arguments: Any, **named: Any) -> Any:
        return super()._encode_plus([sentence.lower() for sentence in text], *arguments, **named)


@pytest.mark.parametrize("special_tokens", [True, False])
@pytest.mark.parametrize("build", [byte_level_bpe, word_piece, metaspace_unigram])
def test_a_batch_has_the_tokens_that_a_call_for_each_text_gives(
    build: Callable[[], PreTrainedTokenizerFast], special_tokens: bool
) -> None:
    tokenizer = build()
    texts = [*SENTENCES[:6], "<s> [MASK] 한국 🎻", ""]
    tokenizer(texts, truncation=True, max_length=4)  # as whoever had it before may have asked
    encoder = Encoder(tokenizer, special_tokens=special_tokens, start=NONE if not special_tokens else AUTO)
    encoded = encoder.encode([Statement(text, 0, len(text)) for text in texts])
    expected = [tuple(tokenizer(text, add_special_tokens=special_tokens).input_ids) for text in texts]
    assert [statement.ids for statement in encoded] == expected


def test_a_tokenizer_with_a_way_of_its_own_reads_all_texts() -> None:
    tokenizer = OwnCalls(tokenizer_object=byte_level_bpe().backend_tokenizer)
    texts = ["PARIS is", "OSLO is"]
    encoded = Encoder(tokenizer, special_tokens=False, start=NONE).encode([Statement(text, 0, 4) for text in texts])
    assert [tokenizer.decode(statement.ids) for statement in encoded] == ["paris is", "oslo is"]
