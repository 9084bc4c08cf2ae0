"""The words of the command line that choose a model and the settings of a run: offered, read and written here."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from probing.probes import PROBES
from probing.probes.multiple_choice import MultipleChoice
from probing.settings import SETTINGS, Option, Settings, declared
from probing.start_token import SEVERAL

# What a result has beside its scores, by the name of `--keep`, as arguments of `probing.run`.
KEPT: Mapping[str, Mapping[str, Any]] = {"rows": {}, "tokens": {"keep_tokens": True}, "none": {"keep_rows": False}}
# Options of probes that have a flag as well; other probes may have an option of the same name.
FLAGGED: Mapping[str, Option] = {name: declared(MultipleChoice)[name] for name in ("few_shot", "chat")}


def add_model(parser: argparse.ArgumentParser, *, is_list: bool = False) -> None:
    """Add the arguments that choose the model, its device and the size of batches.

    `is_list`: the model is a list, which argparse leaves empty where none is named; served models are taken.
    """
    many: dict[str, Any] = {"nargs": "+", "default": []} if is_list else {}
    text = "hub id, folder in Hugging Face format, .gguf file, or one of the hub: gguf:org/name:Q4_K_M"
    text += "; a served model: openai:http://host:8000/v1#model" if is_list else ""
    model = parser.add_argument("model", metavar="MODEL", help=text, **many)
    model.required = not is_list
    add_loading(parser)


def add_loading(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how a model is loaded."""
    add = parser.add_argument
    add("--commit", default="", help="commit of a hub model; default: the newest")
    add("--device", default="auto", help="cpu, cuda or cuda:1; default: a GPU where there is one")
    add("--batch-tokens", type=int, metavar="N", help="token positions per batch; default: found by trying")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each setting and some options, and `--set` for all of the probe's own options."""
    start = SETTINGS["start"]
    add_flags(parser, {**SETTINGS, **FLAGGED, "start": replace(start, help=f"{start.help}; {SEVERAL}")})
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the probe; may be repeated"
    )


def add_flags(parser: argparse.ArgumentParser, options: Mapping[str, Option]) -> None:
    """Add a flag for each option; options that the user does not give are absent from the parsed arguments."""
    for name, declaration in options.items():
        flags = dict.fromkeys([_flag(declaration), _flag(replace(declaration, flag=name.replace("_", "-")))])
        action = _action(declaration)
        parser.add_argument(*flags, dest=name, default=argparse.SUPPRESS, help=_help(declaration), **action)


def given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings and the options with a flag that were given on the command line, by name."""
    return {name: value for name, value in vars(arguments).items() if name in SETTINGS or name in FLAGGED}


def settings_words(settings: Settings) -> list[str]:
    """Return the words by which the command line makes these settings; defaults are left out."""
    words = []
    for name, setting in SETTINGS.items():
        value = getattr(settings, name)
        if value != setting.default:
            words += _words(setting, value)
    return words + [word for name, value in settings.options.items() for word in ("--set", f"{name}={value}")]


def _flag(setting: Option) -> str:
    """Return the flag; that of a switch which is on by default turns it off."""
    return f"--no-{setting.flag}" if setting.default is True else f"--{setting.flag}"


def _help(setting: Option) -> str:
    """Return the help text with the default value, unless the text names it or the default is to leave it out."""
    if not setting.default or "default:" in setting.help:
        return setting.help
    default = ", ".join(map(str, setting.default)) if setting.many else setting.default
    return f"{setting.help}; default: {default}"


def _action(setting: Option) -> dict[str, Any]:
    if setting.value_type is bool:
        return {"action": "store_false" if setting.default else "store_true"}
    many = {"action": "extend", "nargs": "+"} if setting.many else {}
    choices = sorted(PROBES) if setting.name == "probe" else setting.choices
    if choices:
        return {**many, "choices": choices}
    return {**many, "type": setting.value_type, "metavar": "TEXT" if setting.value_type is str else "N"}


def _words(setting: Option, value: Any) -> list[str]:
    if setting.value_type is bool:
        return [_flag(setting)]
    return [word for one in (value if setting.many else [value]) for word in (_flag(setting), str(one))]
