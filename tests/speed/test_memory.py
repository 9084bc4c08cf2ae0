"""Peak memory: what is read of the process."""

from pathlib import Path

import pytest

from speed import memory


def test_figures_of_the_process_are_read_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n")
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    assert (memory._status_bytes("VmHWM"), memory._status_bytes("VmRSS")) == (2048 * 1024, 1024 * 1024)
