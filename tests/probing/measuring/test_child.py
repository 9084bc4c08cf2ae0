"""The steps of the measuring process, called in this process, where their errors can be seen, and its start."""

import gc
import io
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.catalog import EMBEDDED
from probing.errors import DigestMismatch
from probing.formats import FORMATS
from probing.measuring import child
from probing.measuring.limits import ROOT
from probing.measuring.messages import BenchmarkFiles, Task
from probing.plan import plan_of
from probing.settings import Settings
from tests.tiny_models import build_gpt2

FOLDER = EMBEDDED / "starter"
SETTINGS = Settings(relations=("animal_class",), limit=3)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    files = BenchmarkFiles("bear", FOLDER, "starter", FORMATS["bear"](FOLDER).digest)
    return Task(build_gpt2(tmp_path / "model"), "org/model", "c0ffee", files, SETTINGS, device="cpu")


def test_a_task_and_parts_are_answered_in_order(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "set_limits", lambda memory, disk, device: None)
    monkeypatch.setattr(child, "REPORT_INTERVAL", 0)
    (part,) = plan_of(FORMATS["bear"](FOLDER), SETTINGS).parts
    orders = [{"task": task.to_json(), "memory": 10**10, "disk": 10**9}, {"part": part._asdict()}]
    reports: list[tuple[str, dict[str, Any]]] = []
    stream = io.BytesIO(b"".join(json.dumps(order).encode() + b"\n" for order in orders))
    child.measure(stream, lambda event, **content: reports.append((event, content)), tmp_path)
    events = [event for event, _ in reports]
    assert events[:4] == ["phase", "phase", "phase", "loaded"]
    assert set(events[4:-1]) == {"progress"} and events[-1] == "part"
    assert reports[3][1]["card"]["id"] == "org/model"
    assert reports[-1][1]["record"]["items_done"] == 3
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) == 3


def test_without_orders_nothing_is_done(tmp_path: Path) -> None:
    gc.disable()  # as `probing.measuring.entry` does
    try:
        child.measure(io.BytesIO(), lambda event, **content: pytest.fail(event), tmp_path)
        assert gc.isenabled(), "garbage is collected while it measures"
    finally:
        gc.enable()


def test_a_benchmark_that_was_changed_is_refused(task: Task) -> None:
    files = BenchmarkFiles("bear", FOLDER, "starter", "0" * 64)
    with pytest.raises(DigestMismatch, match="starter were changed"):
        child.read(files)


def test_limits_never_exceed_what_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: dict[int, tuple[int, int]] = {}
    hard = {resource.RLIMIT_DATA: 5 * 10**9}
    monkeypatch.setattr(child.resource, "setrlimit", limits.__setitem__)
    monkeypatch.setattr(child.resource, "getrlimit", lambda kind: (0, hard.get(kind, resource.RLIM_INFINITY)))
    child.set_limits(10**10, 10**9, "cpu")
    assert limits == {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (10**9, 10**9),
        resource.RLIMIT_DATA: (5 * 10**9, 5 * 10**9),
    }


def test_an_unforeseen_error_is_reported_with_its_name_and_trace() -> None:
    report = child.unforeseen(ZeroDivisionError("by zero"))
    assert report["code"] == "internal" and "ZeroDivisionError" in report["message"]
    assert report["trace"].endswith("ZeroDivisionError: by zero\n")


def test_a_program_gets_its_arguments_and_is_imported_without_garbage_collection(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import gc, sys; print(__name__, gc.isenabled(), sys.argv[1:])")
    done = subprocess.run(
        [sys.executable, "-m", "probing.measuring.entry", "program", "folder"],
        env={"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "__main__ False ['folder']"
