"""The plan of a run: what is asked of which items, by which probe, in which parts. It is made once and handed on.

`plan` makes it from what somebody chose, which it checks and brings into one spelling; `plan_of` from settings that
are in that spelling already, such as those of a record. `read_usual_settings` reads what the folder of a benchmark
states for all plans of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from probing.benchmark import ASKED_TAGS, Benchmark, Relation
from probing.errors import BadInput, nearest, suggestion
from probing.formats.reading import PLAN_FILE, JsonObject, read_object
from probing.language_model import DType
from probing.probes import probe_named, probe_of
from probing.probes.probe import Probe, changed_options, declared_options, offered_options
from probing.settings import LM_EVAL, SETTINGS, Settings, usual_names, usual_spelling
from probing.start_token import NONE

# The values of settings with which the protocol of lm-evaluation-harness goes together.
UNLIKE_HARNESS = frozenset({"few_shot", "chat"})
HARNESS_CHOICES: Mapping[str, tuple[Any, ...]] = {"reduction": ("sum",), "dtype": ("float32",)}


class Part(NamedTuple):
    """One relation with one template: the unit of storage, resumption and sharing between workers."""

    relation: str
    template: int
    items: int


@dataclass(frozen=True)
class Plan:
    """What a run asks, before there is a model.

    `benchmark`: with those relations and items only that the settings choose. `parts`: all that a complete run covers,
    in the benchmark's order. `skipped`: why the probe cannot ask some of the chosen relations, by their ids.
    """

    benchmark: Benchmark
    settings: Settings
    probe: Probe
    parts: tuple[Part, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)

    def relation(self, part: Part) -> Relation:
        """Return the relation of a part, with those items only that are asked."""
        return self.benchmark[part.relation]

    def select(self, label: str) -> "Plan":
        """Return the same plan with the relations of one label only."""
        benchmark = self.benchmark.select([label])
        ids = {relation.id for relation in benchmark.relations}
        return replace(self, benchmark=benchmark, parts=tuple(part for part in self.parts if part.relation in ids))

    def with_dtype(self, dtype: str) -> "Plan":
        """Return the plan with the number format in which the model was really loaded."""
        return replace(self, settings=replace(self.settings, dtype=cast(DType, dtype)))


def plan(benchmark: Benchmark, chosen: Mapping[str, Any] | Settings) -> Plan:
    """Return the plan of a run from what somebody chose; raise `BadInput` where it does not fit the benchmark.

    `chosen`: values of settings and of the probe's own options by name, or settings. What is not named takes its
    default value, the probe that of the benchmark. The settings of the plan are in one spelling (order, repetitions,
    default options), so that equal runs have equal digests.
    """
    settings = chosen if isinstance(chosen, Settings) else _named_settings(benchmark, chosen)
    for name, setting in SETTINGS.items():
        setting.check(getattr(settings, name))
    probe = probe_of(settings)
    settings = replace(settings, options=changed_options(probe))
    probe.refuse_settings(settings)
    _refuse_missing_tags(benchmark, settings, probe)
    selected, relations, _ = _selected(benchmark, settings, probe)
    _refuse_taken_names(relations, probe)
    everything = _all_templates(relations)
    if settings.protocol == LM_EVAL:
        settings = _with_harness_protocol(settings, selected.slug, everything)
    in_order = {relation.id for relation in selected.relations}
    settings = replace(
        settings,
        relations=tuple(r.id for r in benchmark.relations if r.id in in_order) if settings.relations else (),
        templates=tuple(sorted(set(settings.templates))) or everything,
        **probe.fixed,
    )
    made = plan_of(benchmark, settings)
    for part in made.parts:
        probe.refuse_part(made.relation(part), part.template)
    return made


def plan_of(benchmark: Benchmark, settings: Settings) -> Plan:
    """Return the plan of a run that has exactly these settings, such as those of its record."""
    probe = probe_of(settings)
    selected, relations, skipped = _selected(benchmark, settings, probe)
    covered = tuple(part for relation in relations for part in _parts(relation, settings.templates))
    return Plan(selected, settings, probe, covered, skipped)


def template_counts(benchmark: Benchmark, settings: Settings) -> set[int]:
    """Return how many templates the relations have that a run with these settings asks, without repetitions."""
    return _template_counts(_selected(benchmark, settings, probe_of(settings))[1])


def all_templates(benchmark: Benchmark, settings: Settings) -> tuple[int, ...]:
    """Return the numbers of all templates, or () for all of them where relations differ in how many they have."""
    return _all_templates(_selected(benchmark, settings, probe_of(settings))[1])


def _selected(
    benchmark: Benchmark, settings: Settings, probe: Probe
) -> tuple[Benchmark, list[Relation], dict[str, str]]:
    """Return the benchmark with what the settings choose, the relations that are asked, and why the others are not.

    Raises `BadInput` where the probe can ask none of the chosen relations.
    """
    tags = _relation_tags(settings, probe)
    usual = {tag: value for tag, value in benchmark.usual_tags.items() if tag not in tags}
    chosen = benchmark.select(settings.relations, settings.limit, tags | usual, settings.sample, settings.seed)
    skipped = {relation.id: why for relation in chosen.relations if (why := probe.why_not(relation))}
    relations = [relation for relation in chosen.relations if relation.id not in skipped]
    if not any(relation.items for relation in chosen.relations):
        raise BadInput(f"{benchmark.slug} has no items to ask.", " ".join(benchmark.notes))
    if chosen.relations and not relations:
        why = "; ".join(dict.fromkeys(skipped.values()))
        step = "Choose other relations or options, or another language."
        raise BadInput(f"None of these relations can be asked: {why}.", step)
    return chosen, relations, skipped


def _template_counts(relations: Sequence[Relation]) -> set[int]:
    return {len(relation.templates) for relation in relations} - {0}


def _all_templates(relations: Sequence[Relation]) -> tuple[int, ...]:
    counts = _template_counts(relations)
    return tuple(range(*counts)) if len(counts) == 1 else ()


def _parts(relation: Relation, templates: Sequence[int]) -> list[Part]:
    count = len(relation.templates)
    for template in templates:
        if not 0 <= template < count:
            raise BadInput(f"Relation {relation.id} has no template {template}.", f"Choose from 0 to {count - 1}.")
    return [Part(relation.id, template, len(relation.items)) for template in templates or range(count)]


def _named_settings(benchmark: Benchmark, values: Mapping[str, Any]) -> Settings:
    """Return the settings with these values of settings and of the probe's own options, by name."""
    values = usual_spelling(values)
    probe = probe_named(values.get("probe") or benchmark.probe)
    own = declared_options(probe)
    for name in values.keys() - SETTINGS.keys() - own.keys():
        settings_names = ", ".join(setting.called for setting in SETTINGS.values())
        names = f"Settings: {settings_names}. Options of the probe: {', '.join(own) or 'none'}."
        near = nearest(name, [*SETTINGS, *own])
        step = f"Did you mean {near!r}?" if near else names
        raise BadInput(f"There is no setting {name!r}, and the probe {probe.name} has no option {name!r}.", step)
    settings = {name: SETTINGS[name].check(value) for name, value in values.items() if name in SETTINGS}
    options = {name: value for name, value in values.items() if name not in SETTINGS}
    return Settings(**{**settings, "probe": probe.name, "options": options})


def _with_harness_protocol(settings: Settings, slug: str, everything: tuple[int, ...]) -> Settings:
    """Return the settings with all templates, as lm-evaluation-harness asks; refuse what contradicts its protocol.

    `everything`: the numbers of all templates, none where relations of the benchmark differ in how many they have.
    """
    if not probe_named(settings.probe).harness_protocol:
        raise BadInput(f"The protocol {LM_EVAL} is not one of the probe {settings.probe}.", "Choose multiple_choice.")
    if not everything:
        problem = f"Relations of {slug} differ in their number of templates"
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


def _relation_tags(settings: Settings, probe: Probe) -> dict[str, str]:
    """Return the tags of the relations that are asked, where a benchmark has them in several versions (methods 4)."""
    return {"language": settings.language, **probe.relation_tags()}


def _refuse_missing_tags(benchmark: Benchmark, settings: Settings, probe: Probe) -> None:
    """Raise `BadInput` where a choice among versions of relations has no effect, as the benchmark has no versions."""
    usual = _relation_tags(Settings(probe=settings.probe), type(probe)())
    for tag, value in _relation_tags(settings, probe).items():
        if value != usual[tag] and not any(tag in relation.tags for relation in benchmark.relations):
            name = tag.replace("_", " ")
            raise BadInput(f"Benchmark {benchmark.slug} has no {name} {value!r}.", "It has none: leave that out.")


def _refuse_taken_names(relations: Sequence[Relation], probe: Probe) -> None:
    tags = {tag for relation in relations for item in relation.items for tag in item.tags}
    if taken := sorted(tags & probe.columns - ASKED_TAGS):
        raise BadInput(f"The tag {taken[0]!r} has the name of a column of results.", "Give it another name.")


def read_usual_settings(folder: Path, benchmark: Benchmark, probe: type[Probe]) -> tuple[str, dict[str, Any]]:
    """Return the title and the fields of `Settings` that a benchmark's folder states for models asked by `probe`.

    Both are empty where it states nothing. The number format is no usual setting, because it depends on the model's
    size. Raises `BadBenchmark` with the file and the key at fault.
    """
    if not (folder / PLAN_FILE).is_file():
        return "", {}
    stated = read_object(folder / PLAN_FILE)
    _refuse_other_keys(stated, "", stated.values, ("title", "settings"))
    settings = usual_names(_json_object(stated, "settings", stated.values.get("settings", {})))
    options = _json_object(stated, "settings.options", settings.get("options", {}))
    offered = [name for name in offered_options(probe) if name in SETTINGS and name != "dtype"]
    _refuse_other_keys(stated, "settings.", settings, [*offered, "options"])
    _refuse_other_keys(stated, "settings.options.", options, declared_options(probe))
    own = {name: value for name, value in settings.items() if name != "options"}
    keys = {name: f"settings.{name}" for name in own} | {name: f"settings.options.{name}" for name in options}
    values = {**own, **options}
    for name, key in keys.items():
        _checked_settings(stated, key, benchmark, {"probe": probe.name, name: values[name]})
    checked = _checked_settings(stated, "settings", benchmark, {"probe": probe.name, **values}).to_json()
    return stated.optional_text("title"), {name: checked[name] for name in settings}


def _refuse_other_keys(stated: JsonObject, prefix: str, names: Iterable[str], accepted: Collection[str]) -> None:
    for name in names:
        if name not in accepted:
            step = suggestion(name, accepted) if accepted else "There is nothing to choose here: leave it out."
            raise stated.fault(f"the key {f'{prefix}{name}'!r:.80} is not known", step)


def _json_object(stated: JsonObject, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise stated.fault(f"{key!r} is not a JSON object", "Write it as {...}.")
    return value


def _checked_settings(stated: JsonObject, key: str, benchmark: Benchmark, values: Mapping[str, Any]) -> Settings:
    try:
        return plan(benchmark, values).settings
    except BadInput as error:
        raise stated.fault(f"{key!r}: {error.message.removesuffix('.')}", error.next_step) from error
