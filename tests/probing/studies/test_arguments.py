"""Configuration files: the arguments of a study by name, checked, overridden and written again."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import probing
from probing.errors import BadInput
from probing.files.configuration import LARGEST_FILE, read_config
from probing.settings import SETTINGS
from probing.studies.arguments import LOADING, checked_arguments, overridden
from probing.studies.study_results import Pair


@pytest.fixture
def config(folders: list[str], tmp_path: Path) -> Path:
    content = {
        "models": ["org/plain", {"model": "org/clever", "limit": 1}],
        "benchmarks": folders[0],
        "out": str(tmp_path / "out"),
        "templates": [0, 1],
    }
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def limits(study: Any) -> dict[str, Any]:
    return {pair.model: study.result(*pair).record["settings"]["limit"] for pair in study.folders}


def test_a_file_has_the_arguments_of_a_study(loaded: list[str], config: Path) -> None:
    study = probing.study(config=config, progress=False)
    assert limits(study) == {"org/plain": None, "org/clever": 1}
    assert study.result("org/plain", "small").record["settings"]["templates"] == [0, 1]


def test_arguments_of_the_call_come_before_those_of_the_file(loaded: list[str], config: Path, tmp_path: Path) -> None:
    study = probing.study(config=config, progress=False, limit=2)
    assert limits(study) == {"org/plain": 2, "org/clever": 2}
    alone = probing.study(["org/plain"], config=config, progress=False, out=tmp_path / "alone")
    assert list(alone.folders) == [Pair("org/plain", "small")]


def test_arguments_are_recorded_as_a_file_of_the_same_study(loaded: list[str], config: Path, tmp_path: Path) -> None:
    study = probing.study(config=config, progress=False, limit=2)
    recorded = tmp_path / "out" / "study.yaml"
    assert yaml.safe_load(recorded.read_text())["limit"] == 2
    again = probing.study(config=recorded, progress=False)
    assert list(again.folders) == list(study.folders) and len(loaded) == 2, "nothing was measured again"


def test_every_setting_option_and_way_of_loading_may_stand_in_a_file(subtests: pytest.Subtests) -> None:
    for name in (*SETTINGS, *LOADING, "prompting"):
        with subtests.test(name):
            given = checked_arguments({"benchmarks": "pairs", "models": [{"model": "org/plain", name: 1}], name: 2})
            assert (given["models"], given[name]) == ([{"model": "org/plain", name: 1}], 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("models: [a\n", "line 2: not YAML"),
        ("- a\n- b\n", "holds no names with values"),
        ("3: a\n", "holds no names with values"),
        ("", "holds no names with values"),
        ("a: \x00\n", "is not YAML in UTF-8"),
        ("sample: 1\nmodels: [a]\nsample: 2\n", "line 3: not YAML (sample stands twice)"),
        ("models: [{model: a, model: b}]\n", "line 1: not YAML (model stands twice)"),
        ("modles: [a]\n", "Did you mean 'models'?"),
        ("models: [a]\nbenchmarks: [pairs]\nxyzzy: 1\n", "A study has no setting 'xyzzy'. Choose from: "),
        ("models: [{model: a, comit: b}]\n", "Did you mean 'commit'?"),
        ("models: !!python/object:os.system {}\n", "not YAML"),
    ],
)
def test_a_fault_in_a_file_is_told_in_one_sentence(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        checked_arguments(read_config(path))
    assert reason in str(caught.value)


def test_a_file_that_is_not_there_or_too_large_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    with pytest.raises(BadInput, match="There is no file"):
        read_config(path)
    path.write_bytes(b" " * (LARGEST_FILE + 1))
    with pytest.raises(BadInput, match="larger than 1,000,000 bytes"):
        read_config(path)


def test_a_study_takes_both_names_of_a_setting_also_where_it_is_overridden() -> None:
    values = {"models": ["gpt2"], "benchmarks": [{"benchmark": "bear", "relation": ["P30"]}], "template": [0, 1]}
    arguments = checked_arguments(values)
    entry = {"benchmark": "bear"}
    assert arguments == {
        "models": [{"model": "gpt2"}],
        "benchmarks": [entry | {"relations": ["P30"]}],
        "templates": [0, 1],
    }
    changed = overridden(arguments, {"relation": ["P36"], "templates": [2]})
    assert changed == arguments | {"benchmarks": [entry], "relations": ["P36"], "templates": [2]}
