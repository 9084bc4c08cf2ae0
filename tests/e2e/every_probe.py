"""Fill a site with every benchmark that ships and with runs of fake models.

Every probe then has pages with content, within seconds and without a network.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from leaderboard.models import Benchmark, Model, Run
from leaderboard.stored import artefacts, benchmarks
from leaderboard.worker import jobs
from probing.benchmark import Benchmark as Content
from probing.catalog import CATALOG, EMBEDDED
from probing.language_model import BlankDistribution, Continuation, Request
from probing.probes.normalise import normalised
from probing.probes.parts import parts
from probing.results.joining import joined
from probing.runner import probe_part
from probing.template import prompt
from tests.fakes import FAKE_CARD, FakeModel

ITEMS = 8  # of each relation
WORDS = ("the", "Europe", "north", "Asia", "France", "him", "Spain", "now", "Africa", "us")
CARDS = (
    (replace(FAKE_CARD, id="org/encoder", kind="masked", parameters=110_000_000), 0.4),
    (replace(FAKE_CARD, id="org/generator", kind="causal", parameters=1_700_000_000), 0.7),
)


@dataclass
class Pupil(FakeModel):
    """A fake model: it scores what it `knows` highly and ranks the right word somewhere among common words."""

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for blank, options in requests:
            place = random.Random(blank.fill(options[0]).text).randrange(len(WORDS))
            tokens = (*WORDS[:place], options[0], *WORDS[place:])[:k]
            ranks = np.array([place + 1, *[0] * (len(options) - 1)])
            yield BlankDistribution(tokens, -np.arange(1.0, len(tokens) + 1), np.full(len(options), -1.0), ranks)

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        written = " " + " and ".join(WORDS[: tokens // 2])
        ends = [at for at in range(1, len(written) + 1) if written[at : at + 1] in ("", " ")]
        return (Continuation(written, ends) for _ in texts)


def fill() -> None:
    for entry in CATALOG.values():
        if not entry.archive:
            on, _ = benchmarks.install(entry.format, EMBEDDED / entry.slug, entry.slug)
            for card, share in CARDS:
                content = benchmarks.read(on)
                store(on, content, Pupil(card=card, knows=frozenset(learnt(content, card.id, share))))


def learnt(content: Content, name: str, share: float) -> Iterator[str]:
    """Yield a share of the true statements."""
    chance = random.Random(name)
    for relation in content.relations:
        for item in relation.items:
            if item.tags.get("truth") != "false" and chance.random() < share:
                right = relation.options_of(item)[item.answers[0]]
                for template in range(len(relation.templates)):
                    yield prompt(relation.template_of(item, template), item.subject).fill(right).text


def store(on: Benchmark, content: Content, pupil: Pupil) -> None:
    """Store a finished run as a worker does."""
    limit = None if on.probe == "perplexity" else ITEMS  # what is false stands behind what is true
    settings = normalised(replace(on.settings_with({}), limit=limit), content)
    now = datetime.now(UTC)
    finished = [probe_part(pupil, content, settings, part) for part in parts(content, settings)]
    result = joined(finished, content, settings)
    of, _ = Model.objects.get_or_create(
        hub_id=pupil.card.id,
        commit=pupil.card.commit,
        defaults={"kind": pupil.card.kind, "parameters": pupil.card.parameters, "architecture": "Pupil"},
    )
    run = Run.objects.create(
        model=of,
        benchmark=on,
        state=Run.State.AGGREGATING,
        settings=settings.to_json(),
        settings_digest=settings.digest,
        started=now,
    )
    jobs.finish(run, result, artefacts.store_result(run, result))
