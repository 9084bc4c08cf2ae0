"""Peak memory above the loaded model, measured for each system in a new process."""

from concurrent.futures import ProcessPoolExecutor
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
    (PROCESS / "clear_refs").write_text("5")  # resets the high-water mark to what is held now
    before = _status_bytes("VmRSS")
    system(workload)
    return _status_bytes("VmHWM") - before


def _status_bytes(field: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
