"""The ways to ask: one module and one line per probe."""

from dataclasses import replace
from typing import get_args

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.language_model import PLL, Reduction
from probing.probes.answering import Answering
from probing.probes.cloze import Cloze
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.perplexity import Perplexity
from probing.probes.probe import Probe, make, options
from probing.probes.ranking import Ranking
from probing.probes.similarity import Similarity
from probing.probes.specificity import Specificity
from probing.settings import Settings, narrowed, parts

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


def probe_of(settings: Settings) -> Probe:
    return make(probe_named(settings.probe), settings.options)


def normalised(settings: Settings, benchmark: Benchmark) -> Settings:
    """The same settings in one spelling (order, repetitions, default options), or `BadInput`."""
    for name, choice in (("pll", PLL), ("reduction", Reduction)):
        if getattr(settings, name) not in get_args(choice):
            raise BadInput(
                f"{name} cannot be {getattr(settings, name)!r}.", f"Choose from: {', '.join(get_args(choice))}."
            )
    settings = replace(settings, options=options(probe_of(settings)))
    _refuse_fixed(settings)
    _refuse_idle(settings, benchmark)
    chosen = {relation.id for relation in narrowed(benchmark, settings).relations}
    in_order = tuple(relation.id for relation in benchmark.relations if relation.id in chosen)
    settings = replace(
        settings,
        relations=in_order if settings.relations else (),
        templates=tuple(sorted(set(settings.templates))),
        **probe_named(settings.probe).fixed,
    )
    parts(benchmark, settings)
    return settings


def _refuse_fixed(settings: Settings) -> None:
    """What was asked for is done or refused, and never on record without being done."""
    for name, value in probe_named(settings.probe).fixed.items():
        if getattr(settings, name) not in (value, getattr(Settings(), name)):
            raise BadInput(f"The probe {settings.probe} leaves no choice of {name}: it is {value}.", "Leave it out.")


def _refuse_idle(settings: Settings, benchmark: Benchmark) -> None:
    """What chooses among versions of relations would be on record, and do nothing, where there are none."""
    usual = Settings().tags
    for tag, wanted in settings.tags.items():
        if wanted != usual[tag] and not any(tag in relation.tags for relation in benchmark.relations):
            name = tag.replace("_", " ")
            raise BadInput(f"Benchmark {benchmark.slug} has no {name} {wanted!r}.", "It has none: leave that out.")
