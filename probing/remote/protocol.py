"""What a site and a worker elsewhere say to each other over HTTP: the version of the interface, and parts handed out.

The routes lie below `/api/v1/work/` and are described at `/api/`. Both sides use this module.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from probing.plan import Part
from probing.settings import Settings

PROTOCOL = 3  # a worker and a site work together only if theirs is the same
ROUTE = "api/v1/work/"


@dataclass(frozen=True)
class BenchmarkOffer:
    """A benchmark that the site hands out. `path`: of its archive, below the route of the interface."""

    slug: str
    format: str
    digest: str
    path: str


@dataclass(frozen=True)
class Handout:
    """One part of a run that the site has handed out under a lease.

    `hub_id` is `model+adapter` for a model with a LoRA adapter, and `adapter_commit` then the adapter's; else empty.
    `lease` is opaque to the worker. `positions`: the expected number of token positions. `lease_seconds`: how long the
    part stays with a worker that sends no heartbeat.
    """

    lease: str
    run: int
    hub_id: str
    commit: str
    settings: Settings
    benchmark: BenchmarkOffer
    part: Part
    positions: float
    lease_seconds: float
    adapter_commit: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"settings": self.settings.to_json(), "part": self.part._asdict()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Handout":
        """Read what `to_json` wrote; raise `KeyError`, `TypeError`, `ValueError` or `BadInput` where it is malformed.

        Fields that this version does not know are left out, so that a newer site can add some.
        """
        fields = {name: values[name] for name in cls.__dataclass_fields__}
        benchmark = {name: str(values["benchmark"][name]) for name in BenchmarkOffer.__dataclass_fields__}
        part = values["part"]
        return cls(
            **fields
            | {
                "settings": Settings.from_json(values["settings"]),
                "benchmark": BenchmarkOffer(**benchmark),
                "part": Part(str(part["relation"]), int(part["template"]), int(part["items"])),
            }
        )


def package_version() -> str:
    """Return the version of the installed package, or "unknown" in a checkout that is not installed."""
    try:
        return version("clozeboard")
    except PackageNotFoundError:
        return "unknown"
