"""Pushing of results to a site, which marks them as measured by a third party."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from probing.errors import BadInput
from probing.remote.connection import Connection
from probing.results.result import RECORD
from probing.results.rows import ITEMS, refuse_without_rows
from probing.results.run_json import refuse_served
from probing.revisions import position

NEW = (201, 202)  # statuses for a result that was not there: checked, and still being checked


class Pushed(NamedTuple):
    """What a site made of a result: its run, the address of its page, and whether it was new there."""

    run: int
    address: str
    state: str
    is_new: bool


class ResultSite(Connection):
    """A site that takes results."""

    route = "api/v1/"
    service = "Clozeboard site that takes results"

    def push(self, folder: Path, *, model: str = "", revision: str = "", source: str = "") -> Pushed:
        """Send a result folder; a site that has this very result already says so.

        `model`: its id at the hub, needed where the result names a folder or a network in memory. `revision`: by
        default the one that the result names. `source`: who has measured it; by default the name of the token.
        Raises `BadInput` if the folder is no result, and what `Connection` raises.
        """
        record = read_record(folder)
        refuse_without_rows(record, "A site")
        refuse_served(record["model"])
        if not model and record["model"].get("source") != "hub":
            raise BadInput(
                f"The result in {folder} does not say which model of the hub it is of.", "Name it: --model org/name."
            )
        fields = {"model": model, "revision": revision or revision_of(folder, record), "source": source}
        with (folder / ITEMS).open("rb") as items, (folder / RECORD).open("rb") as record_file:
            response = self._send(
                "POST",
                "results",
                data={name: value for name, value in fields.items() if value},
                files={"items": (ITEMS, items), "record": (RECORD, record_file)},
            )
        is_new = response.status_code in NEW
        return self._parsed(response, lambda values: self._pushed(values, is_new))

    def _pushed(self, values: Mapping[str, Any], is_new: bool) -> Pushed:
        url = str(values["url"])
        if not url.startswith("/"):
            raise ValueError("the address of a page begins with a slash")
        return Pushed(int(values["run"]), f"{self.address}{url}", str(values["state"]), is_new)


def result_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it is a result, or the results in it, as a sweep writes them."""
    if (folder / RECORD).is_file():
        return [folder]
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}.", "Give the folder of a result, or of a sweep.")
    folders = [path for path in folder.iterdir() if (path / RECORD).is_file() and (path / ITEMS).is_file()]
    if not folders:
        raise BadInput(f"{folder} holds no result.", "Give the folder of a result, or of a sweep.")
    return sorted(folders, key=_by_step)


def _by_step(folder: Path) -> tuple[int, str]:
    point = position(folder.name)
    return (point.step if point else -1, folder.name)


def revision_of(folder: Path, record: Mapping[str, Any]) -> str:
    """Return the revision that a result names, or the one that its folder is named for; empty if there is none."""
    name = str(record["model"].get("revision") or "")
    return name or (folder.name if position(folder.name) else "")


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a result; raise `BadInput` if the folder holds none."""
    for name in (ITEMS, RECORD):
        if not (folder / name).is_file():
            raise BadInput(f"{folder} is not a result: {name} is missing.", "Give the folder of a finished run.")
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if not isinstance(record["model"], dict):
            raise TypeError("the model has no facts")
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{folder / RECORD} cannot be read.", "Restore it from a copy or run again.") from error
    return dict(record)
