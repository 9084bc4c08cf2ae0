"""Counted positions of ranking, on candidates whose prefixes can be counted by hand."""

from probing.language_model import Scoring
from probing.scoring.tokens import Encoder
from probing.template import prompt
from speed.culture_counts import CountingPrefixes
from tests.tiny_models import byte_level_bpe

REQUEST = prompt("[X] is in [Y]!", "a"), ["b", "c"]


def counted(*requests: object) -> CountingPrefixes:
    model = CountingPrefixes(Encoder(byte_level_bpe(vocabulary=0), special_tokens=False))
    list(model.score(requests, Scoring()))  # type: ignore[arg-type]
    return model


def test_a_common_beginning_counts_once_and_a_last_token_not_at_all() -> None:
    """The start token and “a is in ” are nine characters with the start, then each option is read for the mark."""
    model = counted(REQUEST)
    assert (model.scored, model.distinct, model.in_rows) == (2, 1 + len("a is in ") + 2, 1 + len("a is in ") + 2)


def test_requests_that_are_repeated_share_everything() -> None:
    assert counted(REQUEST, REQUEST).distinct == counted(REQUEST).distinct


def test_a_long_beginning_that_many_rows_would_repeat_is_in_one_of_them() -> None:
    long = "word " * 60
    options = [f"{number:04} {number:04}" for number in range(100)]
    model = counted((prompt(f"{long}[X] is in [Y]!", "a"), options))
    assert model.distinct <= model.in_rows < 1.1 * model.distinct
