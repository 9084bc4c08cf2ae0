"""Comparison of result folders byte by byte, except for what records the devices and times."""

import json
from pathlib import Path
from typing import Any

OF_DEVICES_AND_TIMES = ("device", "start", "end", "timing", "peak_memory")


def refuse_differences(first: Path, second: Path) -> None:
    """Fail unless both folders have the same files with the same contents."""
    names = {path.name for path in first.iterdir()}
    assert names == {path.name for path in second.iterdir()}
    assert "run.json" in names
    for name in names - {"run.json"}:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert list(_record(first).items()) == list(_record(second).items())


def _record(folder: Path) -> dict[str, Any]:
    record = json.loads((folder / "run.json").read_text())
    return {name: value for name, value in record.items() if name not in OF_DEVICES_AND_TIMES}
