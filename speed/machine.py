"""The machine: its number of cores and its kind of processor."""

import os
import platform
from pathlib import Path
from typing import Any

import torch

CPUINFO = Path("/proc/cpuinfo")


def describe() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0))
    return {"cores": cores, "processor": _processor(), "torch_threads": torch.get_num_threads()}


def _processor() -> str:
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
