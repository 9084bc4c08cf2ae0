"""Drives a site through a schedule of faults, and says what was wrong in the end."""

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import pandas as pd

from probing.catalog import EMBEDDED
from probing.results.result import Result
from probing.runner import run
from tests.chaos.faults import FAULTS, Chaos, UnreliableHandler, schedule
from tests.chaos.site import FINAL, Site, running_site
from tests.conftest import BearFolder
from tests.hub.local_hub import Hub, serve
from tests.tiny_models import build_gpt2

RELATIONS = ("animal_class", "country_capital", "country_continent", "currency_country", "moon_planet", "novel_author")
TEMPLATES = (0, 1, 2)  # all; the site asks all templates of a benchmark that states no plan
RECOVERY_LIMIT = 90.0  # seconds from the end of a fault until every run that it met has gone on
SEEDS = 2  # different models; many ids share each
SERVER = url if (url := os.environ.get("DATABASE_URL", "")).startswith("postgres") else ""  # otherwise SQLite


class Outcome(NamedTuple):
    """One fault: when it began after the start, how long it lasted, and when the runs that it met went on."""

    name: str
    begin: float
    seconds: float
    recovery: float | None


@dataclass
class Report:
    """What happened. `problems` is empty if nothing was lost."""

    faults: list[Outcome] = field(default_factory=list)
    runs: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def drive(
    folder: Path,
    *,
    seed: int,
    faults: int,
    runs: int,
    seconds: float,
    patient: bool,
    on_outcome: Callable[[Outcome], None] = lambda outcome: None,
) -> Report:
    """Apply `faults` faults while at least `runs` runs are measured; then check everything.

    `seconds`: how long a fault with a duration lasts. `patient`: wait for recovery before most faults; otherwise they
    follow each other within seconds.
    """
    report, begin = Report(), time.monotonic()
    benchmark = small_benchmark(folder / "benchmark")
    models = [build_gpt2(folder / f"model-{number}", seed=number) for number in range(SEEDS)]
    with serve() as hub:
        hub.RequestHandlerClass = UnreliableHandler
        with running_site(folder / "site", hub.url, benchmark, SERVER, slow_clock=patient) as site:
            chaos = Chaos(site, hub, random.Random(seed), seconds)
            feeder = Feeder(site, hub, models, runs, report)
            for name in schedule(seed, faults, site.database.server):
                time.sleep(chaos.random.uniform(0.5, 6 if patient else 3))
                report.faults.append(apply(name, chaos, begin, patient and chaos.random.random() < 0.75))
                on_outcome(report.faults[-1])
            feeder.enough.set()
            settle(site, feeder, report)
            site.stop()
            wholes = [run(str(model), str(benchmark), templates=TEMPLATES, progress=False) for model in models]
            report.problems += list(problems(site, feeder, wholes))
            report.runs.update(f"{state} {code}".strip() for state, code in site.query(STATES))
    report.seconds = time.monotonic() - begin
    return report


STATES = "select state, code from leaderboard_run where provenance = 'measured'"


def small_benchmark(folder: Path) -> Path:
    """Make a benchmark of some relations of the starter benchmark."""
    whole = BearFolder(folder)
    source = EMBEDDED / "starter"
    metadata = pd.read_json(source / "metadata_relations.json", typ="series")
    whole.metadata = {name: metadata[name] for name in RELATIONS}
    whole.lines, whole.domains = {}, None
    whole.write()
    for name in RELATIONS:
        shutil.copy(source / f"{name}.jsonl", folder)
    return folder


class Feeder:
    """Submits models, so that some runs are unfinished until the faults have ended; at least `least` in all."""

    def __init__(self, site: Site, hub: Hub, models: list[Path], least: int, report: Report) -> None:
        self.site, self.hub, self.models, self.least, self.report = site, hub, models, least, report
        self.enough, self.accepted = Event(), 0
        self.thread = Thread(target=self._feed, daemon=True)
        self.thread.start()

    def _feed(self) -> None:
        while self.accepted < self.least or not self.enough.is_set():
            unfinished = [state for state, *_ in self.site.progress().values() if state not in FINAL]
            if len(unfinished) < 4 or self.accepted < self.least:
                self._submit(f"org/m{self.accepted}")
            self.report.statuses[self.site.visit("/queue/")] += 1
            time.sleep(0.5)

    def _submit(self, name: str) -> None:
        self.hub.add(name, self.models[self.accepted % SEEDS])
        status = self.site.submit(name)
        self.report.statuses[status] += 1
        if status in (200, 201, 202):
            self.accepted += 1


def apply(name: str, chaos: Chaos, begin: float, wait: bool) -> Outcome:
    """Apply a fault; with `wait`, wait until every run that was being measured has gone on."""
    start = time.monotonic()
    FAULTS[name](chaos)
    end = time.monotonic()
    return Outcome(name, start - begin, end - start, recovery(chaos.site, end) if wait else None)


def recovery(site: Site, end: float) -> float:
    """Return the seconds until every run that is neither queued nor ended has gone on, at most `RECOVERY_LIMIT`."""
    before = {number: state for number, state in site.progress().items() if state[0] not in (*FINAL, "queued")}
    while time.monotonic() - end < RECOVERY_LIMIT:
        now = site.progress()
        if all(now[number] != state for number, state in before.items()):
            return time.monotonic() - end
        time.sleep(0.1)
    return RECOVERY_LIMIT


def settle(site: Site, feeder: Feeder, report: Report) -> None:
    """Wait until all runs have ended; note it as a problem if nothing moves for longer than recovery may take."""
    feeder.thread.join()
    last, moved = site.progress(), time.monotonic()
    while any(state[0] not in FINAL for state in last.values()) or unanswered(site):
        time.sleep(0.2)
        now = site.progress()
        if now != last:
            last, moved = now, time.monotonic()
        elif time.monotonic() - moved > RECOVERY_LIMIT:
            report.problems.append(f"Nothing moved for {RECOVERY_LIMIT:.0f} s: {last}.\n{site.last_lines()}")
            return


def unanswered(site: Site) -> int:
    """Return how many submissions have not been checked yet."""
    return int(site.query("select count(*) from leaderboard_submission where state in ('checking', 'waiting')")[0][0])


def problems(site: Site, feeder: Feeder, wholes: list[Result]) -> Iterator[str]:
    """Yield a sentence for everything that is not as after undisturbed runs."""
    yield from lost_submissions(site, feeder)
    yield from wrong_parts(site, len(RELATIONS) * len(TEMPLATES))
    for number, hub_id, artefact in site.query(
        "select run.id, model.hub_id, run.artefact from leaderboard_run run join leaderboard_model model "
        "on model.id = run.model_id where run.state = 'finished' and provenance = 'measured'"
    ):
        whole = wholes[int(hub_id.removeprefix("org/m")) % SEEDS]
        yield from differences(site, number, site.data / "artefacts" / artefact, whole)
    yield from left_files(site)
    yield from (f"Process {process.pid} is left: {process.cmdline()}." for process in site.remaining())
    for log in site.folder.glob("*.log"):
        if "Traceback" in (text := log.read_text(errors="replace")):
            yield f"{log.name} has a traceback: {text[text.index('Traceback') :][:3000]}"


def lost_submissions(site: Site, feeder: Feeder) -> Iterator[str]:
    refused = site.query("select count(*) from leaderboard_submission where state = 'refused'")[0][0]
    runs = Counter(
        hub_id
        for (hub_id,) in site.query(
            "select model.hub_id from leaderboard_run run join leaderboard_model model on model.id = run.model_id "
            "where provenance = 'measured'"
        )
    )
    missing = [f"org/m{number}" for number in range(feeder.accepted) if f"org/m{number}" not in runs]
    if len(missing) > refused:
        yield f"Submissions without a run: {missing}, of which {refused} were refused."
    yield from (f"{hub_id} has {count} runs." for hub_id, count in runs.items() if count > 1)


def wrong_parts(site: Site, expected: int) -> Iterator[str]:
    for (count,) in site.query("select count(*) from leaderboard_claim where worker != ''"):
        if count:
            yield f"{count} runs are still claimed."
    for number, count, done in site.query(
        "select run.id, count(part.id), count(case when part.done then 1 end) "
        "from leaderboard_run run join leaderboard_runpart part on part.run_id = run.id "
        "where run.state = 'finished' and provenance = 'measured' group by run.id"
    ):
        if (count, done) != (expected, expected):
            yield f"Run {number} has {done} of {count} parts done instead of {expected}."
    for number, state in site.query(
        "select id, state from leaderboard_run where provenance = 'measured' and "
        "(state not in ('finished', 'failed', 'cancelled') or (state = 'failed' and code in ('', 'internal')))"
    ):
        yield f"Run {number} ended as {state} without a reason."


def differences(site: Site, number: int, folder: Path, whole: Result) -> Iterator[str]:
    """Compare the rows and scores of a run with those of an undisturbed one."""
    rows = pd.read_parquet(folder / "items.parquet")
    try:
        pd.testing.assert_frame_equal(rows, whole.items, check_exact=False, atol=1e-4, check_dtype=False)
    except AssertionError as error:
        yield f"Run {number} has other rows: {error}"
    stored = site.query('select metric, dimension, "group", value from leaderboard_score where run_id = ?', number)
    values = {key: value for *key, value in map(list, stored) for key in [tuple(key)]}
    table = whole.scores[["metric", "dimension", "group", "value"]].itertuples(index=False, name=None)
    expected = {(metric, dimension, group): value for metric, dimension, group, value in table}
    if values.keys() != expected.keys():
        yield f"Run {number} has other scores: {sorted(values.keys() ^ expected.keys())[:5]}"
    else:
        wrong = [key for key, value in expected.items() if not pd.isna(value) and abs(values[key] - value) > 1e-4]
        yield from (f"Run {number}: {key} is {values[key]}, not {expected[key]}." for key in wrong)


def left_files(site: Site) -> Iterator[str]:
    """Yield every file that no finished run needs: in the artefacts, among temporary files, and in the data folder."""
    results = [
        f"{artefact}/{name}"
        for (artefact,) in site.query("select artefact from leaderboard_run where artefact != ''")
        for name in ("highlights.json", "items.parquet", "run.json", "scores.csv")
    ]
    failed = [f"runs/{number}/" for (number,) in site.query("select id from leaderboard_run where state != 'finished'")]
    artefacts = site.data / "artefacts"
    names = [path.relative_to(artefacts).as_posix() for path in artefacts.rglob("*") if path.is_file()]
    for name in names:
        if name not in results and not name.startswith(tuple(failed)):
            yield f"The artefact {name} belongs to nothing."
    missing = set(results) - set(names)
    yield from (f"The artefact {name} is missing." for name in sorted(missing))
    temporary = [*site.temporary.iterdir(), *(path for path in site.data.glob("scratch/*") if path.is_dir())]
    yield from (f"The temporary file {path} is left." for path in temporary)
    yield from (f"The download {path.name} is incomplete." for path in site.data.rglob("*.incomplete"))
