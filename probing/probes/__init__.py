"""The ways to ask: one module and one line per probe."""

from probing.errors import BadInput
from probing.probes.answering import Answering
from probing.probes.cloze import Cloze
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.perplexity import Perplexity
from probing.probes.probe import Probe
from probing.probes.ranking import Ranking
from probing.probes.similarity import Similarity
from probing.probes.specificity import Specificity

PROBES: dict[str, type[Probe]] = {
    "answering": Answering,
    "cloze": Cloze,
    "multiple_choice": MultipleChoice,
    "perplexity": Perplexity,
    "ranking": Ranking,
    "similarity": Similarity,
    "specificity": Specificity,
}


def probe_named(name: str) -> type[Probe]:
    if name not in PROBES:
        raise BadInput(f"No probe is called {name!r}.", f"Choose from: {', '.join(PROBES)}.")
    return PROBES[name]
