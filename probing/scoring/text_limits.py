"""The limits of a network: how long a text may be, and which tokens it knows."""

from collections.abc import Iterable, Sequence

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from probing.errors import BadInput, TooLong, UnsupportedModel
from probing.scoring.tokens import Encoded


class TextLimits:
    """Checks of tokenized texts before a network reads them.

    `longest`: the most tokens of a text. `vocabulary`: the number of tokens that the network knows.
    """

    def __init__(self, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
        self.longest = min(context_length(network), tokenizer.model_max_length)
        self.vocabulary: int = network.config.get_text_config().vocab_size
        self._tokenizer, self._name = tokenizer, name

    def too_long(self, ids: Sequence[int], source: Sequence[int] = (), more: int = 0) -> TooLong | None:
        """Return the error for a text that takes more tokens than the network, None for one that fits.

        `source`: what an encoder reads beside it. `more`: how many tokens are to be written behind it. Raises
        `UnsupportedModel` if it has a token that is not in the vocabulary.
        """
        if source and (error := self.too_long(source)):
            return error
        if len(ids) + more > self.longest:
            text = f"A text takes {len(ids)} tokens" + (f" and its continuation {more}" if more else "")
            return TooLong(
                f"{text}, the model takes {self.longest}: {self._tokenizer.decode(ids[:20])} ...",
                "Shorten it, or choose a model that takes longer texts.",
                self.longest,
            )
        if max(ids, default=0) >= self.vocabulary:
            raise UnsupportedModel(
                f"The tokenizer has tokens that the model does not know ({self.vocabulary} or higher).",
                "Save the model with the tokenizer that it was trained with.",
            )
        return None

    def first_too_long(self, statements: Iterable[Encoded]) -> TooLong | None:
        """Return the error of the first statement that is too long; raise `BadInput` if one has nothing to score."""
        first = None
        for statement in statements:
            first = first or self.too_long(statement.ids, statement.source)
            self._refuse_unscored(statement)
        return first

    def _refuse_unscored(self, statement: Encoded) -> None:
        if not statement.scored:
            raise BadInput(
                f"The tokenizer leaves nothing to score of {self._tokenizer.decode(statement.ids)!r}.",
                "Remove the option or choose another model.",
            )

    def refuse_empty(self, ids: Sequence[int]) -> None:
        """Raise `BadInput` if no token precedes a blank that is to be filled, or a text that is to be continued."""
        if not ids:
            raise BadInput(
                f"{self._name} has no token to begin with, and nothing stands before the blank.",
                "Choose another template, or a model whose tokenizer has one.",
            )


def context_length(network: PreTrainedModel) -> int:
    """Return how many tokens a network takes at once; a large number if it has no limit of its own.

    RoBERTa and its kin keep the first of their position embeddings for padding.
    """
    limit = int(getattr(network.config.get_text_config(), "max_position_embeddings", None) or 2**31)
    embeddings = getattr(network.base_model, "embeddings", None)
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    return limit if padding is None else limit - padding - 1
