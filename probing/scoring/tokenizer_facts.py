"""Facts about a tokenizer, and the start token that a run's settings choose, found out by trying it."""

from typing import Any

from transformers import PreTrainedTokenizerBase

from probing.errors import BadInput
from probing.start import BOS, EOS, NONE, StartToken, TokenizerFacts, start_marks_roles, start_name

SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
WORD = "Paris"
SPACES = ("▁", "Ġ", " ")  # how tokens begin that include the space before a word


def start_id(tokenizer: PreTrainedTokenizerBase, start: str) -> int | None:
    """Return the id of the start token that a setting chooses (`probing.start`), None for no such token.

    Raises `BadInput` if the tokenizer does not have the token.
    """
    ids = {BOS: tokenizer.bos_token_id, EOS: tokenizer.eos_token_id}
    name = start_name(start, has_bos=ids[BOS] is not None, has_eos=ids[EOS] is not None)
    if name == NONE:
        return None
    if name in ids:
        if ids[name] is None:
            raise BadInput(f"The tokenizer has no {start} token.", f"Leave out --start {start}, or give another token.")
        return int(ids[name])
    if int(start) >= len(tokenizer):
        last = len(tokenizer) - 1
        raise BadInput(f"The tokenizer has no token {start}.", f"Give an id from 0 to {last}, or bos, eos or none.")
    return int(start)


def facts_of(tokenizer: PreTrainedTokenizerBase, start: StartToken | None) -> TokenizerFacts:
    """Return the facts about a fast tokenizer."""
    backend: Any = tokenizer.backend_tokenizer
    word = backend.normalizer.normalize_str(WORD) if backend.normalizer else WORD
    first = tokenizer.convert_ids_to_tokens(tokenizer(WORD, add_special_tokens=False).input_ids[:1])
    special_tokens = {name.removesuffix("_token"): getattr(tokenizer, name, None) for name in SPECIAL_TOKENS}
    return TokenizerFacts(
        algorithm=type(backend.model).__name__,
        vocabulary=len(tokenizer),
        lower_cases=word == word.lower(),
        adds_space=any(token.startswith(SPACES) for token in first),
        special_tokens={name: str(text) for name, text in special_tokens.items() if text},
        start=start,
    )


def chosen_start(tokenizer: PreTrainedTokenizerBase, policy: str) -> StartToken:
    """Return the start token that a setting chooses; raise `BadInput` if the tokenizer does not have it."""
    id_ = start_id(tokenizer, policy)
    if id_ is None:
        return StartToken(policy)
    text = str(tokenizer.convert_ids_to_tokens(id_))
    name = {tokenizer.eos_token_id: EOS, tokenizer.bos_token_id: BOS}.get(id_, "")
    template = tokenizer.chat_template or ""
    templates = list(template.values()) if isinstance(template, dict) else [template]
    return StartToken(policy, id_, text, name, start_marks_roles(text, name, templates))
