"""Files of results: what is stored under a name is read again."""

from pathlib import Path

import pytest

from speed import stored_results
from speed.stored_results import store, stored


def test_results_are_read_as_they_were_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_results, "RESULTS", tmp_path)
    assert stored("made-up") == {}
    store("made-up", {"ratio": 1.5})
    assert stored("made-up") == {"ratio": 1.5}
