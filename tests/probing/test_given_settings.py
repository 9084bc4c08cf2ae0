"""The written list of keyword arguments is that of the declared settings and options, and help shows it."""

import inspect
import pydoc
from collections.abc import Iterable
from typing import Any, get_args, get_type_hints

import probing
from probing.given_settings import GivenSettings
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.settings import SETTINGS, Settings

WRITTEN = get_type_hints(GivenSettings)


def test_there_are_all_settings_by_each_of_their_names_and_the_options_of_all_probes() -> None:
    settings = {name for setting in SETTINGS.values() for name in (setting.name, setting.called)}
    options = {name for probe in PROBES.values() for name in declared_options(probe)}
    assert WRITTEN.keys() == settings | options


def test_each_has_the_declared_type() -> None:
    declared = [(name, hint) for probe in PROBES.values() for name, hint in get_type_hints(probe).items()]
    declared += get_type_hints(Settings).items()
    declared += [(SETTINGS[name].called, get_type_hints(Settings)[name]) for name in ("relations", "templates")]
    for name, hint in declared:
        if name in WRITTEN and name != "dtype":  # which may be one of torch
            one = get_args(hint)[0] if name.startswith(("relation", "template")) else None
            assert WRITTEN[name] == (one | Iterable[one] if one else hint), name  # type: ignore[valid-type]


def test_help_shows_every_setting_with_its_type_and_default() -> None:
    shown = inspect.signature(probing.run).parameters
    assert WRITTEN.keys() <= shown.keys()
    assert all(shown[name].default == setting.default for name, setting in SETTINGS.items() if name != "probe")
    of_options = {"few_shot": 0, "k": 5, "prompting": "vanilla", "relation": (), "template": (0,)}
    assert {name: shown[name].default for name in of_options} == of_options
    depends = {name for name, argument in shown.items() if argument.default is ...}
    assert depends == {"probe", "chat", "tokens"}, "on the benchmark, or on the probe"
    text = pydoc.plain(pydoc.render_doc(probing.run))
    assert "sample: int | None = None" in text
    assert "settings_and_options" not in text.partition("Probe a model")[0]


def test_studies_and_sweeps_show_what_a_run_takes() -> None:
    of_run = inspect.signature(probing.run).parameters.keys() - {"model", "benchmark"}
    for function in (probing.study, probing.sweep):
        shown = inspect.signature(function).parameters
        assert of_run <= shown.keys()
        assert not any(argument.kind is argument.VAR_KEYWORD for argument in shown.values())
    assert "revisions" in inspect.signature(probing.study).parameters


def test_settings_reach_the_run_as_before() -> None:
    signature: Any = inspect.signature(probing.forecast)
    assert signature.bind("model", "starter", relation=["P30"], few_shot=2).kwargs == {
        "relation": ["P30"],
        "few_shot": 2,
    }
