"""The command show: the scores of a result."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from probing.__main__ import main
from probing.start_token import StartToken, TokenizerFacts
from tests.probing.command_line.helpers import complaint


def test_show_prints_each_dimension(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))


def test_show_prints_how_texts_became_tokens_and_the_command_of_the_harness(
    results: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(results[0]) / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["model"]["tokenizer"] = asdict(TokenizerFacts("BPE", 300, False, False, start=StartToken("none")))
    record["benchmark"]["slug"] = "bear"
    path.write_text(json.dumps(record), encoding="utf-8")
    capsys.readouterr()
    assert main(["show", results[0]]) == 0
    printed = capsys.readouterr().out
    assert "\nTokens\nNo start token stands before a text, as chosen" in printed
    assert "\nThe same with lm-evaluation-harness\nlm_eval --model hf" in printed


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is not a result" in complaint(capsys)
