"""Progress where stderr is no terminal: plain lines, each with the time left."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from probing import progress_bar as progress
from probing.progress_bar import progress_bar, with_progress

WHOLE = 80.0


def test_the_time_left_follows_from_the_pace_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(progress, "perf_counter", lambda: next(clock))
    with progress_bar(100, 20, shown=False) as bar:
        assert bar.format_dict["rate"] is None
        bar.advance(10)  # 2 seconds
        bar.advance(10)
        assert bar.format_dict["rate"] == 5


def test_without_a_terminal_each_interval_has_a_line_with_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(100, 20) as bar:
        bar.set_postfix_str("P30", refresh=False)
        bar.advance(30)
        bar.advance(50)
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub(r"[\d:]+ (passed|left)|\? left", r"T", line) for line in lines] == [
        "20 % done, T, T",
        "50 % done, T, T, P30",
        "100 % done, T, T, P30",
    ]


def test_the_first_line_waits_for_no_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.01)
    bar = progress_bar(WHOLE, 0)
    bar._first.join()
    bar.close()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("0 % done") and line.endswith("? left")


def test_without_progress_and_within_the_first_interval_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress_bar(WHOLE, 0) as bar:
        bar.advance(WHOLE)
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(WHOLE, 0, shown=False) as bar:
        bar.advance(WHOLE)
    assert capsys.readouterr().err == ""


def test_each_line_names_the_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(WHOLE, 0, title="gpt2 on bear (2 of 6)") as bar:
        bar.advance(WHOLE / 2)
    assert capsys.readouterr().err.splitlines()[-1].startswith("gpt2 on bear (2 of 6): 50 % done")


def test_the_parts_of_a_step_are_counted_in_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    assert list(with_progress("abcd", "Page views")) == ["a", "b", "c", "d"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines][-2:] == ["Page views: 75 % done", "Page views: 100 % done"]


@pytest.mark.slow
def test_a_notebook_shows_a_bar() -> None:
    code = """
from probing.progress_bar import progress_bar
with progress_bar(100, 0, title="gpt2 on bear (2 of 6)") as bar:
    bar.advance(100)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    shown = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
    assert re.search(r"\rgpt2 on bear \(2 of 6\): 100%\|\S+\|", shown)
