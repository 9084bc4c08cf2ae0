"""A process on one device: it loads the model there, and probes and stores the parts that the run gives it.

`python -m probing.devices.device_child CONNECTION PARENT`, started by `process`, takes the number of an open connection
to the run, and that of the process that the run is in.
"""

import gc
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import torch

from probing.devices.device_messages import Begin, Load, Loaded, Probe, Stored
from probing.errors import BadInput, Incomplete, ProbingError
from probing.measuring.limits import die_with_parent
from probing.model_source import CPU
from probing.part_runner import Observer, open_model, probe_and_store
from probing.scoring.loading_options import usable_device


class RunEndedError(Exception):
    """The other side of the connection is closed, so that nobody waits for this process any more."""


def main() -> int:
    connection = Connection(int(sys.argv[1]))
    die_with_parent(int(sys.argv[2]))
    gc.freeze()  # what was imported is never garbage
    gc.enable()
    return serve(connection)


def serve(connection: Connection) -> int:
    """Work until the run has ended, and return 0; report an error, whatever it is, and return 1."""
    try:
        work(connection)
    except RunEndedError:
        return 0
    except ProbingError as error:
        report: ProbingError = error
    except Exception as error:  # of any kind, which the run may not be able to read
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}".rstrip(": .")
        report = Incomplete(f"A process of the run has failed: {reason}.", "Report it if it happens again.")
    with suppress(ConnectionError):
        connection.send(report)
    return 1


def work(connection: Connection) -> None:
    """Load the model, and do what is ordered; raise `RunEndedError` when there are no more orders."""
    load: Load = _receive(connection)
    _refuse_missing(load.devices)
    _share_processor(load.sharers)
    _stay_on(load.source.device)
    model, start = open_model(load.source, load.settings, {})
    tokenizer = getattr(getattr(model, "tokenizer", None), "backend_tokenizer", None)
    _send(connection, Loaded(model.card, model.dtype, tokenizer))
    while True:
        match _receive(connection):
            case Begin(job, card):
                run, model.card = job, card
            case Probe(part, estimate):
                observer = Observer(estimate, partial(_send, connection))
                _send(connection, Stored(probe_and_store(model, run, part, start, observer)))


def _refuse_missing(devices: Sequence[str]) -> None:
    """Raise `BadInput` where one of the devices is not on this machine, and name those that are."""
    for name in devices:
        try:
            usable_device(name)
        except BadInput as error:
            raise BadInput(error.message, f"Choose from: {', '.join(_devices_here())}.") from error


def _devices_here() -> list[str]:
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        return [CPU]
    return [CPU, *(f"{accelerator.type}:{number}" for number in range(torch.accelerator.device_count()))]


def _share_processor(processes: int) -> None:
    """Use as many threads as fall to each of so many processes."""
    if processes > 1:
        torch.set_num_threads(max(1, torch.get_num_threads() // processes))


def _stay_on(device: str) -> None:
    """Have everything that names no GPU go to this one, so that nothing is allocated on the GPU of another process."""
    if device.startswith("cuda"):
        torch.cuda.set_device(usable_device(device))


def _receive(connection: Connection) -> Any:
    try:
        return connection.recv()
    except (EOFError, ConnectionError) as error:
        raise RunEndedError from error


def _send(connection: Connection, report: Any) -> None:
    try:
        connection.send(report)
    except ConnectionError as error:
        raise RunEndedError from error


if __name__ == "__main__":
    sys.exit(main())
