"""A site from Python: its scores and runs as tables, submissions, and results of one's own.

Results are pushed to a site, which marks them as measured by a third party.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pandas as pd

from probing.errors import BadInput
from probing.remote.connection import Connection
from probing.results.result import RECORD, Result
from probing.results.rows import ITEMS, refuse_without_rows
from probing.results.run_json import refuse_served
from probing.revisions import position

NEW = (201, 202)  # statuses for a result that was not there: checked, and still being checked
ENDED = ("finished", "failed", "cancelled")  # states of runs
REFUSED = ("refused", "withdrawn")  # states of submissions
PAUSE = 5.0  # seconds between two looks at a run that is waited for


class Pushed(NamedTuple):
    """What a site made of a result: its run, the address of its page, and whether it was new there."""

    run: int
    address: str
    state: str
    is_new: bool


class Site(Connection):
    """A Clozeboard site. All methods raise `SiteUnavailable` where it does not answer.

    `address`: such as `https://site.example`. `token`: the one with which `push` sends results. `attempts`: how often a
    request is repeated while the site does not answer.

        >>> site = probing.Site("https://site.example")  # doctest: +SKIP
        >>> scores = site.board()  # doctest: +SKIP
        >>> scores[scores.benchmark == "bear"].pivot_table("value", "model", "group")  # doctest: +SKIP
    """

    def __init__(self, address: str, token: str = "", *, attempts: int = 4) -> None:
        super().__init__(address, None, attempts=attempts)  # whatever is read, is read without a token
        self._attempts = attempts
        self._results = ResultSite(address, token, attempts=attempts) if token else None

    def board(self) -> pd.DataFrame:
        """Return every score of every finished run: a row for each, with model, benchmark, version and provenance.

        The columns are those of `/board.parquet`, which docs/citing.md lists.
        """
        return pd.read_parquet(BytesIO(self._send("GET", "board.parquet").content))

    def runs(self, *, model: str = "", benchmark: str = "", state: str = "") -> list["SiteRun"]:
        """Return the runs of a model, on a benchmark, or in a state such as `finished`; the newest first."""
        chosen = {"model": model, "benchmark": benchmark, "state": state}
        entries = self._entries("runs", "runs", {name: value for name, value in chosen.items() if value})
        return [SiteRun(self, int(entry["run"])) for entry in entries]

    def run(self, number: int) -> "SiteRun":
        """Return a run by its number; raise `SiteRefused` if the site has none of this number."""
        run = SiteRun(self, number)
        run.facts()
        return run

    def submit(
        self, model: str, benchmarks: str | Sequence[str], *, revision: str = "", token: str = "", **options: Any
    ) -> list["Submission"]:
        """Submit a model of the hub, and return a submission for each benchmark.

        `token`: one with which programs submit, so that the submission counts towards the limits of the token.
        `options`: settings of the run and options of the probe, by the names that `probing.run` has for them. Raises
        `SiteRefused` if the site does not take the submission.
        """
        slugs = [benchmarks] if isinstance(benchmarks, str) else list(benchmarks)
        content: dict[str, Any] = {"model": model, "benchmarks": slugs, "options": options}
        if revision:
            content["revisions"] = [revision]
        response = self._connection(token)._send("POST", "api/v1/submit", json=content)
        return [self._submission(answer) for answer in self._parsed(response, lambda values: values["submissions"])]

    def submissions(self, token: str) -> list["Submission"]:
        """Return what was submitted with a token, the newest first."""
        return [self._submission(answer) for answer in self._entries("submissions", "submissions", token=token)]

    def push(self, result: Result | Path | str, *, model: str = "", revision: str = "", source: str = "") -> Pushed:
        """Send a result, or the folder of one, and return its run on the site, where it is marked as a third party's.

        `model`, `revision` and `source` are those of the command `push`. Raises `BadInput` without a token.
        """
        if self._results is None:
            raise BadInput("Results are pushed with a token.", 'Ask the site for one, and use Site(address, "TOKEN").')
        facts = {"model": model, "revision": revision, "source": source}
        if not isinstance(result, Result):
            return self._results.push(Path(result), **facts)
        with TemporaryDirectory() as scratch:
            result.save(Path(scratch) / "result")
            return self._results.push(Path(scratch) / "result", **facts)

    def _connection(self, token: str) -> Connection:
        """Return the connection that sends this token, or this one, which sends none."""
        return Connection(self.address, token, attempts=self._attempts) if token else self

    def _submission(self, answer: Mapping[str, Any]) -> "Submission":
        return Submission(self, answer["submission"], answer["benchmark"], answer["url"])

    def _entries(
        self, route: str, name: str, parameters: Mapping[str, str] | None = None, token: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list, page after page."""
        answer = self._json(route, parameters, token)
        yield from answer[name]
        while answer["next"]:
            answer = self._json(route, dict(parse_qsl(urlsplit(answer["next"]).query)), token)
            yield from answer[name]

    def _json(self, route: str, parameters: Mapping[str, str] | None = None, token: str = "") -> dict[str, Any]:
        response = self._connection(token)._send("GET", f"api/v1/{route}", params=parameters)
        return self._parsed(response, dict)


@dataclass(frozen=True)
class SiteRun:
    """A run of a site, by its number."""

    site: Site
    number: int

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{self.site.address}/runs/{self.number}/"

    def facts(self) -> dict[str, Any]:
        """Return the run as the API describes it: model, benchmark, settings, state, progress, provenance."""
        return self.site._json(f"runs/{self.number}")

    def scores(self) -> pd.DataFrame:
        """Return the tidy scores of a finished run, in the columns of `Result.scores`."""
        return pd.DataFrame(self.site._json(f"runs/{self.number}/scores")["scores"])

    def items(self) -> pd.DataFrame:
        """Return the items of a finished run, in the columns of `Result.items`."""
        return pd.read_parquet(BytesIO(self.site._send("GET", f"runs/{self.number}/items.parquet").content))

    def follow(self, seconds: float = 3600) -> Iterator[dict[str, Any]]:
        """Yield the facts of the run whenever they have changed, until it has ended; they have state and progress.

        Raises `TimeoutError` if it goes on after so many seconds.
        """
        last: dict[str, Any] = {}
        for facts in _repeated(self.facts, seconds):
            if facts != last:
                yield facts
            if facts["state"] in ENDED:
                return
            last = facts
        raise TimeoutError(f"Run {self.number} is still {last['state']} after {seconds:g} s: {self.address}")

    def wait(self, seconds: float = 3600) -> dict[str, Any]:
        """Wait until the run has ended, and return its facts; raise `TimeoutError` if it goes on after so long."""
        *_, facts = self.follow(seconds)
        return facts


@dataclass(frozen=True)
class Submission:
    """A submission to a site. Whoever has its `token` may withdraw it; `address` is its page."""

    site: Site
    token: str
    benchmark: str
    address: str

    def facts(self) -> dict[str, Any]:
        """Return the submission as the API describes it: state, checks, and the number of its run once it has one."""
        return self.site._json(f"submissions/{self.token}")

    def cancel(self) -> None:
        """Withdraw the submission; its run is cancelled if nobody else submitted the same."""
        self.site._send("POST", f"api/v1/submissions/{self.token}/cancel")

    def run(self, seconds: float = 600) -> SiteRun:
        """Wait until the model is checked, and return its run.

        Raises `BadInput` with the reason if the model was refused, and `TimeoutError` if it waits after so long.
        """
        for facts in _repeated(self.facts, seconds):
            if facts["run"] is not None:
                return SiteRun(self.site, facts["run"])
            if facts["state"] in REFUSED:
                raise BadInput(f"The submission was {facts['state']}. {_reason(facts)}".strip(), f"See {self.address}")
        raise TimeoutError(f"The submission is still {facts['state']} after {seconds:g} s: {self.address}")


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


def _repeated(facts: Callable[[], dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the facts at once and then after each pause, until so many seconds have passed."""
    end = time.monotonic() + seconds
    while True:
        yield facts()
        if time.monotonic() > end:
            return
        time.sleep(min(PAUSE, max(seconds / 100, 0.05)))


def _reason(facts: Mapping[str, Any]) -> str:
    """Return the sentence of the check that the model did not pass, empty where there is none."""
    failed = [check["message"] for check in facts["checks"] if check["state"] == "failed"]
    return str(failed[0]) if failed else ""
