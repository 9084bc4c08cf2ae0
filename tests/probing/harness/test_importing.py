"""Samples that the harness really logged become a result like the one that this library measures itself."""

import json
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import lm_eval.tasks
import numpy as np
import pytest
import torch
import yaml

from probing.__main__ import main
from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.formats import bear
from probing.harness.importing import import_samples
from probing.harness.samples import HarnessFacts, read_facts, read_samples, results_beside
from probing.results.result import Result
from probing.runner import run
from tests.conftest import BearFolder
from tests.probing.harness.tasks import bear_task
from tests.tiny_models import build_gpt2

Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a benchmark, a model, and what the command lm-eval has logged about both."""
    place = tmp_path_factory.mktemp("harness")
    build_gpt2(place / "model")
    benchmark = bear.read(BearFolder(place / "benchmark").write())
    config = bear_task(place / "tasks", benchmark, templates=(0, 1, 2))
    (place / "tasks" / "bear.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    arguments = ["--model", "clozeboard", "--model_args", f"pretrained={place / 'model'},dtype=float32", "--device"]
    arguments += ["cpu", "--tasks", "bear", "--include_path", str(place / "tasks"), "--log_samples"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["clozeboard"])
        patch.setenv("TOKENIZERS_PARALLELISM", "false")  # which the harness sets for good
        # Reading the harness's own tasks takes 6 s.
        patch.setattr(lm_eval.tasks, "TaskManager", partial(lm_eval.tasks.TaskManager, include_defaults=False))
        assert main(["lm-eval", *arguments, "--output_path", str(place / "out")]) == 0
    return place


@pytest.fixture(scope="module")
def samples(place: Path) -> Path:
    (path,) = (place / "out").rglob("samples_bear_*.jsonl")
    return path


@pytest.fixture
def content(place: Path) -> Benchmark:
    return bear.read(place / "benchmark")


@pytest.fixture
def facts(samples: Path) -> HarnessFacts:
    return read_facts(results_beside(samples))


@pytest.fixture
def changed(samples: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Return a function that writes the samples after a change to a new file, and returns that."""

    def write(change: Change) -> Path:
        rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
        change(rows)
        path = tmp_path / samples.name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_the_result_is_the_one_that_the_same_run_has_here(place: Path, samples: Path, tmp_path: Path) -> None:
    """Every row and every score, up to the rounding of a different batch."""
    out = tmp_path / "result"
    assert main(["import-results", str(samples), "--benchmark", str(place / "benchmark"), "--out", str(out)]) == 0
    run(place / "model", place / "benchmark", out=tmp_path / "ours", protocol="lm-eval", progress=False)
    theirs, ours = Result.load(out), Result.load(tmp_path / "ours")
    assert list(theirs.items.columns) == list(ours.items.columns)
    exact = [name for name in ours.items.columns if name not in ("scores", "margin")]
    assert theirs.items[exact].map(str).equals(ours.items[exact].map(str))
    for name in ("scores", "margin"):
        expected = np.hstack(ours.items[name].to_list())
        np.testing.assert_allclose(np.hstack(theirs.items[name].to_list()), expected, atol=1e-4, rtol=0)
    assert theirs.record["settings_digest"] == ours.record["settings_digest"]
    assert theirs.by().round(6).equals(ours.by().round(6))


def test_the_record_says_where_the_rows_come_from(content: Benchmark, samples: Path, facts: HarnessFacts) -> None:
    facts = replace(facts, arguments={**facts.arguments, "token": "hf_abcdefghijkl"})
    record = import_samples(read_samples(samples), facts, content).record
    assert record["harness"]["version"] == record["packages"]["lm_eval"] == facts.version
    assert record["harness"]["model"] == "clozeboard" and record["harness"]["task"] == "bear"
    assert record["harness"]["model_args"]["token"] == "***" and "hf_abc" not in json.dumps(record)
    assert record["packages"]["torch"] == torch.__version__
    assert record["packages"]["python"] == platform.python_version()
    assert record["model"]["parameters"] > 0 and record["model"]["id"] == facts.arguments["pretrained"]
    (note,) = record["batch"]["notes"]
    assert note.startswith(f"Measured by lm-evaluation-harness {facts.version} with the model clozeboard (pretrained=")
    assert note.endswith("on its task bear; the rows were read from its samples.")


def test_one_relation_with_one_template_is_a_result_with_these_settings(
    content: Benchmark, facts: HarnessFacts, changed: Callable[[Change], Path]
) -> None:
    def keep(rows: list[dict[str, Any]]) -> None:
        rows[:] = [row for row in rows if "is located in" in row["doc"]["text_options"][0]]

    result = import_samples(read_samples(changed(keep)), facts, content)
    assert result.record["settings"]["relations"] == ["P30"]
    assert result.record["settings"]["templates"] == [0]
    assert result.record["settings"]["protocol"] == "usual" and len(result.items) == 4


def test_half_precision_is_noted(content: Benchmark, samples: Path, facts: HarnessFacts) -> None:
    facts = replace(facts, model="hf", config={**facts.config, "model_dtype": "torch.bfloat16"})
    record = import_samples(read_samples(samples), facts, content).record
    assert record["settings"]["dtype"] == "bfloat16" and record["settings"]["protocol"] == "usual"
    assert "rounds log-probabilities to bfloat16" in record["batch"]["notes"][1]


def test_the_start_token_that_was_named_is_a_setting(content: Benchmark, samples: Path, facts: HarnessFacts) -> None:
    facts = replace(facts, arguments={**facts.arguments, "prefix_token_id": 5})
    record = import_samples(read_samples(samples), facts, content).record
    assert record["settings"]["start"] == "5" and record["model"]["tokenizer"]["start"]["id"] == 5


def first_statement(text: str) -> Change:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["arguments"]["gen_args_0"]["arg_1"] = text

    return change


def other_answer(rows: list[dict[str, Any]]) -> None:
    rows[0]["target"] = "2"


def with_examples(rows: list[dict[str, Any]]) -> None:
    rows[3]["arguments"]["gen_args_1"]["arg_0"] = "Peru is located in South America. "


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (first_statement("Chad is located in Oz."), "1 of .* statements of the samples are not in .*'Chad is located"),
        (lambda rows: rows.pop(1), "answer 17 of 18 questions; the first .* relation P30, template 0, item 1"),
        (other_answer, "another right answer to relation P30, template 0, item 0"),
        (with_examples, "Sample 3 has a text before its options: 'Peru is"),
        (lambda rows: rows[0].pop("filtered_resps"), r"Line 1 of samples_bear_.* is no sample of a choice"),
        (lambda rows: rows[1].update(target="9"), r"Line 2 of samples_bear_.* is no sample of a choice"),
        (lambda rows: rows.clear(), "holds no samples"),
    ],
)
def test_samples_that_do_not_fit_are_refused_in_a_sentence(
    change: Change, sentence: str, content: Benchmark, facts: HarnessFacts, changed: Callable[[Change], Path]
) -> None:
    with pytest.raises(BadInput, match=sentence):
        import_samples(read_samples(changed(change)), facts, content)


@pytest.mark.parametrize(
    ("facts_changed", "sentence"),
    [
        ({"arguments": {}}, "do not name the model"),
        ({"config": {}, "arguments": {"pretrained": "x", "dtype": "float64"}}, "name the number format float64"),
    ],
)
def test_results_that_say_too_little_are_refused_in_a_sentence(
    facts_changed: dict[str, Any], sentence: str, content: Benchmark, samples: Path, facts: HarnessFacts
) -> None:
    with pytest.raises(BadInput, match=sentence):
        import_samples(read_samples(samples), replace(facts, **facts_changed), content)


def test_samples_without_their_results_are_refused(samples: Path, tmp_path: Path) -> None:
    alone = shutil.copy(samples, tmp_path)
    with pytest.raises(BadInput, match=r"are not beside it\. Name the file.*--results FILE"):
        results_beside(Path(alone))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"config": {"model": "hf"}, "date": "today"}'])
def test_other_files_are_no_results(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="is no file of results of lm-evaluation-harness"):
        read_facts(tmp_path / "results.json")


def test_a_folder_is_no_file_of_samples(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no file of samples"):
        read_samples(tmp_path)
