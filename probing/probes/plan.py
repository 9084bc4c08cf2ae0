"""The plan of a benchmark: a title and usual settings, which its folder may state in a file of its own."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.formats.files import PLAN_FILE, JsonObject, read_object
from probing.probes.normalise import chosen_settings
from probing.probes.probe import Probe, declared_options, offered_options
from probing.settings import SETTINGS, Settings


@dataclass(frozen=True)
class Plan:
    """What a benchmark's folder states: a title and fields of `Settings`; both are empty where it states nothing."""

    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_plan(folder: Path, benchmark: Benchmark, probe: type[Probe]) -> Plan:
    """Read the plan that the folder of a benchmark states, if any, for models that are asked by `probe`.

    The number format is no part of a plan, because it depends on the model's size. Raises `BadBenchmark` with the file
    and the key at fault.
    """
    if not (folder / PLAN_FILE).is_file():
        return Plan()
    plan_file = read_object(folder / PLAN_FILE)
    _refuse_others(plan_file, "", plan_file.values, ("title", "settings"))
    settings = _object(plan_file, "settings", plan_file.values.get("settings", {}))
    options = _object(plan_file, "settings.options", settings.get("options", {}))
    offered = [name for name in offered_options(probe) if name in SETTINGS and name != "dtype"]
    _refuse_others(plan_file, "settings.", settings, [*offered, "options"])
    _refuse_others(plan_file, "settings.options.", options, declared_options(probe))
    own = {name: value for name, value in settings.items() if name != "options"}
    places = {name: f"settings.{name}" for name in own} | {name: f"settings.options.{name}" for name in options}
    values = {**own, **options}
    for name, place in places.items():
        _settings(plan_file, place, benchmark, {"probe": probe.name, name: values[name]})
    checked = _settings(plan_file, "settings", benchmark, {"probe": probe.name, **values}).to_json()
    return Plan(plan_file.optional_text("title"), {name: checked[name] for name in settings})


def _refuse_others(plan_file: JsonObject, prefix: str, names: Iterable[str], accepted: Collection[str]) -> None:
    for name in names:
        if name not in accepted:
            step = (
                f"Choose from: {', '.join(accepted)}." if accepted else "There is nothing to choose here: leave it out."
            )
            raise plan_file.fault(f"the key {f'{prefix}{name}'!r:.80} is not known", step)


def _object(plan_file: JsonObject, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise plan_file.fault(f"{place!r} is not a JSON object", "Write it as {...}.")
    return value


def _settings(plan_file: JsonObject, place: str, benchmark: Benchmark, values: Mapping[str, Any]) -> Settings:
    try:
        return chosen_settings(benchmark, values)
    except BadInput as error:
        raise plan_file.fault(f"{place!r}: {error.message.removesuffix('.')}", error.next_step) from error
