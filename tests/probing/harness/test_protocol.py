"""What the harness logs of its task for BEAR is what a run with the protocol `lm-eval` measures here."""

import json
import sys
from functools import partial
from pathlib import Path

import lm_eval.tasks
import numpy as np
import pytest
import yaml

from probing.__main__ import main
from probing.formats import bear
from probing.runner import run
from tests.conftest import BearFolder
from tests.probing.harness.tasks import bear_task
from tests.tiny_models import build_gpt2


def test_every_logged_score_and_the_accuracy_are_those_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_gpt2(tmp_path / "model")
    benchmark = bear.read(BearFolder(tmp_path / "benchmark").write())
    config = bear_task(tmp_path / "tasks", benchmark, templates=(0, 1, 2))
    (tmp_path / "tasks" / "bear.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    arguments = ["--model", "clozeboard", "--model_args", f"pretrained={tmp_path / 'model'},dtype=float32", "--device"]
    arguments += ["cpu", "--tasks", "bear", "--include_path", str(tmp_path / "tasks"), "--log_samples"]
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")  # which the harness sets for good
    # Reading the harness's own tasks takes 6 s.
    monkeypatch.setattr(lm_eval.tasks, "TaskManager", partial(lm_eval.tasks.TaskManager, include_defaults=False))
    assert main(["lm-eval", *arguments, "--output_path", str(tmp_path / "out")]) == 0

    ours = run(tmp_path / "model", benchmark, protocol="lm-eval", progress=False)
    (samples,) = (tmp_path / "out").rglob("samples_bear_*.jsonl")
    logged = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    theirs = [float(answer[0]) for sample in logged for answer in sample["filtered_resps"]]
    np.testing.assert_allclose(theirs, np.hstack(ours.items["scores"].to_list()), atol=1e-4, rtol=0)
    (results,) = (tmp_path / "out").rglob("results_*.json")
    accuracy = json.loads(results.read_text(encoding="utf-8"))["results"]["bear"]["acc,none"]
    assert accuracy == pytest.approx(ours.by()["value"].item())
