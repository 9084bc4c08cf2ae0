"""Tiny random encoder-decoders of each family, with tokenizers of its kind, and obvious code that scores with them.

The obvious code makes one call of the network for each option. It shares nothing with the library but the tokenizer and
the network.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import processors

from probing.language_model import Request
from tests.tiny_models import byte_level_bpe, metaspace_unigram, save

SENTINELS = 5
SMALL: dict[str, Any] = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "initializer_factor": 1.0,
}
BART: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 128, "init_std": 0.4,
}  # fmt: skip
LANGUAGE = "en_XX"


def unigram_pieces(*more: str) -> list[tuple[str, float]]:
    """Return the pieces of a tokenizer of SentencePiece's kind in T5's order, with others at the end."""
    backend = metaspace_unigram().backend_tokenizer
    learned = [(piece, score) for piece, score in json.loads(backend.to_str())["model"]["vocab"] if piece[0] != "<"]
    return [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *learned, *((piece, 0.0) for piece in more)]


def sentinel_tokenizer() -> hf.PreTrainedTokenizerFast:
    """Return a tokenizer of T5's kind, in which sentinels are special tokens."""
    names = [f"<extra_id_{number}>" for number in reversed(range(100))]
    return hf.T5Tokenizer(vocab=unigram_pieces(*names), model_max_length=128)


def spaced_sentinel_tokenizer() -> hf.PreTrainedTokenizerFast:
    """Return a tokenizer of mT5's kind, in which sentinels are pieces of the vocabulary with the mark of a space."""
    names = [f"▁<extra_id_{number}>" for number in reversed(range(SENTINELS))]
    return hf.T5Tokenizer(vocab=unigram_pieces(*names), extra_ids=0, model_max_length=128)


def bart_tokenizer() -> hf.PreTrainedTokenizerFast:
    """Return a tokenizer of BART's kind, which puts <s> and </s> around every text."""
    backend = byte_level_bpe().backend_tokenizer
    backend.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    start, end = (("<s>", backend.token_to_id("<s>")), ("</s>", backend.token_to_id("</s>")))
    backend.post_processor = processors.RobertaProcessing(end, start, add_prefix_space=False)
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token=hf.AddedToken("<mask>", lstrip=True), cls_token="<s>", sep_token="</s>", model_max_length=128,
    )  # fmt: skip


def mbart_tokenizer() -> hf.PreTrainedTokenizerFast:
    """Return a tokenizer of mBART's kind, which puts </s> and a language's code behind every text."""
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *unigram_pieces()[3:]]
    return hf.MBartTokenizer(vocab=[*pieces, (LANGUAGE, 0.0), ("<mask>", 0.0)], src_lang=LANGUAGE, model_max_length=128)


def t5(kind: type[hf.PreTrainedModel], tokenizer: hf.PreTrainedTokenizerFast, **settings: Any) -> hf.PreTrainedModel:
    """Return a network of T5's kind; embeddings that are this large make a wrong token change the scores."""
    config = kind.config_class(
        vocab_size=len(tokenizer), decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, **SMALL | settings
    )
    return seeded(lambda: kind(config))


def bart(kind: type[hf.PreTrainedModel], tokenizer: hf.PreTrainedTokenizerFast) -> hf.PreTrainedModel:
    special = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    config = kind.config_class(
        vocab_size=len(tokenizer), decoder_start_token_id=tokenizer.eos_token_id, **special, **BART
    )
    return seeded(lambda: kind(config))


def seeded(make: Callable[[], hf.PreTrainedModel]) -> hf.PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make().eval()


FAMILIES: dict[str, Callable[[], tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]]] = {
    "t5": lambda: (t5(hf.T5ForConditionalGeneration, tokenizer := sentinel_tokenizer()), tokenizer),
    "flan-t5, gated and untied": lambda: (
        t5(
            hf.T5ForConditionalGeneration,
            tokenizer := sentinel_tokenizer(),
            feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,
        ),
        tokenizer,
    ),
    "mt5": lambda: (t5(hf.MT5ForConditionalGeneration, tokenizer := spaced_sentinel_tokenizer()), tokenizer),
    "bart": lambda: (bart(hf.BartForConditionalGeneration, tokenizer := bart_tokenizer()), tokenizer),
    "mbart": lambda: (bart(hf.MBartForConditionalGeneration, tokenizer := mbart_tokenizer()), tokenizer),
}


def build(folder: Path, family: str) -> Path:
    """Save the network and tokenizer of a family as on the hub."""
    network, tokenizer = FAMILIES[family]()
    return save(folder, lambda: network, tokenizer, 0)


@torch.inference_mode()
def written_log_probs(network: hf.PreTrainedModel, read: str, written: list[int], tokenizer: Any) -> list[float]:
    """Return the log-probability of each token that the decoder writes, as training with `labels` sees it."""
    source = torch.tensor([tokenizer(read).input_ids])
    logits = network(input_ids=source, labels=torch.tensor([written])).logits[0].double()
    return [float(row.log_softmax(-1)[token]) for row, token in zip(logits, written, strict=True)]


def obvious_span(network: hf.PreTrainedModel, tokenizer: Any, request: Request, whole: bool) -> list[list[float]]:
    """Score options by sentinels: the decoder writes <extra_id_0>, the option, and (if whole) <extra_id_1>."""
    prompt, options = request
    sentinels = [tokenizer("<extra_id_0> <extra_id_1>").input_ids[number] for number in range(2)]
    scores = []
    for option in options:
        statement = prompt.fill(option, "<extra_id_1>")
        read = statement.text[: statement.start] + "<extra_id_0>" + statement.text[statement.end :]
        text = statement.text[statement.start : statement.end]
        own = tokenizer(text, add_special_tokens=False).input_ids
        tokens = written_log_probs(network, read, [sentinels[0], *own, sentinels[1]], tokenizer)
        scores.append(tokens[1:] if whole else tokens[1:-1])
    return scores


def obvious_infilling(network: hf.PreTrainedModel, tokenizer: Any, request: Request, whole: bool) -> list[list[float]]:
    """Score options by infilling: the decoder writes the text; all its tokens count, or the option's only."""
    prompt, options = request
    scores = []
    for option in options:
        statement = prompt.fill(option, tokenizer.mask_token)
        read = statement.text[: statement.start] + tokenizer.mask_token + statement.text[statement.end :]
        encoding = tokenizer(statement.text).encodings[0]
        tokens = written_log_probs(network, read, encoding.ids, tokenizer)
        places = zip(tokens, encoding.special_tokens_mask, encoding.offsets, strict=True)
        scores.append(
            [
                score
                for score, special, (begin, end) in places
                if not special and (whole or (begin < statement.end and end > statement.start))
            ]
        )
    return scores


OBVIOUS = {family: obvious_infilling if family in ("bart", "mbart") else obvious_span for family in FAMILIES}
