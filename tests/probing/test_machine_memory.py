"""The memory that there is, inside and outside of control groups."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from probing import machine_memory
from probing.machine_memory import available_memory, total_memory
from probing.measuring.limits import Limits

GIGABYTE = 2**30


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of control groups, in which this process stands in `site/worker` of both versions."""
    (tmp_path / "own").write_text("4:cpu,memory:/site/worker\n1:cpuset:/\n0::/site/worker\n")
    monkeypatch.setattr(machine_memory, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(machine_memory, "GROUPS", tmp_path)
    return tmp_path


def limit(folder: Path, names: tuple[str, str], most: object, used: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{most}\n")
    (folder / names[1]).write_text(f"{used}\n")


@pytest.mark.parametrize("path", ["site/worker", "site", "."])
def test_a_group_around_the_process_limits_its_memory(group: Path, path: str) -> None:
    limit(group / path, ("memory.max", "memory.current"), GIGABYTE, GIGABYTE // 4)
    assert (total_memory(), available_memory()) == (GIGABYTE, GIGABYTE * 3 // 4)
    assert Limits().memory_bytes == GIGABYTE * 9 // 10


def test_the_smallest_limit_of_the_older_version_counts(group: Path) -> None:
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    limit(group / "memory/site/worker", names, GIGABYTE, 0)
    limit(group / "memory/site", names, GIGABYTE // 2, GIGABYTE)
    assert (total_memory(), available_memory()) == (GIGABYTE // 2, 0)


def test_the_limit_of_the_process_itself_leaves_what_its_data_has_not_taken() -> None:
    code = (
        "import resource; from probing.machine_memory import available_memory; "
        f"resource.setrlimit(resource.RLIMIT_DATA, ({GIGABYTE // 2}, {GIGABYTE})); free = available_memory(); "
        f"data = bytearray({GIGABYTE // 8}); print(free, available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    free, left = map(int, done.stdout.split())
    assert GIGABYTE // 4 < free < GIGABYTE // 2
    assert free - left == pytest.approx(GIGABYTE // 8, rel=0.05)


def test_without_a_limit_the_machine_counts(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(group / "site", ("memory.max", "memory.current"), "max", 0)
    limit(group / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes"), 2**63 - 4096, 0)
    assert total_memory() == psutil.virtual_memory().total
    monkeypatch.setattr(machine_memory, "OWN_GROUPS", group / "nowhere")
    assert total_memory() == psutil.virtual_memory().total
