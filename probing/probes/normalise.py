"""Settings from the values that somebody chose, checked and in one spelling."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.probes import probe_named, probe_of
from probing.probes.parts import narrowed, parts, relation_tags, template_counts
from probing.probes.probe import changed_options, declared_options
from probing.settings import LM_EVAL, SETTINGS, Settings, usual_spelling
from probing.start_token import NONE

# The values of settings with which the protocol of lm-evaluation-harness goes together.
UNLIKE_HARNESS = frozenset({"few_shot", "chat"})
HARNESS_CHOICES: Mapping[str, tuple[Any, ...]] = {"reduction": ("sum",), "dtype": ("float32",)}


def chosen_settings(benchmark: Benchmark, values: Mapping[str, Any]) -> Settings:
    """Return the settings of a run, normalised, from values of settings and of the probe's own options, by name.

    What is not named takes its default value, the probe that of the benchmark.
    """
    values = usual_spelling(values)
    probe = probe_named(values.get("probe") or benchmark.probe)
    own = declared_options(probe)
    for name in values.keys() - SETTINGS.keys() - own.keys():
        names = f"Settings: {', '.join(SETTINGS)}. Options of the probe: {', '.join(own) or 'none'}."
        raise BadInput(f"There is no setting {name!r}, and the probe {probe.name} has no option {name!r}.", names)
    settings = {name: SETTINGS[name].check(value) for name, value in values.items() if name in SETTINGS}
    options = {name: value for name, value in values.items() if name not in SETTINGS}
    return normalised(Settings(**{**settings, "probe": probe.name, "options": options}), benchmark)


def normalised(settings: Settings, benchmark: Benchmark) -> Settings:
    """Return the same settings in one spelling (order, repetitions, default options), or raise `BadInput`."""
    for name, setting in SETTINGS.items():
        setting.check(getattr(settings, name))
    settings = replace(settings, options=changed_options(probe_of(settings)))
    probe_of(settings).refuse_settings(settings)
    _refuse_missing_tags(settings, benchmark)
    if settings.protocol == LM_EVAL:
        settings = _with_harness_protocol(settings, benchmark)
    chosen = {relation.id for relation in narrowed(benchmark, settings).relations}
    in_order = tuple(relation.id for relation in benchmark.relations if relation.id in chosen)
    settings = replace(
        settings,
        relations=in_order if settings.relations else (),
        templates=tuple(sorted(set(settings.templates))) or all_templates(benchmark, settings),
        **probe_named(settings.probe).fixed,
    )
    _refuse_parts(settings, benchmark)
    return settings


def _refuse_parts(settings: Settings, benchmark: Benchmark) -> None:
    """Raise `BadInput` for relations or templates that cannot be asked with these settings."""
    probe, chosen = probe_of(settings), narrowed(benchmark, settings)
    for part in parts(benchmark, settings):
        probe.refuse_part(chosen[part.relation], part.template)


def all_templates(benchmark: Benchmark, settings: Settings) -> tuple[int, ...]:
    """Return the numbers of all templates, or () for all of them where relations differ in how many they have."""
    counts = template_counts(benchmark, settings)
    return tuple(range(*counts)) if len(counts) == 1 else ()


def _with_harness_protocol(settings: Settings, benchmark: Benchmark) -> Settings:
    """Return the settings with all templates, as lm-evaluation-harness asks; refuse what contradicts its protocol."""
    if not probe_named(settings.probe).harness_protocol:
        raise BadInput(f"The protocol {LM_EVAL} is not one of the probe {settings.probe}.", "Choose multiple_choice.")
    everything = all_templates(benchmark, settings)
    if not everything:
        problem = f"Relations of {benchmark.slug} differ in their number of templates"
        raise BadInput(f"{problem}, so that the mean over rows is not the accuracy.", "Leave out the protocol.")
    allowed = {**HARNESS_CHOICES, "templates": (Settings.templates, (), everything)}
    for name, values in allowed.items():
        if getattr(settings, name) not in values:
            raise BadInput(f"The protocol {LM_EVAL} leaves no choice of {name}.", "Leave it out.")
    for name in UNLIKE_HARNESS & settings.options.keys():
        raise BadInput(f"The protocol {LM_EVAL} asks the statement alone.", f"Leave out {name}.")
    if settings.start == NONE:
        raise BadInput(f"The protocol {LM_EVAL} always has a start token.", "Choose bos, eos or the id of a token.")
    return replace(settings, templates=everything)


def _refuse_missing_tags(settings: Settings, benchmark: Benchmark) -> None:
    """Raise `BadInput` where a choice among versions of relations has no effect, as the benchmark has no versions."""
    usual = relation_tags(Settings(probe=settings.probe))
    for tag, value in relation_tags(settings).items():
        if value != usual[tag] and not any(tag in relation.tags for relation in benchmark.relations):
            name = tag.replace("_", " ")
            raise BadInput(f"Benchmark {benchmark.slug} has no {name} {value!r}.", "It has none: leave that out.")
