"""The command `paper`: what it lists, prints, writes and refuses."""

from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.papers.declarations import NAMES, read_paper
from tests.probing.command_line.helpers import printed_by, refusal
from tests.tiny_models import build_bert


@pytest.mark.parametrize("name", NAMES)
def test_the_list_names_every_exhibit_and_what_it_needs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed_by(capsys, "paper", name, "--list")
    assert "(--table " in shown
    assert "data: " in shown
    assert "models: " in shown
    listed = {exhibit.partition("\n")[0] for exhibit in shown.split("\n\n")[1:] if "\n" in exhibit}
    assert {f"{one.number} ({one.flag}): {one.caption}" for one in read_paper(name).exhibits} == listed


def test_the_list_says_why_figures_were_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "paper", "geography", "--list", "--table", "3")
    assert "printed figures: none. The table is an image in the paper" in printed


def test_a_table_is_printed_and_written_in_three_forms_and_not_measured_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = build_bert(tmp_path / "tiny"), tmp_path / "out"
    words = ["paper", "geography", "--table", "3", "--models", str(model), "--sample", "1", "--out", str(out)]
    shown = printed_by(capsys, *words)
    assert "Geography, Table 3: " in shown
    assert "tiny measured" in shown
    assert "\nAbout the printed figures\nMeasured on a sample of 1 for each relation.\n" in shown
    assert "The table is an image in the paper" in shown
    figures = pd.read_csv(out / "table-3.csv")
    assert set(figures["metric"]) == {"in_top_5", "in_top_10"}
    assert "\\toprule" in (out / "table-3.tex").read_text()
    assert "plotly" in (out / "table-3.html").read_text().lower()
    (record,) = out.glob("runs-1/tiny/*/run.json")
    written = record.stat().st_mtime_ns
    assert main(words) == 0
    assert record.stat().st_mtime_ns == written


def test_what_cannot_be_had_is_told_beside_the_printed_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    missing = str(tmp_path / "nowhere")
    assert main(["paper", "geography", "--table", "4", "--models", missing, "--sample", "1"]) == 1
    captured = capsys.readouterr()
    assert "0.632" in captured.out
    assert "error: Not everything was measured" in captured.err
    assert missing in captured.err


def test_what_a_reader_must_bring_is_told_beside_the_printed_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    shown = printed_by(capsys, "paper", "s-test", "--table", "3")
    assert "85.87" in shown
    assert "Not measured\nneeded: for the rarer word, a corpus or a list of frequencies" in shown


@pytest.mark.parametrize(("number", "text"), [("F9", "[X] lies in [Y]."), ("F10", 'What is the capital of "[X]"?')])
def test_texts_are_printed_without_the_files_of_the_benchmark(
    number: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    assert text in printed_by(capsys, "paper", "dlama", "--table", number)
    assert not (tmp_path / "benchmarks").exists()
    assert "--data dlama=FOLDER" in printed_by(capsys, "paper", "dlama", "--table", number, "--list")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["s-test", "--table", "99"], "S-TEST has no table 99 here. Choose from: Table 1, "),
        (["s-test", "--sample", "0"], "A sample cannot have 0 items."),
        (["s-test", "--data", "stest"], "--data stest names no folder."),
    ],
)
def test_bad_arguments_get_one_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refusal(capsys, "paper", *words)
