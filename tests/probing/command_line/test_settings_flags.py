"""Flags of run settings: what is written is read again, and a new setting needs one line in one file."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from probing.command_line.settings_flags import add_settings, given_settings, settings_words
from probing.probes import PROBES, probe_named
from probing.probes.probe import declared_options, parse
from probing.settings import SETTINGS, Option, Settings
from tests.conftest import BearFolder

ROOT = Path(__file__).parents[3]


# Values of settings that take text, but not any text.
OTHERS = {"probe": "ranking", "start": "eos"}


def other_value(option: Option) -> Any:
    """A value other than the default one."""
    if option.name in OTHERS:
        return OTHERS[option.name]
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    value = {str: "other", int: 7, float: 0.25}[option.value_type]
    return (value, value + value) if option.many else value


def read(words: list[str]) -> Settings:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    arguments = parser.parse_args(words)
    values = {name: SETTINGS[name].check(value) for name, value in given_settings(arguments).items()}
    probe = probe_named(values.get("probe", Settings.probe))
    return Settings(**values, options=parse(declared_options(probe), arguments.set, "The probe"))


def test_every_setting_can_be_given_on_the_command_line(subtests: pytest.Subtests) -> None:
    for name, setting in SETTINGS.items():
        with subtests.test(name):
            settings = Settings(**{name: other_value(setting)})
            assert read(settings_words(settings)) == settings != Settings()


def test_every_option_of_a_probe_can_be_given_on_the_command_line(subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        for name, option in declared_options(PROBES[probe]).items():
            with subtests.test(f"{probe} {name}"):
                settings = Settings(probe=probe, options={name: other_value(option)})
                assert read(settings_words(settings)) == settings


def test_the_help_of_a_setting_names_its_default_once() -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    text = " ".join(parser.format_help().split())
    assert "asked; default: 0 " in text
    assert "one score; default: sum " in text
    assert "default: auto, which is bos, else eos; several have commas between them: auto,none " in text
    assert "where it is faster; default: float32 " in text
    assert "the benchmark's usual probe --" in text, "the default probe is not that of the declaration"


def test_defaults_need_no_words() -> None:
    assert settings_words(Settings()) == []
    assert read([]) == Settings()


def test_all_settings_together_are_read_again() -> None:
    settings = Settings(**{name: other_value(option) for name, option in SETTINGS.items()}, options={"pair": "a-b"})
    assert read(settings_words(settings)) == settings


NEW_SETTING = '    shade: int = option(0, "how dark it is")\n'
SCRIPT = """
import sys
import probing
from probing.__main__ import main
from probing.command_line.settings_flags import settings_words
from probing.settings import Settings
from tests.fakes import FakeModel

folder, out = sys.argv[1:]
result = probing.run(FakeModel(), folder, shade=3, progress=False)
assert result.record["settings"]["shade"] == 3
assert Settings(shade=3).digest != Settings().digest
assert settings_words(Settings(shade=3)) == ["--shade", "3"]
run = probing.run
probing.run = lambda model, *args, **settings: run(FakeModel(), *args, **settings)
assert main(["run", "fake", "--benchmark", folder, "--shade", "3", "--out", out]) == 0
main(["run", "--help"])
"""


@pytest.mark.slow
def test_a_new_setting_is_one_line_in_one_file(bear_folder: BearFolder, tmp_path: Path) -> None:
    tree = shutil.copytree(ROOT / "probing", tmp_path / "tree" / "probing")
    before = (tree / "settings.py").read_text(encoding="utf-8")
    marker = "    options: Mapping[str, Any]"
    (tree / "settings.py").write_text(before.replace(marker, NEW_SETTING + marker), encoding="utf-8")
    (tree.parent / "tests").symlink_to(ROOT / "tests")
    words = [sys.executable, "-c", SCRIPT, str(bear_folder.write()), str(tmp_path / "out")]
    done = subprocess.run(words, cwd=tree.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--shade N" in done.stdout
    assert "how dark it is" in done.stdout
    assert '"shade": 3' in (tmp_path / "out" / "run.json").read_text(encoding="utf-8")


def test_some_options_of_probes_have_a_flag() -> None:
    parser = argparse.ArgumentParser()
    add_settings(parser)
    assert given_settings(parser.parse_args(["--few-shot", "3", "--chat"])) == {"few_shot": 3, "chat": True}
    assert given_settings(parser.parse_args([])) == {}


@pytest.mark.parametrize(
    "words", [["--relation", "P30", "--template", "1"], ["--relations", "P30", "--templates", "1"]]
)
def test_a_flag_has_the_name_that_records_have_as_well(words: list[str]) -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_settings(parser)
    assert given_settings(parser.parse_args(words)) == {"relations": ["P30"], "templates": [1]}
