"""What a probe adds to a page: a chart with its table beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.charts import Chart
from leaderboard.models import Benchmark, Run
from leaderboard.tables import Table


@dataclass(frozen=True)
class Section:
    """`name` is unique on the page; a run's section with the name of a dimension takes the place of its breakdown.

    The table's CSV is at `?table=<its name>&format=csv`, as everywhere.
    """

    name: str
    title: str
    table: Table[Any] | None = None
    chart: Chart | None = None
    note: str = ""


@dataclass(frozen=True)
class Sections:
    """What one probe shows of a finished run, of a benchmark over all its runs, of runs beside each other."""

    run: Callable[[Run], list[Section]] = lambda run: []
    benchmark: Callable[[Benchmark], list[Section]] = lambda benchmark: []
    comparison: Callable[[Sequence[Run]], list[Section]] = lambda runs: []
