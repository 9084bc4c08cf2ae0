"""The jobs of workers in the process of the test, and a measuring process that is none: it asks a given model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType

from leaderboard.models import Run
from leaderboard.worker import jobs
from probing.formats import FORMATS
from probing.language_model import LanguageModel
from probing.measuring.limits import Limits
from probing.measuring.messages import BenchmarkFiles, Task
from probing.measuring.process import Loaded
from probing.part_runner import Observer, probe_part
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

    def load(self, on_tick: Callable[[], None] = lambda: None) -> Loaded:
        self.start = Start(datetime.now(UTC), 0.0)
        return Loaded(self.model.card, *self.start)

    def turn_to(self, task: Task) -> Loaded:
        self._take(task)
        return self.load()

    def measure(
        self, part: Part, on_share: Callable[[float], None] = lambda share: None, *, positions: float = 0
    ) -> PartResult:
        plan, start = plan_of(self.content, self.task.settings), self.start
        work = estimate_work(plan, part, self.model.card.kind)
        observer = Observer(work, on_share)
        return probe_part(self.model, plan, part, start=start, observer=observer)


def asking(model: LanguageModel) -> type[InProcess]:
    """Return the class of measuring processes that ask this model."""
    return type("AskingOneModel", (InProcess,), {"model": model})


def work_off(run: Run) -> None:
    """Do the jobs of a run one after the other, as workers do: measure it, finish it, and rank its benchmark."""
    jobs.measure_run(run.pk)
    jobs.finish_run(run.pk)
    jobs.rank_benchmark(run.benchmark_id)
