"""Peak memory above the loaded model, each system in a fresh process."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from probing.scoring.batching import ceiling
from speed.networks import Kind, load
from speed.systems import Ours, Peer, System
from speed.work import Work

PROCESS = Path("/proc/self")
LARGEST = 0  # stands for the most token positions that calibration can choose


def peak(kind: Kind, system: str, work: Work, batch: int) -> int:
    """Bytes that the process takes at most while it works, above what it held with the model loaded.

    `system`: peer, full or decide; `batch`: sequences at once for the peer, token positions or `LARGEST` for ours.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak, kind, system, work, batch).result()


def _peak(kind: Kind, system: str, work: Work, batch: int) -> int:
    loaded = load(kind)
    run: System
    if system == "peer":
        run = Peer(system, loaded.peer(), batch)
    else:
        run = Ours(system, loaded.ours(batch or ceiling(loaded.network)), decide=int(system == "decide"))
    (PROCESS / "clear_refs").write_text("5")  # the high-water mark starts again from what is held now
    before = _status("VmRSS")
    run(work)
    return _status("VmHWM") - before


def _status(field: str) -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
