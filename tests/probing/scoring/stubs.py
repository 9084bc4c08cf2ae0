"""Networks with known outputs: the probability of each token depends on one neighbour, according to a table."""

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.nn.functional import one_hot
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput, MaskedLMOutput

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class Neighbour(torch.nn.Module):
    """Encoder whose state at each place is one token: the one `step` places on (0 for the token itself)."""

    def __init__(self, vocabulary: int, step: int) -> None:
        super().__init__()
        self.vocabulary, self.step = vocabulary, step

    def forward(self, input_ids: torch.Tensor) -> BaseModelOutput:
        states = one_hot(input_ids.roll(-self.step, dims=1), self.vocabulary).float()
        return BaseModelOutput(last_hidden_state=states)


class TableNetwork(PreTrainedModel):
    """Network with the logits `table[neighbour, token]`.

    `seen`: all inputs so far; `limit`: inputs with more positions raise an out-of-memory error.
    """

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
    """Return a causal network that predicts the next token from the present one."""
    return TableNetwork(table, step=0)


def right_neighbour(table: torch.Tensor) -> TableNetwork:
    """Return a masked network that predicts a token from the token to its right, which may be masked."""
    return TableNetwork(table, step=1)


def random_table(vocabulary: int) -> torch.Tensor:
    return torch.randn(vocabulary, vocabulary, generator=torch.Generator().manual_seed(0)) * 2


def whole_words(words: Sequence[str], start: str = "<s>") -> PreTrainedTokenizerFast:
    """Build a tokenizer with one token per word, whatever its case; `start`: its start token, if any."""
    vocabulary = {word: index for index, word in enumerate([start or "<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=start or "<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=start or None)


def word_pieces(pieces: Sequence[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer with BERT's special tokens and the given pieces."""
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
