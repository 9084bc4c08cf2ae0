"""What is public (docs/releasing.md) is what is recorded: no name, argument, option or column changes by accident.

`python -m tests.test_public_interface` writes the record again, after a change that is meant.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import probing
from docs.site.generated import commands, library_errors, shown
from probing.__main__ import parser
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.results.rows import ITEM_COLUMNS, SCORE_COLUMNS
from probing.settings import SETTINGS, Option

NOTHING = inspect.Parameter.empty
RECORD = Path(__file__).parent / "public_interface.json"


def public_interface() -> dict[str, Any]:
    """Return all parts of the library's public interface, as plain values."""
    names = {name: getattr(probing, name) for name in probing.__all__ if name != "monitor"}
    names |= {f"monitor.{name}": getattr(probing.monitor, name) for name in probing.monitor.__all__}
    return {
        "names": {name: signature(value) for name, value in names.items()},
        "attributes": {name: attributes(value) for name, value in names.items() if inspect.isclass(value)},
        "errors": {error.__name__: [error.code, error.__base__.__name__] for error in library_errors()},
        "commands": {" ".join(path): arguments(command) for path, command, _ in commands(parser())},
        "settings": {name: choice(setting) for name, setting in SETTINGS.items()},
        "options": {
            name: {key: choice(option) for key, option in declared_options(probe).items()}
            for name, probe in PROBES.items()
        },
        "columns of items": sorted(ITEM_COLUMNS),
        "columns of scores": list(SCORE_COLUMNS),
    }


def signature(value: Any) -> list[str]:
    """Return the arguments of a function or class, with their default values and without their types."""
    arguments = inspect.signature(value).parameters.values()
    return [str(argument.replace(annotation=NOTHING, default=written(argument.default))) for argument in arguments]


def written(default: Any) -> Any:
    """Return a default value in a form that is the same in every process."""
    return "a function" if inspect.isfunction(default) else default


def attributes(kind: type) -> dict[str, list[str] | None]:
    """Return the public attributes of a class that the library itself defines; of methods, with their arguments."""
    own = {
        name: value
        for base in kind.__mro__[::-1]
        if base.__module__.startswith("probing")
        for name, value in vars(base).items()
    }
    names = sorted({*own, *getattr(kind, "__annotations__", {})})
    members = {name: getattr(kind, name, None) for name in names if not name.startswith("_")}
    return {
        name: signature(member) if callable(member) and inspect.isroutine(member) else None
        for name, member in members.items()
    }


def arguments(command: Any) -> list[str]:
    return [" ".join(action.option_strings) or str(action.metavar or action.dest) for action in shown(command)]


def choice(option: Option) -> dict[str, Any]:
    return {"default": option.default, "choices": option.choices}


def plain(interface: dict[str, Any]) -> dict[str, Any]:
    """Return the interface as JSON gives it back."""
    text: dict[str, Any] = json.loads(json.dumps(interface))
    return text


def test_the_public_interface_is_the_one_that_is_recorded() -> None:
    recorded, interface = json.loads(RECORD.read_text(encoding="utf-8")), plain(public_interface())
    advice = "Add a line to CHANGELOG.md and run: python -m tests.test_public_interface"
    assert interface.keys() == recorded.keys(), advice
    changed = {part: (interface[part], recorded[part]) for part in interface if interface[part] != recorded[part]}
    assert changed == {}, advice


def test_a_change_of_an_argument_is_seen() -> None:
    assert signature(lambda model, *, sample=None: 0) == ["model", "sample=None"]
    assert signature(lambda model, *, sample=1: 0) != signature(lambda model, *, sample=None: 0)


if __name__ == "__main__":
    RECORD.write_text(json.dumps(public_interface(), indent=1) + "\n", encoding="utf-8")
