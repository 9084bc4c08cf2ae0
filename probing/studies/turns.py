"""The runs of a study, one after the other or by an executor: each model is loaded once, an error ends only its run."""

import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from probing.analysis.breakdowns import OVERALL
from probing.errors import BadInput, ProbingError
from probing.extras import package_version
from probing.language_model import LanguageModel
from probing.model_source import ModelSource
from probing.part_runner import Opener
from probing.probes import probe_named
from probing.results.result import RECORD, Result
from probing.runner import Preparation, refuse_other_run, run_prepared
from probing.settings import AUTO_DTYPE

Fetch = Callable[[int], None]
VERSION = package_version()


@dataclass(frozen=True)
class Turn:
    """One run among several.

    `name`: what reports call it. `folder`: that of its result. `fetch`: downloads the files of its model, so that
    loading finds them on this disk.
    """

    name: str
    source: ModelSource
    prepared: Preparation
    folder: Path
    fetch: Callable[[], None]

    def stored(self) -> Result | None:
        """Return the result that is in the folder, or None without one; raise `BadInput` if it is of another run.

        The model is not loaded for this. A branch of the hub may have another commit by now, and a folder other
        weights, than those that were measured.
        """
        if not (self.folder / RECORD).is_file():
            return None
        refuse_other_run(self.folder, self.prepared)
        result = Result.load(self.folder)
        card, stored_dtype = result.record["model"], result.record.get("dtype")
        is_same_commit = card.get("commit", "").startswith(self.source.commit)
        if (
            not _is_same(str(card.get("id")), str(self.source.model))
            or not (is_same_commit or card.get("revision") == self.source.commit)
            or self.prepared.chosen.get("dtype", stored_dtype) not in (stored_dtype, AUTO_DTYPE)
        ):
            raise BadInput(
                f"{self.folder} holds a result of another model, commit or number format.",
                "Remove it or choose another --out.",
            )
        return result


class Outcome(NamedTuple):
    """What became of a turn: its result, or why it has none."""

    turn: Turn
    result: Result | None
    failure: str = ""


class OpenOnce:
    """A model that is opened when its first run needs it, and again only for another number format or quantisation."""

    def __init__(self, source: Opener[LanguageModel]) -> None:
        self._source = source
        self._models: dict[tuple[str, str], LanguageModel] = {}
        self._failures: dict[tuple[str, str], tuple[str, str]] = {}

    def open(self, dtype: str, quantization: str) -> LanguageModel:
        """Return the model; an error of the first attempt is raised again without another attempt."""
        weights = dtype, quantization
        if weights in self._failures:
            raise ProbingError(*self._failures[weights])
        if weights not in self._models:
            self._models.clear()
            try:
                self._models[weights] = self._source.open(dtype, quantization)
            except ProbingError as error:
                self._failures[weights] = (error.message, error.next_step)
                raise
        return self._models[weights]


def take_turns(turns: Sequence[Turn], reporter: "Reporter", *, bars: bool) -> Iterator[Outcome]:
    """Make the runs one after the other; yield what became of each.

    Runs of one model must follow each other. `bars`: show the progress within each run. Only errors that users read
    (`ProbingError`) and errors of the system are outcomes; all others are raised.
    """
    groups = _by_model(turns)
    with _fetching_ahead([group[0].fetch for _, group in groups]) as fetch:
        for number, (source, group) in enumerate(groups):
            model = OpenOnce(source)
            for turn in group:
                title = reporter.begin(turn.name)
                try:
                    fetch(number)
                    result = run_prepared(model, turn.prepared, turn.folder, progress=bars, title=title)
                    outcome = Outcome(turn, result)
                except (ProbingError, OSError) as error:
                    outcome = Outcome(turn, None, str(error))
                reporter.end(outcome)
                if outcome.failure:
                    gc.collect()  # an error and its frames refer to each other, and hold the network
                yield outcome
            del model


def distribute(turns: Sequence[Turn], reporter: "Reporter", executor: Executor) -> Iterator[Outcome]:
    """Make the runs where an executor has room; yield what became of each, in the order in which models are done.

    The runs of one model are one call, so that it is loaded once. Results are written to the folders of the turns,
    which must lie where every worker can write. Whatever an executor reports of a lost worker becomes the failure of
    the runs that are not stored.
    """
    calls = {executor.submit(_measure, group, VERSION): group for _, group in _by_model(turns)}
    for call in as_completed(calls):
        group = calls[call]
        error = call.exception()
        failures = [_in_one_sentence(error)] * len(group) if error else call.result()
        for turn, failure in zip(group, failures, strict=True):
            result = turn.stored()
            if result is None and not failure:
                failure = f"{turn.folder} has no result. Name a folder that all workers share."
            outcome = Outcome(turn, result, "" if result else failure)
            reporter.end(outcome)
            yield outcome


def _by_model(turns: Sequence[Turn]) -> list[tuple[ModelSource, list[Turn]]]:
    return [(source, list(group)) for source, group in groupby(turns, lambda turn: turn.source)]


def _measure(turns: Sequence[Turn], version: str) -> list[str]:
    """Make the runs of one model in the process of an executor; return why each failed, empty where it did not."""
    if version != VERSION:
        raise BadInput(f"A worker has version {VERSION} of Clozeboard, and the study {version}.", "Install the same.")
    silent = Reporter(len(turns), len(turns), "pairs", is_loud=False, alike=False)
    return [outcome.failure for outcome in take_turns(turns, silent, bars=False)]


def _in_one_sentence(error: BaseException) -> str:
    if isinstance(error, ProbingError):
        return str(error)
    reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": .")
    return f"Its worker was lost ({reason:.300}). The same call goes on where it was."


def _is_same(first: str, second: str) -> bool:
    """Tell whether two names are those of the same model: equal, or paths of the same folder."""
    return first == second or Path(first).resolve() == Path(second).resolve()


@contextmanager
def _fetching_ahead(downloads: Sequence[Callable[[], None]]) -> Iterator[Fetch]:
    """Yield a function that waits for a download, and then begins the next one."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="download")
    begun: dict[int, Future[None]] = {}

    def begin(number: int) -> None:
        if number < len(downloads) and number not in begun:
            begun[number] = pool.submit(downloads[number])

    def fetch(number: int) -> None:
        begin(number)
        begin(number + 1)  # the pool has one thread, so it comes after this one
        begun[number].result()

    try:
        yield fetch
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Reporter:
    """Prints a line for each run, which says which of how many it is.

    `noun`: what the runs are called, in the plural. `alike`: whether all take about as long, so that the pace so far
    tells how much time is left.
    """

    def __init__(self, total: int, missing: int, noun: str, *, is_loud: bool, alike: bool) -> None:
        self._total, self._left, self._is_loud, self._alike = total, missing, is_loud, alike
        self._measured, self._begin = 0, time.monotonic()
        if missing < total:
            self._say(f"{total - missing} of {total} {noun} are measured already.")

    def begin(self, name: str) -> str:
        """Return what the progress bar of a run is called."""
        return f"{name} ({self._total - self._left + 1} of {self._total})"

    def end(self, outcome: Outcome) -> None:
        """Print what became of a run, and how long the rest will take where that can be told."""
        self._left -= 1
        sentence = f"not measured. {outcome.failure}"
        if outcome.result is not None:
            self._measured += 1
            sentence = _main_figure(outcome.result)
        left = ""
        if self._alike and self._left and self._measured:
            pace = (time.monotonic() - self._begin) / self._measured
            left = f", about {timedelta(seconds=round(pace * self._left))} left"
        self._say(f"{outcome.turn.name}: {sentence} ({self._total - self._left} of {self._total}{left})")

    def _say(self, line: str) -> None:
        if self._is_loud:
            print(" ".join(line.split()), file=sys.stderr, flush=True)


def main_score(result: Result) -> pd.DataFrame:
    """Return the overall score in the main metric of the result's probe: one row of its scores, or none."""
    scores = result.scores
    metric = probe_named(result.record["probe"]).main_metric
    return scores[(scores["metric"] == metric) & (scores["dimension"] == OVERALL)]


def _main_figure(result: Result) -> str:
    score = main_score(result)
    has_value = len(score) and pd.notna(score["value"].iloc[0])
    return f"{score['metric'].iloc[0]} {score['value'].iloc[0]:.4f}" if has_value else "measured"
