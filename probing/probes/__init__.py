"""The ways to ask: one module and one line per probe."""

from probing.errors import BadInput
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.probe import Probe

PROBES: dict[str, type[Probe]] = {"multiple_choice": MultipleChoice}


def probe_named(name: str) -> type[Probe]:
    if name not in PROBES:
        raise BadInput(f"No probe is called {name!r}.", f"Choose from: {', '.join(PROBES)}.")
    return PROBES[name]
