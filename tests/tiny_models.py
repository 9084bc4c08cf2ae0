"""Tiny random models with real tokenizers, saved as on the hub: the same every time, built in 0.1 s.

`build_gpt2`, `build_llama` (causal; the second has a BOS token that its tokenizer adds) and `build_bert`
(masked) take an empty folder and return it.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

SENTENCES = [
    "Chad is located in Africa. Peru is located in South America.",
    "The capital of Norway is Oslo. The capital of Kenya is Nairobi.",
    "Gold is a metal, oxygen is a gas, and bromine is a liquid.",
    "The river Danube flows through Austria, Hungary and Serbia.",
    "Marie Curie was born in Warsaw and worked in Paris.",
    "A violin is a string instrument; a trumpet is a brass instrument.",
    "Tokyo belongs to Japan, Lima belongs to Peru, and Quito belongs to Ecuador.",
    "The planet of the moon Titan is Saturn. Élysée, Čapek and Ångström have accents.",
]


def byte_level_bpe(
    start: str = "", vocabulary: int = 400, sentences: Sequence[str] = SENTENCES
) -> PreTrainedTokenizerFast:
    """Train a tokenizer of GPT-2's kind; with `start`, that token is put in front of every text."""
    special = [start or "<|endoftext|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(sentences, trainer)
    if start:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, tokenizer.token_to_id(start))]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=special[0], eos_token=special[0], model_max_length=128
    )


def word_piece(sentences: Sequence[str] = SENTENCES, first: int = 4) -> PreTrainedTokenizerFast:
    """Make a cased tokenizer of BERT's kind, whose words begin with a piece of up to `first` letters.

    Its pieces are cut here: the trainer cuts them differently each time.
    """
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted(set(re.findall(r"\w+", " ".join(sentences))))
    letters = sorted(set("".join(sentences)) - {" "})
    pieces = [*letters, *(f"##{letter}" for letter in letters), *(word[:first] for word in words)]
    pieces += [f"##{word[first : first + 3]}" for word in words if len(word) > first]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys([*special, *pieces]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]"))
    )
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **names)


def metaspace_unigram(vocabulary: int = 400, sentences: Sequence[str] = SENTENCES) -> PreTrainedTokenizerFast:
    """Train a tokenizer of SentencePiece's kind, as of XLM-R and Llama; spaces become ▁, unknown characters bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=vocabulary, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(sentences, trainer)
    learned = json.loads(tokenizer.to_str())["model"]["vocab"]
    learned = learned[: len(special)] + sorted(learned[len(special) :])  # the trainer's order differs each time
    pieces = [(piece, round(score, 3)) for piece, score in learned] + [(byte, -20.0) for byte in bytes_]
    tokenizer.model = models.Unigram(pieces, unk_id=special.index("<unk>"), byte_fallback=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = dict(zip(["bos_token", "pad_token", "eos_token", "unk_token", "mask_token"], special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", **names)


def save(folder: Path, make: Callable[[], PreTrainedModel], tokenizer: PreTrainedTokenizerFast, seed: int) -> Path:
    """Save a model with random weights from `seed`, leaving the random state of the tests alone."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_gpt2(folder: Path, seed: int = 0, tokenizer: PreTrainedTokenizerFast | None = None) -> Path:
    tokenizer = tokenizer or byte_level_bpe()
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=128,
        bos_token_id=0, eos_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return save(folder, lambda: GPT2LMHeadModel(config), tokenizer, seed)


def build_llama(folder: Path, seed: int = 0, tokenizer: PreTrainedTokenizerFast | None = None) -> Path:
    tokenizer = tokenizer or byte_level_bpe(start="<s>")
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=128,
        bos_token_id=0, eos_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return save(folder, lambda: LlamaForCausalLM(config), tokenizer, seed)


def build_bert(folder: Path, seed: int = 0, tokenizer: PreTrainedTokenizerFast | None = None) -> Path:
    tokenizer = tokenizer or word_piece()
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=128, initializer_range=0.4,
    )  # fmt: skip
    return save(folder, lambda: BertForMaskedLM(config), tokenizer, seed)


def set_keys(folder: Path, name: str, **values: Any) -> None:
    """Set keys of one of the model's JSON files."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def classifier(labels: dict[int, str] | None = None) -> BertForSequenceClassification:
    """Make a BERT with `word_piece` that puts texts into classes, two unless they are named."""
    config = BertConfig(
        vocab_size=len(word_piece()), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=128, id2label=labels,
    )  # fmt: skip
    return BertForSequenceClassification(config)


def text_to_text(vocabulary: int) -> T5ForConditionalGeneration:
    """Make a T5 for a tokenizer such as `metaspace_unigram`."""
    config = T5Config(
        vocab_size=vocabulary, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=1, pad_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return T5ForConditionalGeneration(config)
