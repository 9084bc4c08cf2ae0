"""Addresses of one page of every kind, found through the site's files and API: for pictures and for checks of pages.

Pages of submissions have secret addresses, which nothing tells: `SUBMISSIONS` are those of the filled site.

Most of them are about the benchmark of the first probe with most measured runs. For each further probe come the pages
to which that probe adds parts of its own.
"""

import json
import re
import urllib.request
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pandas as pd

FIXED = {
    "overview": "/",
    "benchmarks": "/benchmarks/",
    "choice": "/compare/",
    "submit": "/submit/",
    "queue": "/queue/",
    "papers": "/papers/",
    "paper": "/papers/s-test/",
    "methods": "/methods/",
    "api": "/api/",
    "missing": "/nowhere/",
}
# Addresses of submissions that tests/filled_site.py makes, by what came of them. The last part is a secret elsewhere.
SUBMISSIONS = {
    f"submission-{name}": f"/submissions/made-up-{name}/"
    for name in ("accepted", "waiting", "refused", "withdrawn", "revisions")
}


class Site:
    """A site that is being served.

    `finished` are its finished runs, the newest first, and `printed` the figures of papers, which have no run.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.benchmarks: list[dict[str, Any]] = self.answer("benchmarks")["benchmarks"]
        board = pd.read_parquet(BytesIO(self.content("/board.parquet")))
        self.printed = board[board["run"].isna()]
        runs = board.dropna(subset=["run"]).astype({"run": int})  # without a number for each row, pandas reads floats
        self.finished = runs.drop_duplicates("run").sort_values("run", ascending=False)

    def answer(self, route: str) -> Any:
        return json.loads(self.content(f"/api/v1/{route}"))

    def content(self, path: str) -> bytes:
        with urllib.request.urlopen(f"{self.url}{path}") as response:
            return bytes(response.read())

    def runs(self, name: str) -> list[dict[str, Any]]:
        """Return the runs on a benchmark that were measured here, the newest first."""
        (asked,) = (benchmark for benchmark in self.benchmarks if benchmark["name"] == name)
        own = {"benchmark": asked["slug"], "probe": asked["probe"], "provenance": "measured"}
        chosen = self.finished[(self.finished[list(own)] == pd.Series(own)).all(axis="columns")]
        return chosen[["run", "model"]].to_dict("records")

    def measured(self) -> dict[str, str]:
        """Return for each probe with measured runs the benchmark that has most of them, or the first of several."""
        most: dict[str, int] = {}
        names: dict[str, str] = {}
        for benchmark in self.benchmarks:
            probe, number = benchmark["probe"], len(self.runs(benchmark["name"]))
            if number > most.get(probe, 0):
                most[probe], names[probe] = number, benchmark["name"]
        return names


def page_kinds(site: Site) -> dict[str, str]:
    """Return addresses by name."""
    first, *others = site.measured().values()
    pages = FIXED | dict(of_published(site)) | dict(of_benchmark(site, first)) | dict(of_every_model(site, first))
    pages |= dict(of_unfinished(site)) | dict(of_training(site))
    for benchmark in others:
        suffix = benchmark.replace(":", "-")
        pages |= {f"{name}-{suffix}": address for name, address in of_benchmark(site, benchmark)}
    return pages


def of_benchmark(site: Site, benchmark: str) -> Iterator[tuple[str, str]]:
    """Yield the pages to which the benchmark's probe adds parts of its own."""
    first, *others = (run["run"] for run in site.runs(benchmark))
    item = site.answer(f"runs/{first}/items")["items"][0]
    yield "benchmark", f"/benchmarks/{benchmark}/"
    yield "relation", f"/benchmarks/{benchmark}/relations/{item['relation']}/"
    yield "run", f"/runs/{first}/"
    yield "items", f"/runs/{first}/items/"
    question = f"/benchmarks/{benchmark}/items/{item['relation']}-{item['index']}/"
    yield "question", question
    yield "question-of-run", f"{question}?run={first}&wording={item['template'] + 1}"
    for second in others[:1]:
        yield "compare", f"/compare/?m={first}&m={second}"


def of_every_model(site: Site, benchmark: str) -> Iterator[tuple[str, str]]:
    """Yield the pages that are alike for all probes."""
    run = site.runs(benchmark)[0]
    yield "model", f"/models/{run['model']}/?benchmark={benchmark}"
    yield "questions", f"/benchmarks/{benchmark}/items/"


def of_published(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the pages of a benchmark with published figures alone, and of a model with some there."""
    for benchmark in site.benchmarks:
        printed = site.printed[site.printed["benchmark"] == benchmark["slug"]]
        if len(printed) and not site.runs(benchmark["name"]):
            yield "published", f"/benchmarks/{benchmark['name']}/"
            yield "published-model", f"/models/{printed['model'].iloc[0]}/"
            return


def of_training(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the page of a model that has finished runs at two steps of its training or more, where there is one."""
    steps = site.finished.groupby("model", sort=False)["step"].nunique()
    for hub_id in steps.index[steps > 1][:1]:
        yield "training", f"/models/{hub_id}/training/"


def of_unfinished(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the page of a run in each state before its end, and of one that failed, where there are such runs."""
    numbers = re.findall(r'href="/runs/(\d+)/"', site.content("/queue/").decode())
    by_state = {site.answer(f"runs/{number}")["state"]: number for number in dict.fromkeys(numbers)}
    for state in ("queued", "scoring", "failed"):
        if state in by_state:
            yield f"run-{state}", f"/runs/{by_state[state]}/"
