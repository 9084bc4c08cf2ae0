"""The words that a model has as single tokens, and those that several models share (methods 2.2)."""

from collections.abc import Iterator, Mapping

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


def unified(models: Mapping[str, str]) -> frozenset[str]:
    """The words that every model has; `models` maps each model to its commit."""
    return frozenset.intersection(*(words(*load_tokenizer(model, commit)) for model, commit in models.items()))


def words(tokenizer: PreTrainedTokenizerBase, kind: Kind) -> frozenset[str]:
    """What is one token in the middle of a sentence, without symbols, special tokens and stop words."""
    found = [word for word in _candidates(tokenizer) if word.lower() not in STOP_WORDS]
    encoder, blank = Encoder(tokenizer, special_tokens=kind == "masked"), tokenizer.mask_token or ""
    known: set[str] = set()
    for start in range(0, len(found), WINDOW):
        some = found[start : start + WINDOW]
        (filled,) = blanks([(IN_CONTEXT, some)], encoder, kind, blank)
        known.update(word for word, token in zip(some, filled.options, strict=True) if token >= 0)
    return frozenset(known)


def _candidates(tokenizer: PreTrainedTokenizerBase) -> Iterator[str]:
    """Every text that a token may stand for and that has a letter or a digit."""
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))], skip_special_tokens=True)
    distinct = dict.fromkeys(text.strip() for text in texts)
    return (text for text in distinct if text and text.replace("-", "").replace("'", "").isalnum())
