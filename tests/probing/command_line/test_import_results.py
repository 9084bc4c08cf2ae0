"""The command `import-results`: samples of lm-evaluation-harness become a folder that the other commands take."""

from itertools import count
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.benchmark import Benchmark
from tests.probing.command_line.helpers import complaint
from tests.probing.harness.tasks import bear_task, write_log
from tests.tiny_models import build_gpt2


@pytest.fixture
def samples(benchmark: Benchmark, tmp_path: Path) -> Path:
    config = bear_task(tmp_path / "task", benchmark, templates=(0, 1, 2))
    return write_log(tmp_path, config, build_gpt2(tmp_path / "model"), (-20.5 - number for number in count()))


def test_the_folder_can_be_shown_and_compared(
    samples: Path, folder: str, results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    words = ["import-results", str(samples), "--benchmark", folder, "--out", out, "--model", "org/name"]
    assert main(words) == 0
    assert f"{out}: 18 answers of org/name on small\n" in capsys.readouterr().out
    assert main(["show", out]) == 0
    shown = capsys.readouterr().out
    assert "Measured by lm-evaluation-harness 0.4.13 with the model hf (pretrained=" in shown
    assert "Protocol of lm-evaluation-harness" in shown
    assert main(["compare", out, results[0]]) == 0
    assert "first: org/name (multiple_choice)" in capsys.readouterr().out
    assert main(words) == 2
    assert "exists already" in complaint(capsys)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no.jsonl", "--benchmark", "starter", "--out", "new"], "no.jsonl is no file of samples."),
        (["SAMPLES", "--benchmark", "no-such", "--out", "new"], "no-such"),
        (["SAMPLES", "--benchmark", "starter", "--out", "new"], "statements of the samples are not in starter"),
        (["SAMPLES", "--benchmark", "FOLDER", "--out", "new", "--results", "no.json"], "no.json is no file of results"),
        (["SAMPLES", "--benchmark", "FOLDER", "--out", "new", "--results", "SAMPLES"], "is no file of results"),
        (["SAMPLES", "--benchmark", "FOLDER", "--out", "new", "--tokenizer", "empty"], "empty"),
    ],
)
def test_bad_input_gets_one_sentence_and_leaves_no_folder(
    words: list[str],
    sentence: str,
    samples: Path,
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    capsys.readouterr()
    paths = {"SAMPLES": str(samples), "FOLDER": folder}
    assert main(["import-results", *(paths.get(word, word) for word in words)]) == 2
    assert sentence in complaint(capsys)
    assert not (tmp_path / "new").exists()
