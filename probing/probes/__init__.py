"""The probes by name. A new probe is imported here and added to the tuple."""

from probing.errors import BadInput, suggestion
from probing.probes.answering import Answering
from probing.probes.cloze import Cloze
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.perplexity import Perplexity
from probing.probes.probe import Probe, make
from probing.probes.ranking import Ranking
from probing.probes.similarity import Similarity
from probing.probes.specificity import Specificity
from probing.settings import Settings

PROBES: dict[str, type[Probe]] = {
    probe.name: probe
    for probe in (
        Answering,
        Cloze,
        MultipleChoice,
        Perplexity,
        Ranking,
        Similarity,
        Specificity,
    )
}


def probe_named(name: str) -> type[Probe]:
    if name not in PROBES:
        raise BadInput(f"No probe is called {name!r}.", suggestion(str(name), PROBES))
    return PROBES[name]


def probe_of(settings: Settings) -> Probe:
    """Return the probe of a run, with its options checked."""
    return make(probe_named(settings.probe), settings.options)
