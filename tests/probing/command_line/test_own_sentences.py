"""The commands `perplexity`, `surprisal` and `sentences`, with every complaint in one line."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing.__main__ import main
from tests.fakes import FakeModel, ShortSighted
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


def test_a_file_without_sentences_is_told(fake: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("\n\n")
    assert "has no sentences" in refusal(capsys, "perplexity", "fake", "--sentences", str(tmp_path / "own.txt"))


def test_a_missing_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.txt").write_text("Oslo\n")
    refused = refusal(capsys, "perplexity", str(tmp_path / "none.gguf"), "--sentences", str(tmp_path / "own.txt"))
    assert "There is no file" in refused


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text("Oslo is in Norway.\n\nLima is in Peru.\n", encoding="utf-8")
    return path


def test_words_are_printed_as_csv(fake: None, own: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["surprisal", "fake", str(own)]) == 0
    table = pd.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    assert list(table["text"]) == ["Oslo", "is", "in", "Norway.", "Lima", "is", "in", "Peru."]
    assert set(table["sentence"]) == {0, 2}
    assert set(table["unit"]) == {"bits"}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_file_has_what_the_function_returns(fake: None, own: Path, ending: str) -> None:
    out = own.with_name(f"table.{ending}")
    assert main(["surprisal", "fake", str(own), "--by", "token", "--base", "e", "--out", str(out)]) == 0
    read: dict[str, Any] = {
        "csv": pd.read_csv,
        "jsonl": lambda path: pd.read_json(path, lines=True),
        "parquet": pd.read_parquet,
    }
    sentences = ["Oslo is in Norway.", "", "Lima is in Peru."]
    expected = probing.surprisal(FakeModel(), sentences, by="token", base="e")
    pd.testing.assert_frame_equal(read[ending](out), expected, check_dtype=False)


def test_a_sentence_that_is_too_long_is_named_on_stderr(
    monkeypatch: pytest.MonkeyPatch, own: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "load", lambda model, **options: ShortSighted(limit=16), raising=False)
    assert main(["surprisal", "fake", str(own), "--by", "sentence"]) == 0
    captured = capfd.readouterr()
    assert captured.err == "Sentence 0 is left out: A text takes 18 tokens, the model takes 16.\n"
    assert "Lima is in Peru." in captured.out
    assert "Oslo" not in captured.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--out", "table.xls"], "table.xls has no known ending"),
        (["--start", "first"], "The start token cannot be 'first'."),
        (["--pll", "original"], "hides no tokens: pll does nothing"),
        (["--batch-tokens", "0"], "Batches cannot hold 0 tokens"),
    ],
)
def test_a_bad_flag_is_told(
    fake: None, own: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert message in refusal(capsys, "surprisal", "fake", str(own), *more)


def test_nothing_is_loaded_for_a_file_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "load", None, raising=False)
    assert "none.txt does not exist" in refusal(capsys, "surprisal", "fake", str(tmp_path / "none.txt"))
    (tmp_path / "there.csv").write_text("mine")
    (tmp_path / "own.txt").write_text("Oslo\n")
    refused = refusal(capsys, "surprisal", "fake", str(tmp_path / "own.txt"), "--out", str(tmp_path / "there.csv"))
    assert "exists already" in refused


def test_json_lines_and_parquet_hold_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"pairs.{ending}" for ending in ("jsonl", "parquet")]
    for file in files:
        assert main(["sentences", "pairs", "--test", "0.3", "--out", str(file)]) == 0
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert lines == pd.read_parquet(files[1]).to_dict("records")
    in_test = sum(line["split"] == "test" for line in lines)
    assert f"{len(lines)} sentences are in {files[1]}, {in_test} of them for the test." in capsys.readouterr().out
    assert 0.2 < in_test / len(lines) < 0.35


def test_relations_can_be_chosen(tmp_path: Path) -> None:
    out = tmp_path / "some.jsonl"
    assert main(["sentences", "pairs", "--relations", "born_in", "--out", str(out)]) == 0
    assert {json.loads(line)["relation"] for line in out.read_text().splitlines()} == {"born_in"}


def test_a_file_with_another_ending_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no known ending" in refusal(capsys, "sentences", "pairs", "--out", str(tmp_path / "pairs.txt"))
    assert not list(tmp_path.iterdir())
