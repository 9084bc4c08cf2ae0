"""Messages between a worker and its measuring process: one JSON object per line, over the process's pipes.

The worker sends a `Task` and then parts. The process answers with events: `phase` (it begins another phase), `loaded`
(the model is ready), `progress` (share of the part that is done), `part` (its rows are stored in a file) and `error`.
The worker trusts no event: the process has read files of strangers.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from probing.settings import Settings

LINE_LIMIT = 1_000_000  # bytes of one message


@dataclass(frozen=True)
class BenchmarkFiles:
    """Where a benchmark's files are, how they are read, and the digest that they must have."""

    format: str
    folder: Path
    slug: str
    digest: str


@dataclass(frozen=True)
class Task:
    """What is to be measured. `model`: a folder in Hugging Face format or a GGUF file, already checked.

    `adapter`: the folder of a LoRA adapter that is merged into it, checked as well, None without one. `hub_id`,
    `commit` and `adapter_commit` are recorded as the model's identity; with an adapter, `hub_id` is `model+adapter`.
    `device` and `batch_tokens`: as of `scoring.load`.
    """

    model: Path
    hub_id: str
    commit: str
    benchmark: BenchmarkFiles
    settings: Settings = field(default_factory=Settings)
    device: str = "auto"
    batch_tokens: int | None = None
    adapter: Path | None = None
    adapter_commit: str = ""

    @property
    def adapter_identity(self) -> str:
        """The id of the adapter with its commit, as a model's card has it; empty without one."""
        return f"{self.hub_id.partition('+')[2]}@{self.adapter_commit}" if self.adapter else ""

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("hub_id", "commit", "device", "batch_tokens", "adapter_commit")},
            "model": str(self.model),
            "adapter": str(self.adapter) if self.adapter else None,
            "benchmark": asdict(self.benchmark) | {"folder": str(self.benchmark.folder)},
            "settings": self.settings.to_json(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Task":
        """Read what `to_json` wrote."""
        benchmark = values["benchmark"]
        return cls(
            **{
                **values,
                "model": Path(values["model"]),
                "adapter": Path(values["adapter"]) if values["adapter"] else None,
                "benchmark": BenchmarkFiles(**{**benchmark, "folder": Path(benchmark["folder"])}),
                "settings": Settings.from_json(values["settings"]),
            }
        )


def send(stream: IO[bytes], message: Mapping[str, Any]) -> None:
    """Write one message; raise `BrokenPipeError` if the other side has ended."""
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Read one message, None at the end of the stream; raise `ValueError` if the line is not a message."""
    line = stream.readline(LINE_LIMIT)
    if not line:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not line.endswith(b"\n") or not isinstance(message, dict):
        raise ValueError(f"no message, but {line[:100]!r}")
    return message
