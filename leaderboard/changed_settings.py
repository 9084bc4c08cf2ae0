"""The settings of a run that differ from the benchmark's usual ones."""

from collections.abc import Mapping
from typing import Any

from probing.probes import probe_named
from probing.probes.probe import declared_options
from probing.settings import SETTINGS, Settings


def differences(settings: Mapping[str, Any], usual: Settings) -> dict[str, str]:
    """Map the name of each changed setting or option, with spaces, to its value as text."""
    return {name.replace("_", " "): _in_words(value) for name, value in _changed(settings, usual).items()}


def asks_other_items(settings: Mapping[str, Any], usual: Settings) -> bool:
    """Tell whether one of the changed settings and options chooses the items that are asked."""
    options = {**declared_options(probe_named(usual.probe)), **SETTINGS}
    return any(name in options and options[name].chooses_items for name in _changed(settings, usual))


def _changed(settings: Mapping[str, Any], usual: Settings) -> dict[str, Any]:
    defaults = {name: option.default for name, option in declared_options(probe_named(usual.probe)).items()}
    expected = defaults | _flat(usual.to_json())
    return {name: value for name, value in _flat(settings).items() if _listed(value) != _listed(expected.get(name))}


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with the probe's own options beside them."""
    return {**{name: value for name, value in settings.items() if name != "options"}, **settings.get("options", {})}


def _listed(value: Any) -> Any:
    """Return a tuple as the list that JSON makes of it."""
    return list(value) if isinstance(value, tuple) else value


def _in_words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
