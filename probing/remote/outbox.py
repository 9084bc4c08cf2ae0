"""Measured parts that a site has not acknowledged yet, kept on disk so that neither a site nor a worker loses them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from probing.files.folders import new_file, space
from probing.results.joining import PartResult


@dataclass(frozen=True)
class Delivery:
    """The rows of a part on disk, its record as JSON, and the lease under which the site expects them."""

    lease: str
    site: str
    rows: Path
    record: str

    def forget(self) -> None:
        """Remove the files, once the site has acknowledged them or does not want them."""
        self.rows.with_suffix(".json").unlink(missing_ok=True)
        self.rows.unlink(missing_ok=True)


class Outbox:
    """A folder with the deliveries of one worker; those that a worker left behind which has ended belong to the next.

    Every worker has a folder of its own below `folder` and holds a lock on it for as long as it lives.
    """

    def __init__(self, folder: Path, site: str) -> None:
        self.site, self.folder = site, folder / uuid4().hex
        with space(folder):
            self.folder.mkdir(parents=True)
        self._lock = FileLock(self.folder.with_suffix(".lock"))
        self._lock.acquire()
        self._adopt()

    def put(self, lease: str, result: PartResult) -> Delivery:
        """Store a measured part; the record is written last, so that what has one is complete."""
        rows = self.folder / f"{uuid4().hex}.parquet"
        with new_file(rows) as path:
            result.rows.to_parquet(path, index=False)
        record = json.dumps(result.record)
        with new_file(rows.with_suffix(".json")) as path:
            path.write_text(json.dumps({"lease": lease, "site": self.site, "record": record}), encoding="utf-8")
        return Delivery(lease, self.site, rows, record)

    def waiting(self) -> Iterator[Delivery]:
        """Yield what waits for this site."""
        for path in sorted(self.folder.glob("*.json")):
            values = json.loads(path.read_text(encoding="utf-8"))
            if values["site"] == self.site:
                yield Delivery(values["lease"], values["site"], path.with_suffix(".parquet"), values["record"])

    def close(self) -> None:
        """Give up the folder; what waits in it is left for the next worker."""
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
        self._lock.release()

    def _adopt(self) -> None:
        """Move here what workers have left behind that have ended."""
        for lock in self.folder.parent.glob("*.lock"):
            abandoned = FileLock(lock)
            try:
                abandoned.acquire(timeout=0)
            except Timeout:
                continue
            try:
                self._move(lock.with_suffix(""))
                lock.unlink(missing_ok=True)
            finally:
                abandoned.release()
        for rows in self.folder.glob("*.parquet"):
            if not rows.with_suffix(".json").exists():  # the worker ended before it had written the record
                rows.unlink()

    def _move(self, other: Path) -> None:
        if other == self.folder or not other.is_dir():
            return
        for path in sorted(other.iterdir(), reverse=True):  # rows before their record
            path.rename(self.folder / path.name)
        other.rmdir()
