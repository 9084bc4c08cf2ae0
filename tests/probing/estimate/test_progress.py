"""Progress where stderr is no terminal: plain lines, each with the time left."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from probing.estimate import progress
from probing.estimate.load import Load
from probing.estimate.progress import progress_bar

WHOLE = Load(statements=10, positions=80, passes=1)


def test_the_time_left_counts_what_passes_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both halves have as many positions; the second has nearly all passes, which the first told to be most costly."""
    clock = iter([0.0, *(second for pair in range(20) for second in (11.0 * pair + 10, 11.0 * pair + 11))])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(clock))
    left = Load(positions=1000, passes=200)
    with progress_bar(Load(positions=1000 + 20 * 600, passes=20 * 11).plus(left), Load(), shown=False) as bar:
        for _ in range(20):
            bar.advance(Load(positions=100, passes=10), Load(positions=100, passes=10))  # 10 seconds
            bar.advance(Load(positions=500, passes=1), Load(positions=500, passes=1))  # 1 second
        facts = bar.format_dict
    assert (facts["total"] - facts["n"]) / facts["rate"] == pytest.approx(200, rel=0.1)


def test_without_a_terminal_each_interval_has_a_line_with_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(Load(positions=100), Load(positions=20)) as bar:
        bar.set_postfix_str("P30", refresh=False)
        bar.advance(Load(positions=30), Load(positions=30))
        bar.advance(Load(positions=50), Load(positions=50))
    lines = capsys.readouterr().err.splitlines()
    assert [re.sub(r"[\d:]+ (passed|left)|\? left", r"T", line) for line in lines] == [
        "20 % done, T, T",
        "50 % done, T, T, P30",
        "100 % done, T, T, P30",
    ]


def test_the_first_line_does_not_wait_for_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.01)
    bar = progress_bar(WHOLE, Load())
    bar._first.join()
    bar.close()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("0 % done") and line.endswith("? left")


def test_what_ends_within_the_first_interval_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(WHOLE, Load()) as bar:
        bar.advance(WHOLE, WHOLE)
    assert capsys.readouterr().err == ""


def test_without_progress_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(WHOLE, Load(), shown=False) as bar:
        bar.advance(WHOLE, WHOLE)
    assert capsys.readouterr().err == ""


def test_each_line_names_the_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with progress_bar(WHOLE, Load(), title="gpt2 on bear (2 of 6)") as bar:
        bar.advance(WHOLE.times(0.5), WHOLE.times(0.5))
    assert capsys.readouterr().err.splitlines()[-1].startswith("gpt2 on bear (2 of 6): 50 % done")


def test_a_notebook_shows_a_bar() -> None:
    code = """
from probing.estimate.load import Load
from probing.estimate.progress import progress_bar
with progress_bar(Load(2, 100, 1), Load(), title="gpt2 on bear (2 of 6)") as bar:
    bar.advance(Load(2, 100, 1), Load(2, 100, 1))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    shown = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
    assert re.search(r"\rgpt2 on bear \(2 of 6\): 100%\|\S+\|", shown)
