"""Words that a model has as single tokens, and those that several models share (methods 2.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from transformers import PreTrainedTokenizerBase

from probing.kinds import Kind
from probing.scoring.filling import IN_CONTEXT, OPTIONS_PER_WINDOW, blanks
from probing.scoring.load import MODEL_CLASSES
from probing.scoring.networks import load_tokenizer

# English words without content of their own, which cannot be the answer to a question.
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
    """Map each model to the words that all models have as single tokens, each with the text of the model's own token.

    `models` maps each model to its commit. Candidates are the words that are a token of any of the models, and the
    `answers`: the token of an uncased model for "Oslo" is "oslo", so that its own tokens would never propose "Oslo".
    Raises what `probing.load` raises for a tokenizer. Source: S-TEST (Huang et al. 2023); docs/methods/specificity.md.

    Examples:
        >>> import probing
        >>> models = {"openai-community/gpt2": "", "distilbert/distilgpt2": ""}
        >>> words = probing.unified(models, ["Paris"])
        >>> words["openai-community/gpt2"].keys() == words["distilbert/distilgpt2"].keys()
        True
    """
    tokenizers = {model: load_tokenizer(model, commit) for model, commit in models.items()}
    from_tokens = (token_words(tokenizer) for tokenizer, _ in tokenizers.values())
    shared = list(dict.fromkeys(chain(filter(_is_word, answers), *from_tokens)))
    spellings = {}
    for model, (tokenizer, kind) in tokenizers.items():
        spellings[model] = single_tokens(tokenizer, kind, shared)
        shared = list(spellings[model])
    return {model: {word: tokens[word] for word in shared} for model, tokens in spellings.items()}


def token_words(tokenizer: PreTrainedTokenizerBase) -> Iterator[str]:
    """Yield every word that a single token may stand for."""
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))], skip_special_tokens=True)
    return filter(_is_word, map(str.strip, texts))


def _is_word(text: str) -> bool:
    """Return whether the text is a word: not a symbol, not empty (a special token) and not a stop word."""
    return text.replace("-", "").replace("'", "").isalnum() and text.lower() not in STOP_WORDS


def single_tokens(tokenizer: PreTrainedTokenizerBase, kind: Kind, texts: Sequence[str]) -> dict[str, str]:
    """Map those texts that are a single token in the middle of a sentence to the text of this token."""
    encoder, blank = MODEL_CLASSES[kind].reading_blanks(tokenizer), tokenizer.mask_token or ""
    spellings: dict[str, str] = {}
    for start in range(0, len(texts), OPTIONS_PER_WINDOW):
        window = texts[start : start + OPTIONS_PER_WINDOW]
        ((_, tokens),) = blanks([(IN_CONTEXT, window)], encoder, blank)
        single = [(text, token) for text, token in zip(window, tokens.tolist(), strict=True) if token >= 0]
        spellings.update((text, tokenizer.decode([token]).strip()) for text, token in single)
    return spellings
