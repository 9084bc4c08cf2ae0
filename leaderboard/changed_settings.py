"""What sets the runs of one model apart: settings other than the benchmark's usual ones."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from probing.probes import probe_named
from probing.settings import Settings

# The settings that choose which items are asked.
PART = frozenset({"relations", "limit", "language", "pair", "objects"})


def differences(settings: Mapping[str, Any], usual: Settings) -> dict[str, str]:
    """By name, in words; published runs have a probe's options beside its settings."""
    defaults = {option.name: option.default for option in fields(probe_named(usual.probe))}
    expected = defaults | _flat(usual.to_json())
    return {
        name.replace("_", " "): _in_words(value)
        for name, value in _flat(settings).items()
        if _plain(value) != _plain(expected.get(name))
    }


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The probe's own options beside the settings."""
    return {name: value for name, value in settings.items() if name != "options"} | settings.get("options", {})


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _in_words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
