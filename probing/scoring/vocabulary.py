"""The words that a model has as single tokens, and those that several models share (methods 2.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from transformers import PreTrainedTokenizerBase

from probing.language_model import Kind
from probing.scoring.filling import IN_CONTEXT, WINDOW, blanks
from probing.scoring.load import load_tokenizer
from probing.scoring.tokens import Encoder

# English words without content of their own; they answer no question.
STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once
    only or other our ours ourselves out over own same she should so some such than that the their theirs them
    themselves then there these they this those through to too under until up very was we were what when where which
    while who whom whose why will with would you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of 130 strings is harder to read
)


def unified(models: Mapping[str, str], answers: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each model the words that all of them have, each with the text of the model's own token for it.

    `models` maps each model to its commit. To an uncased model "Oslo" is the token "oslo", and none of its own tokens
    reads "Oslo": words are looked up that are a token of any of the models, or one of the `answers`.
    """
    loaded = {model: load_tokenizer(model, commit) for model, commit in models.items()}
    proposed = chain(filter(_is_word, answers), *(words(tokenizer) for tokenizer, _ in loaded.values()))
    shared = list(dict.fromkeys(proposed))
    found = {}
    for model, (tokenizer, kind) in loaded.items():
        found[model] = spellings(tokenizer, kind, shared)
        shared = list(found[model])
    return {model: {word: spelled[word] for word in shared} for model, spelled in found.items()}


def words(tokenizer: PreTrainedTokenizerBase) -> Iterator[str]:
    """Every word that a token may stand for."""
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))], skip_special_tokens=True)
    return filter(_is_word, map(str.strip, texts))


def _is_word(text: str) -> bool:
    """No symbol, no special token (whose text is left out), no stop word."""
    return text.replace("-", "").replace("'", "").isalnum() and text.lower() not in STOP_WORDS


def spellings(tokenizer: PreTrainedTokenizerBase, kind: Kind, texts: Sequence[str]) -> dict[str, str]:
    """Those of the texts that are one token in the middle of a sentence, each with the text of this token."""
    encoder, blank = Encoder(tokenizer, special_tokens=kind == "masked"), tokenizer.mask_token or ""
    known: dict[str, str] = {}
    for start in range(0, len(texts), WINDOW):
        some = texts[start : start + WINDOW]
        (filled,) = blanks([(IN_CONTEXT, some)], encoder, kind, blank)
        single = [(text, token) for text, token in zip(some, filled.options.tolist(), strict=True) if token >= 0]
        known.update((text, tokenizer.decode([token]).strip()) for text, token in single)
    return known
