"""The verbs beside scoring: fill, generate and embed."""

from collections.abc import Iterable, Iterator, Sequence

from probing.errors import TooLong, UnsupportedModel
from probing.kinds import KINDS
from probing.language_model import BlankDistribution, Continuation, Request
from probing.scoring.embedding import Vector, embed
from probing.scoring.filling import Filler
from probing.scoring.generation import generate
from probing.scoring.hf_model import HFModel
from probing.scoring.network_state import in_scoring_state
from probing.template import Prompt


class AnsweringModel(HFModel):
    """Base of all kinds of model: adds the verbs whose modules need HFModel and so cannot be imported by it."""

    @in_scoring_state
    def fill(
        self, requests: Iterable[Request], k: int, words: Sequence[str] = ()
    ) -> Iterator[BlankDistribution | TooLong]:
        return Filler(self, k, words).fill(requests)

    @in_scoring_state
    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation | TooLong]:
        if not KINDS[self.kind].writes:
            noun, writing = KINDS[self.kind].noun, " or ".join(facts.noun for facts in KINDS.values() if facts.writes)
            raise UnsupportedModel(f"{self.card.id} is {noun} and writes no text.", f"Choose {writing}.")
        return generate(self, texts, tokens, chat=chat, system=system)

    @in_scoring_state
    def embed(self, texts: Iterable[str]) -> Iterator[Vector | TooLong]:
        return embed(self, texts)
