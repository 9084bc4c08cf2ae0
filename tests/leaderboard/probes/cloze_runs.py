"""Runs of cloze with their items and scores, as a worker would leave them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from leaderboard.models import Benchmark, Model, PrintedRow, Run
from probing.language_model import BlankDistribution, Continuation, Request
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel
from tests.leaderboard import factories as make

TRIPLES = [
    {"fact_type": "city_country", "subject": "Paris", "objects": ["France"]},
    {"fact_type": "city_country", "subject": "Cairo", "objects": ["Egypt"]},
    {"fact_type": "river_countries", "subject": "Inn", "objects": ["Austria", "Germany"]},
    {"fact_type": "desert_continent", "subject": "Sahara", "objects": ["Africa"]},
]


class Answers(FakeModel):
    """Ranks three tokens, or writes them one after the other."""

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for _, options in requests:
            tokens, logs = ("Egypt", "Austria", "Africa"), np.array([-1.0, -2.0, -3.0])
            yield BlankDistribution(tokens, logs, np.full(len(options), np.nan), np.zeros(len(options), int))

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation(" France and Austria.", [7, 11, 19, 20]) for _ in texts)


def cloze_run(on: Benchmark, of: Model) -> Run:
    """A finished run with its items, as a worker would leave it."""
    card = FAKE_CARD.__class__(**{**vars(FAKE_CARD), "kind": of.kind})
    return make.probed(on, of, Answers(card=card), Settings("cloze"))


def printed_cloze_row(geography: Benchmark, model: str = "org/printed") -> PrintedRow:
    of = make.model(model, kind="masked", source=Model.Source.PUBLISHED)
    about = {"dimension": "fact_type", "part": "city_country", "value": 0.5, "n": 0}
    return make.printed(geography, [{**about, "metric": metric} for metric in ("in_top_5", "accuracy")], of)
