"""The commands `perplexity` and `sample`: own sentences, own samples, and every complaint in one line."""

import json
from pathlib import Path

import pytest

import probing
from probing.__main__ import main
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import refusal


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "load", lambda model, **options: FakeModel(), raising=False)


def test_each_sentence_becomes_one_json_line(fake: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("Oslo is in Norway.\n\n  Élysée lies in Paris \n", encoding="utf-8")
    assert main(["perplexity", "fake", "--sentences", str(tmp_path / "own.txt")]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first.keys() == {"text", "tokens", "perplexity"}
    assert (first["text"], first["tokens"]) == ("Oslo is in Norway.", 4)
    assert second["text"] == "Élysée lies in Paris"
    assert first["perplexity"] > 1


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "own.txt does not exist"), (b" \n\n", "has no sentences"), (b"\xff\xfe", "own.txt, line 1: not UTF-8")],
)
def test_a_file_without_sentences_is_told(
    fake: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "own.txt").write_bytes(content)
    assert message in refusal(capsys, "perplexity", "fake", "--sentences", str(tmp_path / "own.txt"))


def test_a_missing_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("Oslo\n")
    refused = refusal(capsys, "perplexity", str(tmp_path / "none.gguf"), "--sentences", str(tmp_path / "own.txt"))
    assert "There is no file" in refused
