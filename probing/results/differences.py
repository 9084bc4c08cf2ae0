"""What differs between two runs, by their records: model, benchmark, settings and software."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from probing.settings import Settings

Record = Mapping[str, Any]
# Where a record has only some of these, only they are compared.
MODEL, BENCHMARK, SETTINGS, SOFTWARE = "model", "benchmark", "settings", "packages"
ASPECTS = (MODEL, BENCHMARK, SETTINGS, SOFTWARE)


class Difference(NamedTuple):
    """A fact that two records state differently; a record that does not state it has an empty value."""

    name: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.name.replace('_', ' ')}: {_in_words(self.first)} and {_in_words(self.second)}"


def differences(first: Record, second: Record, aspects: Iterable[str] = ASPECTS) -> list[Difference]:
    """Return what differs in those of the aspects that both records have, in their order."""
    shared = [aspect for aspect in aspects if aspect in first and aspect in second]
    pairs = [(_FACTS[aspect](first), _FACTS[aspect](second)) for aspect in shared]
    return [
        Difference(name, ours.get(name), theirs.get(name))
        for ours, theirs in pairs
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    ]


def _model(record: Record) -> dict[str, Any]:
    card = record["model"]
    files = json.dumps(card.get("files", {}), sort_keys=True)
    return {
        "model": card.get("id"),
        "commit": card.get("commit"),
        "SHA-256 of weights and tokenizer": hashlib.sha256(files.encode()).hexdigest()[:12]
        if card.get("files")
        else "",
    }


def _benchmark(record: Record) -> dict[str, Any]:
    benchmark = record["benchmark"]
    return {"benchmark": benchmark.get("slug"), "version of the benchmark": benchmark.get("version")}


def _settings(record: Record) -> dict[str, Any]:
    """Return all settings, with the default of those that the record of an older version lacks."""
    values = Settings.from_json(record["settings"]).to_json()
    options = values.pop("options")
    return {**values, **options}


def _software(record: Record) -> dict[str, Any]:
    return {**record["packages"], "device": record.get("device")}


_FACTS = {MODEL: _model, BENCHMARK: _benchmark, SETTINGS: _settings, SOFTWARE: _software}


def _in_words(value: Any) -> str:
    if value in (None, "", ()):
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
