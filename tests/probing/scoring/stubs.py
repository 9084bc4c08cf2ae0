"""Networks whose numbers are known beforehand: each token's probability depends on one neighbour, by a table."""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.nn.functional import one_hot
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput, MaskedLMOutput

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class Neighbour(torch.nn.Module):
    """Shows the output head one token: `step` places on (0: the token itself, which is all that a bigram needs)."""

    def __init__(self, vocabulary: int, step: int) -> None:
        super().__init__()
        self.vocabulary, self.step = vocabulary, step

    def forward(self, input_ids: torch.Tensor) -> BaseModelOutput:
        seen = one_hot(input_ids.roll(-self.step, dims=1), self.vocabulary).float()
        return BaseModelOutput(last_hidden_state=seen)


class TableNetwork(PreTrainedModel):
    """`table[neighbour, token]` are logits. `seen` holds every input; above `limit` positions memory runs out."""

    config_class = PreTrainedConfig
    base_model_prefix = "body"

    def __init__(self, table: torch.Tensor, step: int) -> None:
        super().__init__(PreTrainedConfig(vocab_size=len(table), hidden_size=1))
        self.body = Neighbour(len(table), step)
        self.head = torch.nn.Linear(*table.shape, bias=False)
        self.head.weight.data = table.T.clone()
        self.limit: float = float("inf")
        self.seen: list[list[int]] = []

    def get_output_embeddings(self) -> torch.nn.Module:
        return self.head

    def forward(self, input_ids: torch.Tensor, **_: Any) -> MaskedLMOutput:
        if input_ids.numel() > self.limit:
            raise torch.OutOfMemoryError("out of memory")
        self.seen.extend(input_ids.tolist())
        return MaskedLMOutput(logits=self.head(self.body(input_ids=input_ids)["last_hidden_state"]))


def bigram(table: torch.Tensor) -> TableNetwork:
    """Causal: the next token by this one."""
    return TableNetwork(table, step=0)


def right_neighbour(table: torch.Tensor) -> TableNetwork:
    """Masked: a token by the one to its right, which may be hidden."""
    return TableNetwork(table, step=1)


def random_table(vocabulary: int) -> torch.Tensor:
    return torch.randn(vocabulary, vocabulary, generator=torch.Generator().manual_seed(0)) * 2


def whole_words(words: Sequence[str], start: str = "<s>") -> PreTrainedTokenizerFast:
    """A token per word, in any case; without `start` there is nothing to put in front."""
    vocabulary = {word: index for index, word in enumerate([start or "<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=start or "<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=start or None)


def word_pieces(pieces: Sequence[str]) -> PreTrainedTokenizerFast:
    """BERT's special tokens, then the given pieces."""
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
