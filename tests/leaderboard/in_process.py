"""Submissions and the jobs of workers in the process of the test, with a measuring process that is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, NamedTuple

from leaderboard.intake import submissions
from leaderboard.intake.checks import Check
from leaderboard.models import Benchmark, Run, Submission
from leaderboard.worker import jobs
from probing.formats import FORMATS
from probing.language_model import LanguageModel, ModelCard
from probing.measuring.limits import Limits
from probing.measuring.messages import BenchmarkFiles, Task
from probing.part_runner import probe_part
from probing.plan import Part, plan_of
from probing.results.joining import PartResult
from probing.results.run_json import Start
from probing.time_left import estimate_work


class InProcess:
    """Has the methods of `MeasuringProcess`. A class attribute holds the model, as the worker makes the object."""

    model: LanguageModel

    def __init__(self, task: Task, limits: Limits, further: Sequence[BenchmarkFiles] = ()) -> None:
        self._take(task)

    def _take(self, task: Task) -> None:
        files = task.benchmark
        self.task, self.content = task, replace(FORMATS[files.format](files.folder), slug=files.slug)

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def load(self, on_tick: Callable[[], None] = lambda: None) -> tuple[ModelCard, Start]:
        self.start = Start(datetime.now(UTC), 0.0)
        return self.model.card, self.start

    def turn_to(self, task: Task) -> tuple[ModelCard, Start]:
        self._take(task)
        return self.load()

    def measure(
        self, part: Part, on_share: Callable[[float], None] = lambda share: None, *, positions: float = 0
    ) -> PartResult:
        plan, start = plan_of(self.content, self.task.settings), self.start
        work = estimate_work(plan, part, self.model.card.kind)
        return probe_part(self.model, plan, part, start=start, work=work, on_share=on_share)


def asking(model: LanguageModel) -> type[InProcess]:
    """Return the class of measuring processes that ask this model."""
    return type("AskingOneModel", (InProcess,), {"model": model})


def work_off(run: Run) -> None:
    """Do the jobs of a run one after the other, as workers do: measure it, finish it, and rank its benchmark."""
    jobs.measure_run(run.pk)
    jobs.finish_run(run.pk)
    jobs.rank_benchmark(run.benchmark_id)


class Outcome(NamedTuple):
    """What a submission led to: its run, None if a check failed, and the same run if it existed before."""

    run: Run | None
    checks: tuple[Check, ...]
    duplicate_of: Run | None = None


def submit(
    model_id: str, benchmark: Benchmark, options: Mapping[str, Any] | None = None, *, submitter: str = ""
) -> Outcome:
    """Check a model and make sure that one run measures it, as the check job does."""
    examination = submissions.examined(model_id, benchmark, options or {}, submitter=submitter)
    if examination.failed or examination.waiting:
        return Outcome(None, examination.checks)
    work = submissions.expected_work(examination)
    run, known = submissions.accept(examination, submissions.queue_of(examination), work)
    return Outcome(run, examination.checks, run if known else None)


def receive(model: str, benchmark: Benchmark, options: Mapping[str, Any], *, submitter: str = "") -> Submission:
    """Store the submission of a model for one benchmark."""
    return submissions.receive_all(model, [benchmark], options, submitter=submitter)[0]
