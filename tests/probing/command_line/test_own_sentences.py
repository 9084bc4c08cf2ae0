"""The command `perplexity`, with every complaint in one line."""

import json
from pathlib import Path

import pytest

import probing
from probing.__main__ import main
from probing.language_model import fitting
from probing.probes.perplexity import Perplexity
from probing.scoring.load import load
from tests.fakes import FakeModel, ShortSighted
from tests.probing.command_line.helpers import refusal
from tests.tiny_models import build_bert


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


def test_a_file_without_sentences_is_told(fake: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("\n\n")
    assert "has no sentences" in refusal(capsys, "perplexity", "fake", "--sentences", str(tmp_path / "own.txt"))


def test_a_missing_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("Oslo\n")
    refused = refusal(capsys, "perplexity", str(tmp_path / "none.gguf"), "--sentences", str(tmp_path / "own.txt"))
    assert "There is no file" in refused


def test_a_sentence_that_is_too_long_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "load", lambda model, **options: ShortSighted(limit=16), raising=False)
    (tmp_path / "own.txt").write_text("Lima is in Peru.\nOslo is in Norway.\n")
    assert main(["perplexity", "fake", "--sentences", str(tmp_path / "own.txt")]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["text"] == "Lima is in Peru."
    assert "A text takes 18 tokens, the model takes 16." in captured.err


def test_nothing_is_loaded_for_a_file_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "load", None, raising=False)
    refused = refusal(capsys, "perplexity", "fake", "--sentences", str(tmp_path / "none.txt"))
    assert "none.txt does not exist" in refused


def test_a_masked_model_hides_one_token_at_a_time_as_the_probe_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load(str(build_bert(tmp_path / "bert")))
    monkeypatch.setattr(probing, "load", lambda name, **options: model, raising=False)
    sentences = ["Chad is located in Africa.", "Oslo"]
    (tmp_path / "own.txt").write_text("\n".join(sentences))
    assert main(["perplexity", "bert", "--sentences", str(tmp_path / "own.txt")]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = list(map(fitting, Perplexity().measure(model, sentences)))
    assert [(line["tokens"], line["perplexity"]) for line in printed] == [
        (of["tokens"], of["perplexity"]) for of in expected
    ]
