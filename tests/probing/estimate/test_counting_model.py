"""Counting work without a network: shared prefixes and inputs count once, as in the scoring core."""

import pytest

from probing.estimate import counting_model
from probing.estimate.counting_model import CountingModel, Tokens
from probing.estimate.load import Load
from probing.kinds import Kind
from probing.language_model import Request, Scoring
from probing.template import prompt

NORWAY: Request = (prompt("The capital of [X] is [Y].", "Norway"), ["Oslo", "Cairo", "New Delhi"])


def pieces(text: str) -> list[str]:
    return [str(name) for name in counting_model.pieces(text).names]


def score_load(kind: str, *requests: Request, **settings: object) -> Load:
    model = CountingModel(kind)
    assert len(list(model.score(requests, Scoring(**settings)))) == len(requests)
    return model.loads["score"]


def test_a_text_is_cut_into_pieces_about_as_long_as_tokens() -> None:
    assert pieces("The Danube, 1850 km long") == ["The", " Danube", ",", " 1", "8", "5", "0", " km", " long"]
    assert pieces("Azerbaijan") == ["Azerba", "ijan"]
    assert pieces("서울 Кито العربية") == ["서", "울", " Ки", "то", " ال", "عر", "بي", "ة"]
    assert pieces("") == []
    assert "".join(pieces("Élysée 서울 العربية?")) == "Élysée 서울 العربية?"


def test_a_causal_model_computes_each_prefix_once() -> None:
    """The options share the text before them; the final period is predicted, but nothing follows from it."""
    beginning = len(pieces("The capital of Norway is"))
    assert score_load("causal", NORWAY) == Load(3, beginning + len(["Oslo", "Cairo", "New", "Delhi"]), 1)
    assert score_load("causal", NORWAY, NORWAY).positions == score_load("causal", NORWAY).positions


def test_where_only_the_answer_is_scored_the_text_after_it_costs_nothing() -> None:
    long_end = (prompt("[X] is [Y], as everybody has known for a very long time.", "It"), ["big", "small"])
    assert score_load("causal", long_end, span="answer").positions == 2
    assert score_load("causal", long_end).positions > 20


def test_a_masked_model_reads_the_whole_text_once_for_each_hidden_piece() -> None:
    one = (prompt("[X] is [Y].", "Chad"), ["big"])
    assert score_load("masked", one) == Load(1, 4 * 4, 1)
    assert score_load("masked", one, span="answer") == Load(1, 4, 1)
    assert score_load("masked", one, one).positions == 4 * 4


def test_options_of_one_length_share_the_input_with_the_whole_answer_hidden() -> None:
    load = score_load("masked", NORWAY, pll="whole_answer", span="answer")
    short, long = (pieces(f"The capital of Norway is {option}.") for option in ("Oslo", "New Delhi"))
    assert load == Load(3, len(short) + len(long), 1)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_an_early_decision_costs_less_than_scoring_every_option(kind: str) -> None:
    options = [f"{first}{second} {second}{first}" for first in "abcdefgh" for second in "klmnopqr"]
    request = (prompt("The capital of [X] is [Y], where the king of the country lives.", "Norway"), options)
    full, decided = score_load(kind, request), score_load(kind, request, decide=1)
    assert decided.statements == full.statements == 64
    assert 0 < decided.positions < 0.7 * full.positions


def test_each_answer_has_as_many_scores_as_there_are_options() -> None:
    (scores,) = CountingModel("causal").score([NORWAY], Scoring())
    assert scores.reduce().shape == scores.exact.shape == (3,)


def test_a_causal_model_fills_a_blank_from_the_text_before_it() -> None:
    causal, masked = CountingModel("causal"), CountingModel("masked")
    for model in (causal, masked):
        (blank, _) = model.fill([NORWAY, NORWAY], k=5)
        assert blank.ranks.tolist() == [1, 1, 0]
    assert causal.loads["fill"] == Load(2, len(pieces("The capital of Norway is")), 1)
    assert masked.loads["fill"] == Load(2, len(pieces("The capital of Norway is .")), 1)


def test_text_is_counted_with_the_system_message_and_all_tokens_to_be_written() -> None:
    model = CountingModel("causal")
    assert list(model.generate(["Who is it?"], 7, chat=True, system="Be short.")) == [""]
    assert model.loads["generate"] == Load(1, len(pieces("Be short.Who is it?")) + 7, 7)


def test_equal_texts_are_embedded_once_and_texts_of_one_length_in_one_pass() -> None:
    model = CountingModel("causal")
    assert len(list(model.embed(["Oslo", "Oslo", "New Delhi", "Cairo"]))) == 4
    assert model.loads["embed"] == Load(3, (1 + 1) + (1 + 2) + (1 + 1), 2)


def test_a_masked_model_fills_blanks_of_texts_of_one_length_in_one_pass() -> None:
    model = CountingModel("masked")
    requests: list[Request] = [(prompt("[X] is [Y].", subject), ["big"]) for subject in ("Chad", "Oslo", "New Delhi")]
    assert len(list(model.fill(requests, k=1))) == 3
    assert model.loads["fill"].passes == 2


def test_the_last_space_before_a_blank_is_not_read() -> None:
    model = CountingModel("causal", letters)
    list(model.fill([(prompt("[X] is [Y].", "It"), ["big"])], k=1))
    assert model.loads["fill"].positions == 2 * len("It is")


def test_an_early_decision_needs_more_passes_for_longer_and_for_more_options() -> None:
    def passes(options: list[str]) -> float:
        return score_load("causal", (prompt("[X] is [Y].", "Oslo"), options), decide=1).passes

    short = [f"{letter}{letter}" for letter in "abcdefgh"]
    assert 1 < passes(short) < passes([f"{option} {option} {option}" for option in short])
    assert passes(short) < passes([f"{first}{second}" for first in "abcdefgh" for second in "klmnopqr"])


def letters(text: str) -> Tokens:
    """The tokens of a tokenizer that writes each letter as two tokens."""
    names = [letter for letter in text for _ in range(2)]
    return Tokens(names, [(index, index + 1) for index in range(len(text)) for _ in range(2)])


def unknown(text: str) -> Tokens:
    """The tokens of a tokenizer that knows no word."""
    spans = counting_model.pieces(text).spans
    return Tokens([0] * len(spans), spans)


@pytest.mark.parametrize(
    ("kind", "positions"), [("causal", 2 * len("Oslo is") - 1), ("masked", (2 * len("Oslo is")) ** 2)]
)
def test_with_a_tokenizer_its_own_tokens_are_counted(kind: Kind, positions: int) -> None:
    model = CountingModel(kind, letters)
    assert list(model.score([(prompt("[Y] is", ""), ["Oslo"])], Scoring()))
    assert model.loads["score"].positions == positions


@pytest.mark.parametrize("kind", ["causal", "masked", "encoder-decoder"])
def test_words_that_the_tokenizer_does_not_know_are_alike(kind: Kind) -> None:
    model, statement = CountingModel(kind, unknown), "[X] is [Y]."
    requests: list[Request] = [(prompt(statement, subject), ["Oslo"]) for subject in ("Chad", "Mali")]
    list(model.score(requests[:1], Scoring()))
    list(model.fill(requests[:1], k=1))
    first = model.usage.positions
    list(model.score(requests[1:], Scoring()))
    list(model.fill(requests[1:], k=1))
    decoded = 2 if kind == "encoder-decoder" else 0  # the option and the end of the text
    assert model.usage.positions == first + decoded


def test_an_option_that_the_tokenizer_splits_is_no_single_token() -> None:
    (blank,) = CountingModel("masked", letters).fill([NORWAY], k=1)
    assert blank.ranks.tolist() == [0, 0, 0]


def test_verbs_share_no_prefixes() -> None:
    model = CountingModel("causal")
    list(model.fill([NORWAY], k=1))
    list(model.score([NORWAY], Scoring()))
    assert model.loads["score"] == score_load("causal", NORWAY)
    assert model.usage.positions == sum(load.positions for load in model.loads.values())
