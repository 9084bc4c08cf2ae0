"""The fewest token positions in which all statements of a workload can be scored: a limit of any implementation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from probing.arrays import Ids
from probing.scoring.masked import hidden_with
from probing.scoring.tokens import Encoded, Encoder
from speed.networks import LoadedNetwork
from speed.work import Workload


class FewestPositions(NamedTuple):
    """`real`: without padding, statement by statement; `distinct`: each distinct input (or prefix) once."""

    real: int
    distinct: int


def fewest_positions(loaded: LoadedNetwork, workload: Workload) -> FewestPositions:
    encoder = Encoder(loaded.tokenizer, special_tokens=loaded.kind == "masked")
    requests = (item.request for item in workload)
    statements = encoder.encode([prompt.fill(option) for prompt, options in requests for option in options])
    if loaded.kind == "masked":
        return of_masked(statements, loaded.tokenizer.mask_token_id)
    return of_causal(statements)


def of_causal(statements: Sequence[Encoded]) -> FewestPositions:
    """Count token positions of a causal model.

    A prefix counts only if a token follows it, because the logits after the last token are not used.
    """
    prefixes = {s.ids[:length] for s in statements for length in range(1, len(s.ids))}
    return FewestPositions(sum(len(s.ids) for s in statements), len(prefixes))


def of_masked(statements: Sequence[Encoded], mask: int) -> FewestPositions:
    """Count token positions of a masked model, which reads each statement once for every hidden token."""
    inputs = [ids for statement in statements for ids in _masked_inputs(statement, mask)]
    return FewestPositions(sum(map(len, inputs)), sum(map(len, set(inputs))))


def _masked_inputs(statement: Encoded, mask: int) -> Iterator[Ids]:
    for column in range(len(statement.scored)):
        hidden = set(hidden_with(statement, column, "within_word_l2r"))
        yield tuple(mask if position in hidden else token for position, token in enumerate(statement.ids))
