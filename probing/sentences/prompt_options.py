"""Scores of options behind or within a user's own prompts, without a benchmark."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from warnings import warn

import numpy as np
import pandas as pd

from probing.errors import BadInput, NonFiniteScores, TooLong, without_panics
from probing.language_model import PLL, OptionScores, Scoring
from probing.model_source import ModelSource
from probing.sentences.surprisal import checked_sentences, opened
from probing.settings import Settings
from probing.start_token import AUTO
from probing.template import ANSWER_SLOT, Prompt, with_answer_slot

# The columns of the table, with their types.
COLUMNS = {
    "prompt": "int64",
    "option": "int64",
    "label": "str",
    "statement": "str",
    "tokens": "int64",
    "log_prob": "float64",
    "option_tokens": "int64",
    "option_log_prob": "float64",
}


def score(
    model: Any,
    prompts: str | Iterable[str],
    options: Sequence[str] | Sequence[Sequence[str]],
    *,
    pll: PLL = Settings.pll,
    start: str = AUTO,
    tokenizer: Any = None,
    commit: str = "",
    device: str = "auto",
    dtype: str = "float32",
    batch_tokens: int | None = None,
) -> pd.DataFrame:
    """Return the score of each option of each prompt, as a table with a row for each pair.

    The model is named and loaded as for `probing.run`, and the scores are those of its multiple choice. An option
    stands at [Y], or else behind its prompt, with a space between unless the prompt ends in one. `options`: texts that
    all prompts share, or a list of texts for each prompt. `pll`, `start`: as for `probing.surprisal`.

    Columns: `prompt`, its place among the prompts, from 0; `option`, that of the option among its prompt's; `label`,
    the option; `statement`, the text that was scored; `tokens`, how many of its tokens were added up; `log_prob`, their
    log-probability in nats; `option_tokens` and `option_log_prob`, the same of those tokens alone that the option has
    a part in. Rows are in the order of prompts and options. A prompt with an option that is too long for the model has
    no rows, and a warning names it.
    Raises `BadInput` for bad arguments.

    Examples:
        >>> import probing
        >>> table = probing.score("openai-community/gpt2", ["The capital of Peru is"], ["Lima", "Oslo"])
        >>> table["statement"].tolist()
        ['The capital of Peru is Lima', 'The capital of Peru is Oslo']
        >>> best = table.loc[table.groupby("prompt")["log_prob"].idxmax(), "label"]  # what the model answers
    """
    texts = list(checked_sentences(prompts, "Prompt"))
    filled = [_prompt(number, text) for number, text in enumerate(texts)]
    requests = list(zip(filled, _options_of(options, len(texts)), strict=True))
    for text, (_, labels) in zip(texts, requests, strict=True):
        _refuse_second_space(text, labels)
    loaded = opened(ModelSource(model, tokenizer, commit, device, batch_tokens), dtype, pll, start)
    rows: list[tuple[Any, ...]] = []
    with without_panics(loaded.card.id), loaded.scoring_state():
        answers = loaded.score(iter(requests), Scoring(pll=pll))
        for number, ((prompt, labels), scores) in enumerate(zip(requests, answers, strict=True)):
            if isinstance(scores, TooLong):
                warn(f"Prompt {number} is left out: {scores.message}", stacklevel=2)
            else:
                rows += _rows(number, prompt, labels, scores, loaded.card.id)
    return pd.DataFrame(rows, columns=[*COLUMNS]).astype(COLUMNS)


def _prompt(number: int, text: str) -> Prompt:
    if text.count(ANSWER_SLOT) > 1:
        raise BadInput(f"Prompt {number} has {ANSWER_SLOT} more than once.", "Leave one, where the options stand.")
    return Prompt(tuple(with_answer_slot(text).split(ANSWER_SLOT)), verbatim=True)


def _options_of(options: Any, prompts: int) -> list[tuple[str, ...]]:
    """Return the options of each prompt; raise `BadInput` where they are neither shared nor one list for each."""
    step = "Give a list of texts that all prompts share, or such a list for each prompt."
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise BadInput(f"{options!r:.80} is no list of options.", step)
    listed = list(options)
    shared = all(isinstance(option, str) for option in listed)
    lists = [listed] * prompts if shared else listed
    if len(lists) != prompts:
        raise BadInput(f"There are {prompts:,} prompts and {len(lists):,} lists of options.", step)
    for own in lists:
        if isinstance(own, str) or not isinstance(own, Iterable):
            raise BadInput(f"{own!r:.80} is no list of options.", step)
    checked = [tuple(checked_sentences(own, "Option")) for own in lists]
    if not all(own and all(map(str.strip, own)) for own in checked):
        raise BadInput("There is a prompt without options, or an empty option.", step)
    return checked


def _refuse_second_space(text: str, labels: Iterable[str]) -> None:
    """Raise `BadInput` for an option with a space before it, as other programs want it, where one is put there."""
    if with_answer_slot(text) != f"{text} {ANSWER_SLOT}":
        return
    for label in labels:
        if label[0].isspace():
            step = "Leave it out, or end the prompt in the space that is wanted."
            raise BadInput(f"{label!r:.80} begins with a space, and one is put between prompt and option.", step)


def _rows(
    number: int, prompt: Prompt, labels: Sequence[str], scores: OptionScores, model: str
) -> Iterator[tuple[Any, ...]]:
    own = scores.answer_only()
    sums, own_sums = scores.reduce(), own.reduce()
    if not np.isfinite(sums).all():
        raise NonFiniteScores.of(model, f"for prompt {number}", "log-probability")
    figures = zip(labels, scores.lengths, sums, own.lengths, own_sums, strict=True)
    for place, (label, tokens, total, own_tokens, own_total) in enumerate(figures):
        yield number, place, label, prompt.fill(label).text, tokens, total, own_tokens, own_total
