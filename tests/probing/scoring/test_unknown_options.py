"""Options that a tokenizer does not know: each algorithm has its own way to lose what is not in its vocabulary."""

from collections.abc import Callable

import pytest
import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from probing.scoring.encoded import Encoded
from probing.scoring.spans import span_encoder
from probing.scoring.tokens import EVERY_BYTE, Encoder, unknown
from probing.template import Prompt
from tests.probing.scoring.seq2seq import bart_tokenizer, sentinel_tokenizer
from tests.tiny_models import byte_level_bpe

Tokens = hf.PreTrainedTokenizerFast
LETTERS = "abcdefghijklmnopqrstuvwxyzO."
WORDS = ["the", "capital", "is", "oslo", "Oslo", "lima", "."]
PLACES = ["oslo", "Łódź", "oslo 中"]
KNOWN = [False, True, True]


def fast(model: models.Model, pre_tokenizer: pre_tokenizers.PreTokenizer | None = None, **special: str) -> Tokens:
    tokenizer = Tokenizer(model)
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer  # type: ignore[assignment]
    return Tokens(tokenizer_object=tokenizer, eos_token="</s>", **special)


def numbered(*tokens: str) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def word_piece() -> Tokens:
    return fast(
        models.WordPiece(numbered("[UNK]", "</s>", *WORDS), unk_token="[UNK]"), pre_tokenizers.BertPreTokenizer()
    )


def word_level() -> Tokens:
    """Return a tokenizer of words whose configuration names no unknown token."""
    return fast(models.WordLevel(numbered("<unk>", "</s>", *WORDS), unk_token="<unk>"), pre_tokenizers.Whitespace())


def unigram() -> Tokens:
    pieces = [("<unk>", 0.0), ("</s>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in LETTERS)]
    return fast(models.Unigram(pieces, unk_id=0), pre_tokenizers.Metaspace(), pad_token="<unk>")


def bpe(unk_token: str | None) -> Tokens:
    """Return a tokenizer of letters, which without an unknown token drops those that it does not know."""
    return fast(models.BPE(numbered("<unk>", "</s>", " ", *LETTERS), [], unk_token=unk_token))


def bytes_of(*texts: str) -> list[str]:
    (split,) = (pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),)
    return sorted({letter for text in texts for piece, _ in split.pre_tokenize_str(text) for letter in piece})


def byte_level(*texts: str) -> Tokens:
    """Return a tokenizer whose bytes are those of the texts, and whose unknown token is that of the end."""
    model = models.BPE(numbered("</s>", *bytes_of(*texts)), [])
    return fast(model, pre_tokenizers.ByteLevel(add_prefix_space=False), unk_token="</s>")


def byte_fallback() -> Tokens:
    pieces = numbered("<unk>", "</s>", " ", *LETTERS, *(f"<0x{byte:02X}>" for byte in range(256)))
    return fast(models.BPE(pieces, [], unk_token="<unk>", byte_fallback=True), unk_token="<unk>")


def found(encoder: Encoder, options: list[str], *pieces: str) -> list[bool]:
    (are_unknown,) = unknown([(Prompt(pieces), options)], encoder, "")
    return are_unknown


@pytest.mark.parametrize(
    "make",
    [
        word_piece,
        word_level,
        unigram,
        lambda: bpe("<unk>"),
        lambda: bpe(None),
        lambda: byte_level("the capital is oslo."),
    ],
    ids=["WordPiece", "WordLevel", "Unigram", "BPE", "BPE that drops letters", "byte-level BPE without all bytes"],
)
@pytest.mark.parametrize("pieces", [("the capital is ", "."), ("the capital is ", "")])
def test_an_option_with_a_letter_or_a_word_outside_the_vocabulary_is_found(
    make: Callable[[], Tokens], pieces: tuple[str, str]
) -> None:
    for special_tokens in (False, True):
        assert found(Encoder(make(), special_tokens=special_tokens), PLACES, *pieces) == KNOWN


@pytest.mark.parametrize("make", [byte_fallback, byte_level_bpe, lambda: byte_level("the capital is oslo.", *PLACES)])
def test_a_tokenizer_that_writes_bytes_knows_every_option(make: Callable[[], Tokens]) -> None:
    assert not any(found(Encoder(make(), special_tokens=False), PLACES, "the capital is ", "."))


def test_a_tokenizer_that_keeps_every_byte_is_asked_about_no_option() -> None:
    class Unasked(Encoder):
        def encode(self, *arguments: object) -> list[Encoded]:
            raise AssertionError("an option is tokenized")

    assert found(Unasked(byte_level_bpe(), special_tokens=False), PLACES, "the capital is ", ".") == [False] * 3
    assert {*range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC2, 0xF5)} <= set(EVERY_BYTE.encode())


def test_a_word_is_looked_at_in_its_sentence() -> None:
    """Between other letters, or with its first letter in upper case, it may be known or not."""
    glued = fast(
        models.WordLevel(numbered("<unk>", "</s>", *WORDS), unk_token="<unk>"), pre_tokenizers.WhitespaceSplit()
    )
    encoder = Encoder(glued, special_tokens=False)
    assert found(encoder, ["oslo"], "the capital is ", ".") == [True]
    assert found(encoder, ["oslo"], "the capital is ", " .") == [False]
    assert found(encoder, ["oslo", "lima"], "", " is the capital") == [False, True]


def test_a_word_that_is_the_unknown_token_as_well_is_known() -> None:
    tokenizer = fast(models.WordLevel(numbered("</s>", *WORDS), unk_token="oslo"), pre_tokenizers.Whitespace())
    assert found(Encoder(tokenizer, special_tokens=False), ["oslo", "quito"], "the capital is ", ".") == [False, True]


def test_letters_that_the_tokenizer_changes_are_no_lost_ones() -> None:
    tokenizer = word_piece()
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer()  # type: ignore[assignment]
    options = ["ÓSLO", "o\u0301slo", "os\u200blo", "Quito"]
    assert found(Encoder(tokenizer, special_tokens=False), options, "the capital is ", ".") == [
        False,
        False,
        False,
        True,
    ]


def test_special_tokens_around_a_text_are_no_part_of_it() -> None:
    """Even if one of them is the unknown token."""
    tokenizer = word_piece()
    around = processors.TemplateProcessing(single="[UNK] $A [UNK]", special_tokens=[("[UNK]", 0)])
    tokenizer.backend_tokenizer.post_processor = around  # type: ignore[assignment]
    assert found(Encoder(tokenizer, special_tokens=True), ["oslo", "quito"], "the capital is ", ".") == [False, True]


@pytest.mark.parametrize("make", [sentinel_tokenizer, bart_tokenizer])
def test_the_option_of_an_encoder_decoder_is_what_its_decoder_writes(make: Callable[[], Tokens]) -> None:
    encoder = span_encoder(make())
    unknown_to_unigram = make is sentinel_tokenizer
    assert found(encoder, ["Oslo", "中"], "The capital is ", ".") == [False, unknown_to_unigram]
