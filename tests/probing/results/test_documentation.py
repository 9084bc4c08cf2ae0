"""The examples of docs/result-files.md run as they stand there."""

import re
from pathlib import Path
from typing import Any

import pytest

from probing.formats import bear
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.results.recorder import Recorder

PAGE = (Path(__file__).parents[3] / "docs" / "result-files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_examples_run(bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bear_folder.metadata["P19"] = bear_folder.metadata["P30"]
    bear_folder.lines["P19"] = [{"sub_label": f"Person {place}", "answer_idx": place % 3} for place in range(5)]
    benchmark = bear.read(bear_folder.write())
    for name, known in (("results", []), ("others", ["Chad is located in Africa."])):
        run(FakeModel(knows=known), benchmark, out=tmp_path / name, progress=False)
    monkeypatch.chdir(tmp_path)
    recorder = Recorder()
    names: dict[str, Any] = {"wandb": recorder, "mlflow": recorder}
    for example in EXAMPLES:
        exec(example, names)
    assert len(EXAMPLES) == 6
    assert names["labels"][names["row"]["answer"]] == names["row"]["answer_label"]
    assert recorder.logged["accuracy/overall/all"] == names["result"].by().loc["all", "value"]
