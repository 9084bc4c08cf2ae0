"""Download of the Parquet files of a data set on the Hugging Face Hub, without an account."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from probing.errors import SourceUnavailable
from probing.files.archives import fetch_file, fetch_json

SUFFIX = ".parquet"


@dataclass(frozen=True)
class HubFolder:
    """The Parquet files in one folder of a data set, as they are at present.

    `data_set`: its id, such as lm-pub-quiz/BEAR. The hub is the one that HF_ENDPOINT names.
    """

    data_set: str
    name: str

    @property
    def address(self) -> str:
        return f"{_endpoint()}/datasets/{self.data_set}/tree/main/{self.name}"

    def fetch(self, folder: Path, by_hand: str) -> None:
        """Download the files into `folder`; raise `SourceUnavailable` where the hub has none or does not answer."""
        listing = fetch_json(f"{_endpoint()}/api/datasets/{self.data_set}/tree/main/{self.name}", folder, by_hand)
        names = [name for entry in (listing if isinstance(listing, list) else []) if (name := self._own_file(entry))]
        if not names:
            raise SourceUnavailable(f"There are no Parquet files at {self.address}.", by_hand)
        for name in names:
            fetch_file(f"{_endpoint()}/datasets/{self.data_set}/resolve/main/{self.name}/{name}", folder, by_hand)

    def _own_file(self, entry: Any) -> str:
        """Return the name of a listed file if it is a Parquet file directly in the folder, else an empty text."""
        path = PurePosixPath(str(entry.get("path"))) if isinstance(entry, dict) else PurePosixPath()
        return path.name if path.suffix == SUFFIX and path.parent == PurePosixPath(self.name) else ""


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co")
