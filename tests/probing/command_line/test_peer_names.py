"""What users of lm-evaluation-harness are told where the command line differs from what they know."""

from pathlib import Path

import pytest

from probing.__main__ import main
from probing.command_line.exit_codes import program
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import complaint, refusal, use


@pytest.mark.parametrize(
    ("words", "new"),
    [
        (["--model", "hf", "--model_args", "pretrained=tiny"], "run tiny --benchmark starter --out DIR."),
        (["--model=tiny"], "run tiny --benchmark starter --out DIR."),
        (
            ["--model_args", "pretrained=tiny,dtype=float16", "--output_path", "results"],
            "run tiny --benchmark starter --out results. Its other model_args are flags here, "
            "such as --dtype and --commit.",
        ),
    ],
)
def test_a_model_in_a_flag_is_answered_with_its_place(
    words: list[str], new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = f"error: The model stands first, without a flag. Write: {program()} {new}\n"
    assert refusal(capsys, "run", *words, "--tasks", "starter") == answer


def test_keeping_samples_is_accepted_and_one_line_says_that_it_is_usual(
    bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    words = ["--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "out")]
    assert main(["run", "fake", *words, "--log_samples"]) == 0
    assert "--log_samples is not needed: rows are kept in items.parquet" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--batch_size", "--batch-size"])
def test_a_number_of_sentences_is_answered_with_who_finds_it(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "m", "--benchmark", "starter", flag, "8"])
    assert "the size of batches is found by itself. Leave it out" in complaint(capsys)


@pytest.mark.parametrize(
    ("task", "hint"),
    [
        ("hellaswag", "hellaswag is neither a folder nor a known benchmark. A task of lm-evaluation-harness"),
        ("startr", "Did you mean 'starter'? A task of lm-evaluation-harness"),
    ],
)
def test_a_task_of_the_harness_is_answered_with_the_command_that_runs_it(
    task: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "m", "--tasks", task])
    answer = complaint(capsys)
    assert hint in answer
    assert f"lm-eval --tasks {task}" in answer
