"""Peak memory above the loaded model, measured for each system in a new process."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from probing.scoring.batching import ceiling
from speed.networks import NetworkKind, load_network
from speed.systems import Ours, Peer, System
from speed.work import Workload

PROCESS = Path("/proc/self")
LARGEST_BATCH = 0  # stands for the most token positions that calibration can choose


def peak_memory(kind: NetworkKind, system: str, workload: Workload, batch: int) -> int:
    """Return the bytes that the process takes at most while it works, above what it held with the model loaded.

    `system`: peer, full or decide; `batch`: sequences at once for the peer, else token positions or `LARGEST_BATCH`.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak_of_this_process, kind, system, workload, batch).result()


def _peak_of_this_process(kind: NetworkKind, name: str, workload: Workload, batch: int) -> int:
    loaded = load_network(kind)
    system: System
    if name == "peer":
        system = Peer(name, loaded.peer(), batch)
    else:
        system = Ours(name, loaded.ours(batch or ceiling(loaded.network)), decide=int(name == "decide"))
    with high_water_mark() as peak:
        system(workload)
    return peak.bytes


@dataclass
class Peak:
    """The bytes that this process has held at most above what it held before."""

    bytes: int = 0


@contextmanager
def high_water_mark() -> Iterator[Peak]:
    """Measure the memory that this process takes in the block; the yielded object has it at the block's end."""
    (PROCESS / "clear_refs").write_text("5")  # resets the high-water mark to what is held now
    before, peak = _status_bytes("VmRSS"), Peak()
    yield peak
    peak.bytes = _status_bytes("VmHWM") - before


def _status_bytes(field: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
