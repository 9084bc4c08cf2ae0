"""What stands at the blank: the distribution over the vocabulary at one position, and options that are one token."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import torch
from numpy.typing import NDArray

from probing.language_model import BlankDistribution, Kind, Request
from probing.scoring.hf_model import HFModel, Input, pieces
from probing.scoring.tokens import Encoded, Encoder, grouped
from probing.template import Prompt, Statement

Ids = tuple[int, ...]
Ints = NDArray[np.int64]
WINDOW = 4096  # options that are tokenized together
IN_CONTEXT = Prompt(("It is ", "."))  # a word is looked up as it stands in a sentence


@dataclass(frozen=True)
class Blank:
    """An input, the position whose output tells what stands at the blank, and each option's token (-1: not one)."""

    ids: Ids
    position: int
    options: Ints


def blanks(asked: Sequence[Request], encoder: Encoder, kind: Kind, blank: str) -> list[Blank]:
    """Tokenize prompts and their options. A causal model sees the text left of the blank, without its last space."""
    statements: list[Statement] = []
    for prompt, options in asked:
        statements += [_empty(prompt, kind, blank), *(_filled(prompt, option, kind, blank) for option in options)]
    encoded, special = iter(encoder.encode(statements)), encoder.tokenizer.all_special_ids
    if kind == "causal":
        return [_behind(next(encoded), [next(encoded) for _ in options], special) for _, options in asked]
    mask = encoder.tokenizer.mask_token_id
    return [_hidden(next(encoded), [next(encoded) for _ in options], mask, special) for _, options in asked]


def _empty(prompt: Prompt, kind: Kind, blank: str) -> Statement:
    statement = prompt.fill(blank, blank)
    if kind == "masked":
        return statement
    text = statement.text[: statement.start].rstrip()
    return Statement(text, len(text), len(text))


def _filled(prompt: Prompt, option: str, kind: Kind, blank: str) -> Statement:
    statement = prompt.fill(option, blank)
    return statement if kind == "masked" else Statement(statement.text[: statement.end], statement.start, statement.end)


def _behind(empty: Encoded, filled: Sequence[Encoded], special: Sequence[int]) -> Blank:
    """The blank behind a causal model's text."""
    tokens = [_between(statement.ids, empty.ids, (), special) for statement in filled]
    return Blank(empty.ids, len(empty.ids) - 1, np.array(tokens, np.int64))


def _hidden(empty: Encoded, filled: Sequence[Encoded], mask: int, special: Sequence[int]) -> Blank:
    """The blank in the middle of a masked model's text.

    Beside a mask token some tokenizers (SentencePiece) cut the text otherwise than beside a word. Where for that reason
    no option fits, the mask takes the place of an option's token, in the shortest text that this gives.
    """
    frames = {(empty.ids, empty.scored[empty.answer.start]): None}
    for statement in filled:
        if len(places := statement.scored[statement.answer]) == 1:
            ids = statement.ids
            frames[(*ids[: places[0]], mask, *ids[places[0] + 1 :]), places[0]] = None
    found = []
    for ids, place in frames:
        before, after = ids[:place], ids[place + 1 :]
        tokens = [_between(statement.ids, before, after, special) for statement in filled]
        found.append(Blank(ids, place, np.array(tokens, np.int64)))
    fitting = [blank for blank in found if (blank.options >= 0).any()]
    if not fitting or fitting[0] is found[0]:
        return found[0]
    return min(fitting, key=lambda blank: len(blank.ids))


def _between(ids: Ids, before: Ids, after: Ids, special: Sequence[int]) -> int:
    """The one token that the option adds, or -1 where it is several, none, unknown, or changes its neighbours."""
    place = len(before)
    one = len(ids) == place + 1 + len(after) and ids[:place] == before and ids[place + 1 :] == after
    return ids[place] if one and ids[place] not in special else -1


class Filler:
    """Answers `fill` for a model: a window of prompts at a time, equal inputs once."""

    def __init__(self, model: HFModel, k: int, words: Sequence[str] = ()) -> None:
        self.model = model
        self.allowed = self._allowed(words)
        self.k = k if self.allowed is None else min(k, int(self.allowed.sum()))
        self._texts: dict[int, str] = {}

    def fill(self, asked: Iterable[Request]) -> Iterator[BlankDistribution]:
        for group in grouped(asked, WINDOW):
            found = blanks(group, self.model.encoder, self.model.kind, self.model.blank)
            users: dict[Input, list[int]] = {}
            for index, blank in enumerate(found):
                self.model.refuse_nothing(blank.ids)
                self.model.refuse_unfit(blank.ids)
                users.setdefault((blank.ids, blank.position), []).append(index)
            answers: dict[int, BlankDistribution] = {}
            for batch, logits in self.model.at_blanks(list(users), len(group)):
                inputs = iter(batch)
                for piece in pieces(logits):
                    askers = [users[each] for each in islice(inputs, len(piece))]
                    fillings = self._fillings(piece, [[found[user].options for user in row] for row in askers])
                    answers.update(zip(chain.from_iterable(askers), fillings, strict=True))
            yield from (answers[index] for index in range(len(group)))

    def _fillings(self, logits: torch.Tensor, asked: Sequence[Sequence[Ints]]) -> Iterator[BlankDistribution]:
        """What distributions say to all who ask for them; `asked` has the options of each, row by row.

        The device is waited for at the end only.
        """
        if not asked:  # a row that holds beginnings only
            return
        rows = [row for row, askers in enumerate(asked) for _ in askers]
        options = list(chain.from_iterable(asked))
        counts = list(map(len, options))
        where = self.model.to_device(np.repeat(rows, counts))
        tokens = self.model.to_device(np.maximum(np.concatenate(options), 0))
        log_probs = logits.float().log_softmax(-1)
        ranked = log_probs if self.allowed is None else log_probs.masked_fill(~self.allowed, -torch.inf)
        best = ranked.topk(min(self.k, ranked.shape[-1]))
        own = ranked[where, tokens]
        better = [
            (ranked[row] > some[:, None]).sum(-1) for row, some in zip(rows, torch.split(own, counts), strict=True)
        ]
        ranks = (torch.cat(better) + 1).where(own.isfinite(), 0).cpu().numpy()
        found = log_probs[where, tokens].double().cpu().numpy()
        values, texts = best.values.double().cpu().numpy(), self._texts_of(best.indices)
        ends = np.cumsum(counts)[:-1]
        for row, ids, scores, places in zip(rows, options, np.split(found, ends), np.split(ranks, ends), strict=True):
            single = ids >= 0
            yield BlankDistribution(
                texts[row], values[row], np.where(single, scores, np.nan), np.where(single, places, 0)
            )

    def _texts_of(self, tokens: torch.Tensor) -> list[tuple[str, ...]]:
        return [tuple(map(self._text, row)) for row in tokens.tolist()]

    def _text(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = self.model.tokenizer.decode([token]).strip()
        return self._texts[token]

    def _allowed(self, words: Sequence[str]) -> torch.Tensor | None:
        """Which tokens are ranked, shape (vocabulary,); None for all."""
        if not words:
            return None
        allowed = np.zeros(self.model.network.config.get_text_config().vocab_size, np.int64)
        (blank,) = blanks([(IN_CONTEXT, words)], self.model.encoder, self.model.kind, self.model.blank)
        allowed[blank.options[blank.options >= 0]] = 1
        return self.model.to_device(allowed).bool()
