"""The runs of a study, one after the other or by an executor: each model is loaded once, an error ends only its run."""

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import groupby
from pathlib import Path

import pandas as pd

from probing.analysis.breakdowns import OVERALL
from probing.errors import BadInput, ProbingError
from probing.extras import package_version
from probing.model_source import ModelSource
from probing.probes import probe_named
from probing.results.result import RECORD, Result
from probing.runner import PreparedRun, refuse_other_run
from probing.settings import AUTO_DTYPE
from probing.studies.checkpoints import fetch
from probing.studies.study_results import Pair

Runs = Mapping[Pair, PreparedRun]
Outcome = tuple[Pair, Result | None, str]  # what became of a pair's run: its result, or why it has none
VERSION = package_version()


def stored_result(run: PreparedRun) -> Result | None:
    """Return the result that is in the folder of a run, or None without one; raise `BadInput` if it is of another run.

    The model is not loaded for this. A branch of the hub may have another commit by now, and a folder other weights,
    than those that were measured.
    """
    folder = Path(str(run.out))
    if not (folder / RECORD).is_file():
        return None
    refuse_other_run(folder, run)
    result = Result.load(folder)
    card, stored_dtype = result.record["model"], result.record.get("dtype")
    is_same_commit = card.get("commit", "").startswith(run.source.commit)
    if (
        not _is_same(str(card.get("id")), str(run.source.model))
        or not (is_same_commit or card.get("revision") == run.source.commit)
        or run.chosen.get("dtype", stored_dtype) not in (stored_dtype, AUTO_DTYPE)
    ):
        raise BadInput(
            f"{folder} holds a result of another model, commit or number format.",
            "Remove it or choose another --out.",
        )
    return result


def measured_here(runs: Runs, reporter: "Reporter", *, bars: bool) -> Iterator[Outcome]:
    """Make the runs one after the other; yield what became of each.

    Runs of one model must follow each other. `bars`: show the progress within each run. Only errors that users read
    (`ProbingError`) and errors of the system are outcomes; all others are raised.
    """
    groups = _by_model(runs)
    downloads = [partial(fetch, source, next(iter(group)).revision) for source, group in groups]
    with _fetching_ahead(downloads) as fetched:
        for number, (source, group) in enumerate(groups):
            for pair, run in group.items():
                title = reporter.begin(pair)
                try:
                    fetched(number)
                    result, failure = run.measure(progress=bars, title=title), ""
                except (ProbingError, OSError) as error:
                    result, failure = None, str(error)
                reporter.end(pair, result, failure)
                if failure:
                    gc.collect()  # an error and its frames refer to each other, and hold the network
                yield pair, result, failure
            source.close()


def measured_elsewhere(runs: Runs, reporter: "Reporter", executor: Executor) -> Iterator[Outcome]:
    """Make the runs where an executor has room; yield what became of each, in the order in which models are done.

    The runs of one model are one call, so that it is loaded once. Results are written to the folders of the runs, which
    must lie where every worker can write. Whatever an executor reports of a lost worker becomes the failure of the runs
    that are not stored.
    """
    calls = {executor.submit(_measure, group, VERSION): group for _, group in _by_model(runs)}
    for call in as_completed(calls):
        group = calls[call]
        error = call.exception()
        failures = [_in_one_sentence(error)] * len(group) if error else call.result()
        for (pair, run), failure in zip(group.items(), failures, strict=True):
            result = stored_result(run)
            if result is not None:
                failure = ""
            elif not failure:
                failure = f"{run.out} has no result. Name a folder that all workers share."
            reporter.end(pair, result, failure)
            yield pair, result, failure


def _by_model(runs: Runs) -> list[tuple[ModelSource, dict[Pair, PreparedRun]]]:
    """Return the runs of each model, which share one source, so that it is opened once for all of them."""
    return [
        (source, {pair: replace(run, source=source) for pair, run in group})
        for source, group in groupby(runs.items(), lambda named: named[1].source)
    ]


def _measure(runs: Runs, version: str) -> list[str]:
    """Make the runs of one model in the process of an executor; return why each failed, empty where it did not."""
    if version != VERSION:
        raise BadInput(f"A worker has version {VERSION} of Clozeboard, and the study {version}.", "Install the same.")
    silent = Reporter(len(runs), len(runs), of_sweep=False, is_loud=False)
    return [failure for _, _, failure in measured_here(runs, silent, bars=False)]


def _in_one_sentence(error: BaseException) -> str:
    if isinstance(error, ProbingError):
        return str(error)
    reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": .")
    return f"Its worker was lost ({reason:.300}). The same call goes on where it was."


def _is_same(first: str, second: str) -> bool:
    return first == second or Path(first).resolve() == Path(second).resolve()


@contextmanager
def _fetching_ahead(downloads: Sequence[Callable[[], None]]) -> Iterator[Callable[[int], None]]:
    """Yield a function that waits for a download, and then begins the next one."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="download")
    begun: dict[int, Future[None]] = {}

    def begin(number: int) -> None:
        if number < len(downloads) and number not in begun:
            begun[number] = pool.submit(downloads[number])

    def wait_for(number: int) -> None:
        begin(number)
        begin(number + 1)  # the pool has one thread, so it comes after this one
        begun[number].result()

    try:
        yield wait_for
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Reporter:
    """Prints a line for each run, which says which of how many it is.

    `of_sweep`: whether the runs are those of one training on one benchmark. They are called by their revisions alone,
    and all take about as long, so that the pace so far tells how much time is left.
    """

    def __init__(self, total: int, missing: int, *, of_sweep: bool, is_loud: bool) -> None:
        self._total, self._left, self._of_sweep, self._is_loud = total, missing, of_sweep, is_loud
        self._measured, self._begin = 0, time.monotonic()
        if missing < total:
            noun = "revisions" if of_sweep else "pairs"
            self._say(f"{total - missing} of {total} {noun} are measured already.")

    def begin(self, pair: Pair) -> str:
        """Return what the progress bar of a run is called."""
        return f"{self._name(pair)} ({self._total - self._left + 1} of {self._total})"

    def end(self, pair: Pair, result: Result | None, failure: str) -> None:
        """Print what became of a run, and how long the rest will take where that can be told."""
        self._left -= 1
        sentence = f"not measured. {failure}"
        if result is not None:
            self._measured += 1
            sentence = _main_figure(result)
        left = ""
        if self._of_sweep and self._left and self._measured:
            pace = (time.monotonic() - self._begin) / self._measured
            left = f", about {timedelta(seconds=round(pace * self._left))} left"
        self._say(f"{self._name(pair)}: {sentence} ({self._total - self._left} of {self._total}{left})")

    def _name(self, pair: Pair) -> str:
        return pair.revision if self._of_sweep else str(pair)

    def _say(self, line: str) -> None:
        if self._is_loud:
            print(" ".join(line.split()), file=sys.stderr, flush=True)


def _main_figure(result: Result) -> str:
    metric, scores = probe_named(result.record["probe"]).main_metric, result.scores
    values = scores.loc[(scores["metric"] == metric) & (scores["dimension"] == OVERALL), "value"]
    return f"{metric} {values.iloc[0]:.4f}" if len(values) and pd.notna(values.iloc[0]) else "measured"
