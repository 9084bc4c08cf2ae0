"""The title and the usual settings of a benchmark, which its folder may state in a file of its own."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.formats.reading import PLAN_FILE, JsonObject, read_object
from probing.plan import plan
from probing.probes.probe import Probe, declared_options, offered_options
from probing.settings import SETTINGS, Settings


@dataclass(frozen=True)
class UsualSettings:
    """What a benchmark's folder states: a title and fields of `Settings`; both are empty where it states nothing."""

    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_usual_settings(folder: Path, benchmark: Benchmark, probe: type[Probe]) -> UsualSettings:
    """Read what the folder of a benchmark states, if anything, for models that are asked by `probe`.

    The number format is no usual setting, because it depends on the model's size. Raises `BadBenchmark` with the file
    and the key at fault.
    """
    if not (folder / PLAN_FILE).is_file():
        return UsualSettings()
    stated = read_object(folder / PLAN_FILE)
    _refuse_others(stated, "", stated.values, ("title", "settings"))
    settings = _object(stated, "settings", stated.values.get("settings", {}))
    options = _object(stated, "settings.options", settings.get("options", {}))
    offered = [name for name in offered_options(probe) if name in SETTINGS and name != "dtype"]
    _refuse_others(stated, "settings.", settings, [*offered, "options"])
    _refuse_others(stated, "settings.options.", options, declared_options(probe))
    own = {name: value for name, value in settings.items() if name != "options"}
    places = {name: f"settings.{name}" for name in own} | {name: f"settings.options.{name}" for name in options}
    values = {**own, **options}
    for name, place in places.items():
        _settings(stated, place, benchmark, {"probe": probe.name, name: values[name]})
    checked = _settings(stated, "settings", benchmark, {"probe": probe.name, **values}).to_json()
    return UsualSettings(stated.optional_text("title"), {name: checked[name] for name in settings})


def _refuse_others(stated: JsonObject, prefix: str, names: Iterable[str], accepted: Collection[str]) -> None:
    for name in names:
        if name not in accepted:
            step = (
                f"Choose from: {', '.join(accepted)}." if accepted else "There is nothing to choose here: leave it out."
            )
            raise stated.fault(f"the key {f'{prefix}{name}'!r:.80} is not known", step)


def _object(stated: JsonObject, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise stated.fault(f"{place!r} is not a JSON object", "Write it as {...}.")
    return value


def _settings(stated: JsonObject, place: str, benchmark: Benchmark, values: Mapping[str, Any]) -> Settings:
    try:
        return plan(benchmark, values).settings
    except BadInput as error:
        raise stated.fault(f"{place!r}: {error.message.removesuffix('.')}", error.next_step) from error
