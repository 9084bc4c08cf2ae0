"""The plan that a benchmark's folder states: what is read, and which faults are told by file and key."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from probing.benchmark import Benchmark
from probing.catalog import EMBEDDED
from probing.errors import BadBenchmark
from probing.formats import FORMATS, format_of
from probing.formats.reading import PLAN_FILE
from probing.plan import read_usual_settings
from probing.probes import PROBES


def stated_by(folder: Path, content: object, benchmark: Benchmark, probe: str = "multiple_choice") -> tuple[str, dict]:
    (folder / PLAN_FILE).write_text(content if isinstance(content, str) else json.dumps(content))
    return read_usual_settings(folder, benchmark, PROBES[probe])


def test_a_folder_without_a_plan_states_nothing(tmp_path: Path, benchmark: Benchmark) -> None:
    assert read_usual_settings(tmp_path, benchmark, PROBES["multiple_choice"]) == ("", {})


@pytest.mark.parametrize(
    ("content", "usual"),
    [
        ({}, ("", {})),
        ({"title": "Mine"}, ("Mine", {})),
        ({"settings": {"templates": [2, 0]}}, ("", {"templates": (0, 2)})),
        ({"settings": {"templates": 1}}, ("", {"templates": (1,)})),
        (
            {"title": "Mine", "settings": {"pll": "original", "reduction": "mean"}},
            ("Mine", {"pll": "original", "reduction": "mean"}),
        ),
    ],
)
def test_a_folder_states_a_title_and_settings(
    tmp_path: Path, benchmark: Benchmark, content: object, usual: tuple[str, dict]
) -> None:
    assert stated_by(tmp_path, content, benchmark) == usual


def test_a_plan_states_options_of_the_probe(tmp_path: Path, benchmark: Benchmark) -> None:
    content = {"settings": {"options": {"k": 3, "closed": False}}}
    assert stated_by(tmp_path, content, benchmark, "cloze")[1] == {"options": {"k": 3}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", r"clozeboard\.json.*not JSON"),
        ([], r"clozeboard\.json: not a JSON object"),
        ({"title": 3}, r"clozeboard\.json: 'title' holds 3"),
        ({"name": "Mine"}, r"clozeboard\.json: the key 'name' is not known\. Choose from: title, settings"),
        ({"settings": []}, r"clozeboard\.json: 'settings' is not a JSON object"),
        ({"settings": {"options": 1}}, r"'settings\.options' is not a JSON object"),
        (
            {"settings": {"limit": 3}},
            r"'settings\.limit' is not known\. Choose from: templates, sample, language, pll, reduction, start",
        ),
        ({"settings": {"dtype": "float16"}}, r"'settings\.dtype' is not known"),
        (
            {"settings": {"templates": [3]}},
            r"'settings\.templates': Relation P30 has no template 3\. Choose from 0 to 2",
        ),
        ({"settings": {"templates": "0"}}, r"'settings\.templates': templates cannot be '0'\. Give it a value of type"),
        ({"settings": {"pll": "best"}}, r"'settings\.pll': pll cannot be 'best'\. Choose from: within_word_l2r"),
        ({"settings": {"options": {"k": 1}}}, r"'settings\.options\.k' is not known\. Choose from: generic"),
    ],
)
def test_a_fault_in_a_plan_is_told_with_the_file_and_the_key(
    tmp_path: Path, benchmark: Benchmark, content: Any, words: str
) -> None:
    with pytest.raises(BadBenchmark, match=words):
        stated_by(tmp_path, content, benchmark)


@pytest.mark.parametrize(
    ("format", "slug"),
    [("dlama", "culture"), ("stest", "pairs"), ("geography", "geography"), ("knowledge_graph", "graph")],
)
def test_a_plan_does_not_disturb_the_reader_of_any_format(tmp_path: Path, format: str, slug: str) -> None:
    folder = shutil.copytree(EMBEDDED / slug, tmp_path / slug)
    before = FORMATS[format](folder)
    (folder / PLAN_FILE).write_text('{"title": "Planned"}')
    after = FORMATS[format](folder)
    assert (after.digest, after.size, format_of(folder)) == (before.digest, before.size, format)
    assert read_usual_settings(folder, after, PROBES[before.probe]) == ("Planned", {})


def test_a_plan_must_fit_the_probe_that_is_used(tmp_path: Path, benchmark: Benchmark) -> None:
    with pytest.raises(
        BadBenchmark, match=r"'settings\.pll' is not known\. Choose from: templates, sample, language, start"
    ):
        stated_by(tmp_path, {"settings": {"pll": "original"}}, benchmark, "cloze")
    with pytest.raises(BadBenchmark, match=r"'settings\.options\.k': cloze: k cannot be 'many'"):
        stated_by(tmp_path, {"settings": {"options": {"k": "many"}}}, benchmark, "cloze")
