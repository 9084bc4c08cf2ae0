"""The measurement of start-up: all commands are timed in turns, and one that takes longer than its limit fails."""

import pytest

from speed import start


@pytest.mark.parametrize(("longer", "code"), [("", 0), ("run", 1), ("show", 1), ("--help", 1), ("-c", 0)])
def test_a_command_that_takes_longer_than_its_limit_fails(
    longer: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["start"])
    monkeypatch.setattr(start, "seconds", lambda *words: 9.0 if longer in words else 0.1)
    assert start.main() == code
    assert capsys.readouterr().out.count(" s") == 4
