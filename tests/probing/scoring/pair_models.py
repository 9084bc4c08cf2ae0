"""Random networks whose tokenizers have the words of given texts as single tokens, like a large vocabulary."""

import re
from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertForMaskedLM, GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from probing.scoring.verbs import AnsweringModel
from tests.probing.scoring.networks import of

LONGEST = 1024


def words(texts: Iterable[str]) -> list[str]:
    return sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text)})


def word_piece(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer like BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {piece: index for index, piece in enumerate([*special, *words(texts)])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LONGEST, **names)


def byte_level(texts: Iterable[str], mask: bool = False, size: int = 20_000) -> PreTrainedTokenizerFast:
    """Build a tokenizer like GPT-2's or, with a mask token, which includes the space before it, like RoBERTa's."""
    special = ["<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    if not mask:
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="<s>", eos_token="<s>", model_max_length=LONGEST
        )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True), model_max_length=LONGEST,
    )  # fmt: skip


def sentence_piece(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer like XLM-R's: a space belongs to the next word, and is added to the text after a mask."""
    special = ["<s>", "</s>", "<unk>"]
    pieces = [(piece, 0.0) for piece in special] + [("▁", -3.0)]
    pieces += [(f"▁{word}", -2.0) for word in words(texts) if word.isalnum()]
    pieces += [(letter, -5.0) for letter in sorted({letter for text in texts for letter in text} - {" "})]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        unk_token="<unk>", mask_token=AddedToken("<mask>", lstrip=True, special=True), model_max_length=LONGEST,
    )  # fmt: skip


def causal(tokenizer: PreTrainedTokenizerFast, batch_tokens: int | None = None) -> AnsweringModel:
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": LONGEST, "initializer_range": 0.4}
    network = of(GPT2LMHeadModel, bos_token_id=0, eos_token_id=0, **sizes)
    return CausalModel(network(len(tokenizer)), tokenizer, batch_tokens=batch_tokens)


def masked(tokenizer: PreTrainedTokenizerFast, batch_tokens: int | None = None) -> AnsweringModel:
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    network = of(BertForMaskedLM, max_position_embeddings=LONGEST, initializer_range=0.4, **sizes)
    return MaskedModel(network(len(tokenizer)), tokenizer, batch_tokens=batch_tokens)
