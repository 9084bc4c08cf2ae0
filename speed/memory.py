"""Peak memory above the loaded model at the largest batch that calibration can choose, in a new process."""

from probing.scoring.batching import ceiling
from speed.networks import NetworkKind, load_network
from speed.new_process import in_new_process
from speed.peers.protocol import high_water_mark
from speed.systems import Ours
from speed.work import Workload


def peak_memory(kind: NetworkKind, system: str, workload: Workload) -> int:
    """Return the bytes that the process takes at most while it works, above what it held with the model loaded.

    `system`: full or decide.
    """
    return in_new_process(_peak_of_this_process, kind, system, workload)


def _peak_of_this_process(kind: NetworkKind, name: str, workload: Workload) -> int:
    loaded = load_network(kind)
    system = Ours(name, loaded.ours(ceiling(loaded.network)), decide=int(name == "decide"))
    with high_water_mark() as peak:
        system(workload)
    return peak.bytes
